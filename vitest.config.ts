/**
 * All tests. `vitest run` runs those that need nothing but Node and a build; `--mode quick` the files of the inner loop, which need no build;
 * `--mode peers` those against servers, browsers and programs that we did not write; `--mode mutation` is for `scripts/mutation`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration as Project } from 'vitest/config'
import { generateCode } from './scripts/generated-code.ts'
import { mutationProject } from './scripts/mutation/project.ts'
import { NIGHTLY } from './test/peers/nightly.ts'
import { observeExports } from './test/setup/observe-exports.ts'
import { retriesReporter, retry } from './test/setup/retries.ts'
import { LongestFirst, TIMES, timesReporter } from './test/setup/times.ts'

await generateCode()

const src = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url))
/** Times are there to end what hangs: on a busy machine each process that a test starts may take ten seconds. What is waited for may come late. */
const EACH_FILE = {
  setupFiles: ['test/setup/invariants.ts', 'test/setup/run-hooks.ts'],
  testTimeout: 60_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 15_000 } },
  retry,
}
const NODE = { find: '#platform', replacement: src('platform/node.ts') }
/** The sources on Node's platform, with observed exports. Examples name the package as users do. */
const ON_NODE = {
  plugins: [observeExports()],
  resolve: {
    alias: [
      NODE,
      { find: /^stac-auth$/, replacement: src('index.ts') },
      { find: /^stac-auth\/strategy$/, replacement: src('strategy.ts') },
      { find: /^stac-auth\/providers$/, replacement: src('providers/index.ts') },
      { find: /^stac-auth\/(adapters\/.*)$/, replacement: src('$1.ts') },
    ],
  },
}
/** The same core on the other platform: hashes and keys of the web are promises. */
const ON_THE_WEB = { plugins: [observeExports()], resolve: { alias: { '#platform': src('platform/web.ts') } } }

/** Those that need more than the sources. */
const APART = ['test/peers/**', 'test/package/**']
/**
 * Test files that replace modules, and so need modules of their own. All others share those of their worker, which halves the time:
 * most of it went into loading the same modules again for each file.
 */
const REPLACING = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !/^(?:peers|package)\//.test(name))
  .map((name) => `test/${name}`)
  .filter((path) => /\bvi\.(?:mock|doMock|resetModules)\(/.test(readFileSync(path, 'utf8')))

/** The folders whose code asks something of the platform. Elsewhere (`http`, `stac`, `outputs`, `text`) the same code would run twice. */
const WEB_FOLDERS = /^test\/(?:auth|strategies|browser)\//
/** They assert that Node hashes at once, need what no page has, ask nothing of the platform but to send. */
const NOT_ON_THE_WEB = [
  'test/strategies/s3/sigv4.test.ts',
  'test/strategies/http/concealed-wire.test.ts',
  'test/strategies/signed-url/**',
  'test/strategies/http/private-token-{issuance,vectors}.test.ts',
  'test/auth/reread-secrets.test.ts',
]

const shared = { include: ['test/**/*.test.ts'], isolate: false, ...EACH_FILE }
const STANDARD: readonly Project[] = [
  { ...ON_NODE, test: { name: 'unit', ...shared, exclude: [...APART, ...REPLACING] } },
  { ...ON_NODE, test: { name: 'replacing', ...EACH_FILE, include: REPLACING } },
  { ...ON_THE_WEB, test: { name: 'web-replacing', ...EACH_FILE, include: REPLACING.filter((path) => WEB_FOLDERS.test(path)) } },
  {
    ...ON_THE_WEB,
    test: { name: 'web', ...shared, include: ['test/{auth,strategies,browser}/**/*.test.ts'], exclude: [...NOT_ON_THE_WEB, ...REPLACING] },
  },
  // Looks at `dist`, which `npm test` builds first.
  { test: { name: 'package', ...EACH_FILE, include: ['test/package/**/*.test.ts'], setupFiles: ['test/setup/run-hooks.ts'] } },
]

const QUICK: Project = {
  ...ON_NODE,
  test: { name: 'quick', ...shared, exclude: [...APART, ...REPLACING, ...Object.keys(TIMES)] },
}

/** Each file starts processes of its own, which wait some of the time: several files run at once. */
const AGAINST_PEERS = { ...EACH_FILE, setupFiles: ['test/setup/run-hooks.ts'], testTimeout: 90_000, hookTimeout: 240_000 }
const nightly = Object.keys(NIGHTLY).map((name) => `test/peers/${name}.test.ts`)
const PEERS: readonly Project[] = [
  { resolve: { alias: [NODE] }, test: { name: 'peers', ...AGAINST_PEERS, include: ['test/peers/**/*.test.ts'], exclude: nightly } },
  { resolve: { alias: [NODE] }, test: { name: 'peers-nightly', ...AGAINST_PEERS, include: nightly } },
]

function projectsOf(mode: string): readonly Project[] {
  if (mode === 'quick') return [QUICK]
  if (mode === 'peers') return PEERS
  return mode === 'mutation' ? [mutationProject()] : STANDARD
}

export default defineConfig(({ mode }) => ({
  test: {
    // With more room for new objects, the garbage collector of V8 runs less often.
    execArgv: ['--max-semi-space-size=64'],
    // More than processors: the tests that take longest wait for servers and processes.
    maxWorkers: mode === 'mutation' ? 1 : Math.min(2 * availableParallelism(), 8),
    reporters: mode === 'mutation' ? [] : ['default', retriesReporter(), ...(process.env.TIMES ? [timesReporter] : [])],
    sequence: { sequencer: LongestFirst },
    projects: [...projectsOf(mode)],
  },
}))
