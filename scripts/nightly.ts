/**
 * Runs what takes too long for each change, with all generated cases (`NIGHTLY`, see test/harness/case-count.ts): `npm run nightly`, or
 * `… -- fuzz chaos` for some parts. `--seed 7` repeats a night, `--minutes 60` is how long the soak takes (default 10). Every part prints its
 * own output; the summary at the end has the seed.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, refuse, refuseUnknown } from './command-line.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = commandLine('npm run nightly -- [--seed 7] [--minutes 60] [--cases 1000000] [part ...]', {
  seed: { type: 'string' },
  minutes: { type: 'string', default: '10' },
  cases: { type: 'string', default: '1000000' },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const CHAOS_SEEDS = 20

interface Part {
  readonly command: string
  readonly arguments: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const tsx = join(root, 'node_modules/.bin/tsx')
const vitest = join(root, 'node_modules/.bin/vitest')

/** In the order in which they run. */
const PARTS: Readonly<Record<string, Part>> = {
  tests: { command: vitest, arguments: ['run'] },
  fuzz: { command: vitest, arguments: ['run', 'test/fuzz'], env: { FUZZ_SEED: String(seed), FUZZ_CASES: values.cases } },
  chaos: { command: vitest, arguments: ['run', 'test/chaos'], env: { CHAOS_SEEDS: chaosSeeds() } },
  processes: {
    command: vitest,
    arguments: ['run', 'test/node/token-processes.test.ts'],
    env: { TOKEN_PROCESSES: '50' },
  },
  kill: { command: tsx, arguments: ['test/load/downloads.ts', 'kills', 'endurance'] },
  load: { command: tsx, arguments: ['test/load/downloads.ts', 'small', 'middle', 'large', 'tokens'] },
  soak: { command: tsx, arguments: ['test/load/soak.ts', '--minutes', values.minutes, '--seed', String(seed)] },
  figures: { command: process.execPath, arguments: ['bench/index.mjs', '--documented'] },
  // With few generated cases: the tests run once for each mutant.
  mutation: { command: tsx, arguments: ['scripts/mutation/test.ts', '--jobs', String(availableParallelism())], env: { NIGHTLY: '' } },
  docs: { command: tsx, arguments: ['scripts/docs.ts'] },
  // Browsers and servers of others in several files at once take the time that each is given.
  peers: { command: vitest, arguments: ['run', '--mode', 'peers', '--maxWorkers', String(availableParallelism())] },
  versions: { command: tsx, arguments: ['scripts/node-versions.ts'] },
  typescript: { command: tsx, arguments: ['scripts/typescript-versions.ts'] },
}

refuseUnknown('part', positionals, Object.keys(PARTS))
const faults = [
  ...(Number.isSafeInteger(seed) ? [] : ['--seed must be a whole number']),
  ...(Number(values.minutes) > 0 ? [] : ['--minutes must be a number above 0']),
  ...(Number.isSafeInteger(Number(values.cases)) && Number(values.cases) > 0 ? [] : ['--cases must be a whole number above 0']),
]
if (faults.length > 0) refuse(faults.join('\n'))

console.log(`seed ${seed}`)
const results: (readonly [string, ReturnType<typeof run>])[] = [['build', run({ command: tsx, arguments: ['scripts/build.ts'] })]]
for (const [name, part] of Object.entries(PARTS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  console.log(`\n== ${name}`)
  results.push([name, run(part)])
}

console.log(`\nseed ${seed}: npm run nightly -- --seed ${seed}`)
for (const [name, { isGood, seconds }] of results) console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
process.exitCode = results.every(([, { isGood }]) => isGood) ? 0 : 1

function chaosSeeds(): string {
  return Array.from({ length: CHAOS_SEEDS }, (_, number) => (seed % 1_000_000) + number).join(',')
}

function run({ command, arguments: given, env }: Part): { readonly isGood: boolean; readonly seconds: number } {
  const start = Date.now()
  const { status } = spawnSync(command, given, { cwd: root, stdio: 'inherit', env: { ...process.env, NIGHTLY: '1', ...env } })
  return { isGood: status === 0, seconds: Math.round((Date.now() - start) / 1000) }
}
