import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { retriesReporter, retry } from './test/setup/retries.ts'
import { LongestFirst, timesReporter } from './test/setup/times.ts'

/** Tests against servers that we did not write. Each file starts processes of its own, which wait most of the time: several files run at once. */
export default defineConfig(({ mode }) => ({
  resolve: { alias: { '#platform': fileURLToPath(new URL('src/platform/node.ts', import.meta.url)) } },
  test: {
    name: 'peers',
    include: ['test/peers/**/*.test.ts'],
    maxWorkers: 6,
    execArgv: ['--max-semi-space-size=64'],
    setupFiles: ['test/setup/run-hooks.ts'],
    reporters: ['default', retriesReporter(), ...(mode === 'times' ? [timesReporter] : [])],
    sequence: { sequencer: LongestFirst },
    // To end what hangs: on a busy machine each process may take ten seconds to start.
    testTimeout: 90_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 15_000 } },
    retry,
  },
}))
