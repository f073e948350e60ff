import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { retriesReporter, retry } from './test/setup/retries.ts'

/** Tests against servers that we did not write, two files at a time: each starts processes of its own, on ports and in folders of its own. */
export default defineConfig({
  resolve: { alias: { '#platform': fileURLToPath(new URL('src/platform/node.ts', import.meta.url)) } },
  test: {
    name: 'peers',
    include: ['test/peers/**/*.test.ts'],
    maxWorkers: 2,
    reporters: ['default', retriesReporter()],
    testTimeout: 20_000,
    hookTimeout: 150_000,
    retry,
  },
})
