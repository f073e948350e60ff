/**
 * All tests; test/README.md says what runs where. `vitest run` runs those that need nothing but Node and a build; `--mode peers` those against
 * servers, browsers and programs that we did not write; `--mode mutation` is for `scripts/mutation`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration as Project } from 'vitest/config'
import { generateCode } from './scripts/generated-code.ts'
import { mutationProject } from './scripts/mutation/project.ts'
import { NIGHTLY } from './test/peers/nightly.ts'
import { observeExports } from './test/setup/observe-exports.ts'
import { retriesReporter, retry } from './test/setup/retries.ts'
import { isSlow } from './test/setup/slow.ts'
import { LongestFirst, timesReporter } from './test/setup/times.ts'

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

/** The tests of the sources: all but those that need a build or programs of others. */
const FILES = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !/^(?:peers|package)\//.test(name))
  .map((name) => `test/${name}`)
const textOf = (path: string) => readFileSync(path, 'utf8')

/** Test files that replace modules, and so need modules of their own. The others share those of their worker, which halves the time. */
const REPLACING = FILES.filter((path) => /\bvi\.(?:mock|doMock|resetModules)\(/.test(textOf(path)))
const SHARING = FILES.filter((path) => !REPLACING.includes(path))

const SLOW = SHARING.filter(isSlow)
const UNIT = SHARING.filter((path) => !isSlow(path))

/** They assert that Node hashes at once, or need what no page has, such as cookies. */
const ON_NODE_ONLY = /(?:sigv4|signature-only|private-token-(?:issuance|vectors)|reread-secrets)\.test\.ts$/
const asksPlatform = (path: string) => textOf(path).includes("'#platform'")
/** What runs a second time on the platform of pages: tests that import `#platform` or a module that does, and those of such a module's name. */
const WEB = SHARING.filter((path) => {
  if (!/^test\/(?:auth|strategies|browser)\//.test(path) || ON_NODE_ONLY.test(path)) return false
  const imported = [...textOf(path).matchAll(/(?<=')\.{1,2}\/[^']*src\/[^']+\.ts(?=')/g)].map(([name]) => join(dirname(path), name))
  const namesake = path.replace(/^test/, 'src').replace('.test.ts', '.ts')
  const tested = [...imported, namesake].filter((name) => existsSync(name))
  return path.startsWith('test/browser/') || [path, ...tested].some(asksPlatform)
})

const shared = { isolate: false, ...EACH_FILE }
const STANDARD: readonly Project[] = [
  { ...ON_NODE, test: { name: 'unit', ...shared, include: UNIT } },
  { ...ON_NODE, test: { name: 'slow', ...shared, include: SLOW } },
  { ...ON_NODE, test: { name: 'replacing', ...EACH_FILE, include: REPLACING } },
  { ...ON_THE_WEB, test: { name: 'web', ...shared, include: WEB } },
  // Looks at `dist`, which `npm test` builds first.
  { test: { name: 'package', ...EACH_FILE, include: ['test/package/**/*.test.ts'], setupFiles: ['test/setup/run-hooks.ts'] } },
]

/** Each file starts processes of its own, which wait some of the time: several files run at once. */
const AGAINST_PEERS = { ...EACH_FILE, setupFiles: ['test/setup/run-hooks.ts'], testTimeout: 90_000, hookTimeout: 240_000 }
const nightly = Object.keys(NIGHTLY).map((name) => `test/peers/${name}.test.ts`)
const PEERS: readonly Project[] = [
  { resolve: { alias: [NODE] }, test: { name: 'peers', ...AGAINST_PEERS, include: ['test/peers/**/*.test.ts'], exclude: nightly } },
  { resolve: { alias: [NODE] }, test: { name: 'peers-nightly', ...AGAINST_PEERS, include: nightly } },
]

function projectsOf(mode: string): readonly Project[] {
  if (mode === 'peers') return PEERS
  return mode === 'mutation' ? [mutationProject()] : STANDARD
}

export default defineConfig(({ mode }) => ({
  test: {
    // With more room for new objects, the garbage collector of V8 runs less often.
    execArgv: ['--max-semi-space-size=64'],
    // More than processors: the tests that take longest wait for servers and processes.
    maxWorkers: mode === 'mutation' ? 1 : Math.min(3 * availableParallelism(), 8),
    reporters: mode === 'mutation' ? [] : ['default', retriesReporter(), ...(process.env.TIMES ? [timesReporter] : [])],
    sequence: { sequencer: LongestFirst },
    projects: [...projectsOf(mode)],
  },
}))
