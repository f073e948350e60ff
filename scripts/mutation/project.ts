/** The tests of a job in one process, with the sources that contain the mutants. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { type Job, jobPath } from './job.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export function mutationProject(): TestProjectInlineConfiguration {
  const job: Job = JSON.parse(readFileSync(jobPath(), 'utf8'))
  const transform = (_code: string, id: string) => job.sources[id.slice(root.length).replace(/\?.*$/, '')]
  return {
    plugins: [{ name: 'mutants', enforce: 'pre', transform }],
    resolve: {
      alias: [
        { find: '#platform', replacement: `${root}src/platform/node.ts` },
        { find: /^stac-auth$/, replacement: `${root}src/index.ts` },
      ],
    },
    test: {
      name: 'mutation',
      include: ['scripts/mutation/start.ts'],
      runner: `${root}scripts/mutation/runner.ts`,
      setupFiles: ['test/setup/run-hooks.ts', 'scripts/mutation/few-runs.ts'],
      isolate: false,
      pool: 'forks',
      retry: 0,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 5000 } },
    },
  }
}
