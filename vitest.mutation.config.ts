/** The tests of a job in one process, with the sources that contain the mutants. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { type Job, jobPath } from './scripts/mutation/job.ts'

const root = fileURLToPath(new URL('.', import.meta.url))
const job: Job = JSON.parse(readFileSync(jobPath(), 'utf8'))
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform: (_code: string, id: string) => job.sources[id.slice(root.length).replace(/\?.*$/, '')],
    },
  ],
  resolve: {
    alias: [
      { find: '#platform', replacement: path('src/platform/node.ts') },
      { find: /^stac-auth$/, replacement: path('src/index.ts') },
    ],
  },
  test: {
    include: ['scripts/mutation/start.ts'],
    runner: path('scripts/mutation/runner.ts'),
    setupFiles: ['test/setup/run-hooks.ts', 'scripts/mutation/few-runs.ts'],
    isolate: false,
    maxWorkers: 1,
    pool: 'forks',
    retry: 0,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 5000 } },
    reporters: [],
  },
})
