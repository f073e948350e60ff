import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { observeExports } from './test/setup/observe-exports.ts'
import { retriesReporter, retry } from './test/setup/retries.ts'
import { LongestFirst, timesReporter } from './test/setup/times.ts'

const src = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url))
const setupFiles = ['test/setup/invariants.ts', 'test/setup/run-hooks.ts']
/** What is waited for may come late on a busy machine. */
const expect = { poll: { timeout: 15_000 } }

/** Times are there to end what hangs: on a busy machine each process that a test starts may take ten seconds. */
const PATIENCE = { testTimeout: 60_000, hookTimeout: 180_000, retry }

/** Examples name the package as users do. */
const OWN_NAME = [
  { find: /^stac-auth$/, replacement: src('index.ts') },
  { find: /^stac-auth\/strategy$/, replacement: src('strategy.ts') },
  { find: /^stac-auth\/providers$/, replacement: src('providers/index.ts') },
  { find: /^stac-auth\/(adapters\/.*)$/, replacement: src('$1.ts') },
]
/** What nearly all projects share: the sources on Node's platform, with observed exports. */
export const ON_NODE = {
  plugins: [observeExports()],
  resolve: { alias: [{ find: '#platform', replacement: src('platform/node.ts') }, ...OWN_NAME] },
}
/** How each test file is run. */
export const EACH_FILE = { setupFiles, ...PATIENCE, expect }

/**
 * Test files that replace modules, and so need modules of their own. All others share those of their worker, which halves the time:
 * most of it went into loading the same modules again for each file.
 */
export const REPLACING = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !/^(?:peers|package)\//.test(name))
  .map((name) => `test/${name}`)
  .filter((path) => /\bvi\.(?:mock|doMock|resetModules)\(/.test(readFileSync(path, 'utf8')))

/** The folders whose code asks something of the platform. Elsewhere (`http`, `stac`, `outputs`, `text`) the same code would run twice. */
const ON_THE_WEB = /^test\/(?:auth|strategies|browser)\//

export default defineConfig(({ mode }) => ({
  test: {
    // With more room for new objects, the garbage collector of V8 runs less often.
    execArgv: ['--max-semi-space-size=64'],
    // More than processors: the tests that take longest wait for servers and processes.
    maxWorkers: Math.min(2 * availableParallelism(), 8),
    reporters: ['default', retriesReporter(), ...(mode === 'times' ? [timesReporter] : [])],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...ON_NODE,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/peers/**', 'test/package/**', ...REPLACING],
          isolate: false,
          ...EACH_FILE,
        },
      },
      {
        ...ON_NODE,
        test: { name: 'replacing', include: REPLACING, ...EACH_FILE },
      },
      {
        plugins: [observeExports()],
        resolve: { alias: { '#platform': src('platform/web.ts') } },
        test: { name: 'web-replacing', include: REPLACING.filter((path) => ON_THE_WEB.test(path)), ...EACH_FILE },
      },
      // The same core on the other platform: hashes and keys of the web are promises.
      {
        plugins: [observeExports()],
        resolve: { alias: { '#platform': src('platform/web.ts') } },
        test: {
          name: 'web',
          include: ['test/{auth,strategies,browser}/**/*.test.ts'],
          isolate: false,
          // They assert that Node hashes at once, need what no page has, ask nothing of the platform but to send.
          exclude: [
            'test/strategies/s3/sigv4.test.ts',
            'test/strategies/http/concealed-wire.test.ts',
            'test/strategies/signed-url/**',
            'test/strategies/http/private-token-{issuance,vectors}.test.ts',
            'test/auth/reread-secrets.test.ts',
            ...REPLACING,
          ],
          ...EACH_FILE,
        },
      },
      // Looks at `dist`, which `npm test` builds first.
      {
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          setupFiles: ['test/setup/run-hooks.ts'],
          ...PATIENCE,
        },
      },
    ],
  },
}))
