/** One run of one command with one fault that a seed chooses, and a run without faults after it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { leaks } from '../harness/canary.ts'
import { anyFault, type Chance, seededFaults } from '../servers/chaos/seeded-faults.ts'
import { seededNumber } from '../servers/chaos/seeded-number.ts'
import { type LongCommand, textsBelow } from './long-commands.ts'
import type { Site } from './site.ts'

export const KINDS = ['network', 'disk', 'memory', 'signal', 'clock'] as const
export type Kind = (typeof KINDS)[number]

const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
const HOOK = new URL('faults.mjs', import.meta.url).href

/** Milliseconds after which a run that has not ended hangs, also on a busy machine. */
const LONGEST = 100_000
/** Milliseconds after which a command that only waits is ended. */
const WAIT = 3000
/** It ends at once then: what it waits for does not matter any more. */
const LONGEST_WAIT = 60_000

/** What happens to the process. */
interface Plan {
  readonly nodeOptions?: readonly string[]
  /** For `faults.mjs`. */
  readonly chaos?: object
  /** Signals and when they are sent, in milliseconds. */
  readonly signals?: readonly (readonly [NodeJS.Signals, number])[]
  /** Milliseconds after which its output is read no more. */
  readonly closesOutput?: number
  readonly network?: readonly Chance[]
  /** Says it in a problem. */
  readonly text: string
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** What a user of the command met. */
  readonly met: readonly string[]
  readonly isLate: boolean
}

/** Every exit code of the documentation but those of a wrong usage and of an internal error. */
const DOCUMENTED = new Set([0, 1, 3, 4, 5, 6, 130, 143])

/** Slows what is sent, so that a signal or the clock strikes while something is under way. */
const SLOWLY: Chance = [1, (random) => ({ do: 'delay', ms: 30 + 60 * random() })]

/** What the seed makes of a kind of fault. */
export function planOf(kind: Kind, command: string, seed: number): Plan {
  const draw = (n: number) => seededNumber(seed, kind, command, n)
  const pick = <T>(list: readonly T[], n: number) => list[Math.floor(draw(n) * list.length)] as T
  const moment = Math.round(300 + 900 * draw(1))
  switch (kind) {
    case 'network':
      return { network: [[0.1 + 0.25 * draw(2), anyFault]], text: 'broken answers' }
    case 'disk': {
      const disk = {
        code: pick(['ENOSPC', 'EIO', 'EMFILE'], 3),
        share: pick([0.05, 0.3, 1], 4),
        seed: 1 + seed,
        from: Math.floor(30 * draw(5)),
      }
      return { chaos: { disk }, text: JSON.stringify(disk) }
    }
    case 'memory':
      return { nodeOptions: [`--max-old-space-size=${pick([40, 64], 6)}`], text: 'little memory' }
    case 'clock': {
      const clock = { after: moment, by: pick([-86_400_000, -600_000, 600_000, 86_400_000 * 400], 7) }
      return { chaos: { clock }, network: [SLOWLY], text: JSON.stringify(clock) }
    }
    case 'signal': {
      const how = pick(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGSTOP', 'SIGPIPE', 'output'] as const, 8)
      if (how === 'output') return { closesOutput: moment, network: [SLOWLY], text: `closes its output after ${moment} ms` }
      const signals =
        how === 'SIGSTOP'
          ? ([
              [how, moment],
              ['SIGCONT', moment + 500],
            ] as const)
          : ([[how, moment]] as const)
      return { signals, network: [SLOWLY], text: `${how} after ${moment} ms` }
    }
  }
}

/** What is wrong with the command in this scenario; empty when nothing is. */
export async function scenario(command: LongCommand, kind: Kind, seed: number, site: Site, root: string): Promise<readonly string[]> {
  const plan = planOf(kind, command.name, seed)
  const folder = join(root, `${command.name.replaceAll(/\W+/g, '-')}-${kind}-${seed}`)
  await mkdir(folder, { recursive: true })
  site.breakBy(plan.network ? seededFaults(seed, plan.network) : () => undefined)
  const disturbed = await run(command, site, folder, plan)
  site.breakBy(() => undefined)
  const again = command.waits ? undefined : await run(command, site, folder, { text: 'nothing' })
  const problems = [
    ...problemsOfAny(disturbed),
    ...exitProblems(command, kind, plan, disturbed),
    ...(again ? [...problemsOfAny(again), ...(await problemsOfQuiet(command, site, folder, again))] : []),
    ...leaks(site.secrets, await shownBy(command, folder, [disturbed, ...(again ? [again] : [])])),
    ...site.violations(),
  ]
  return problems.map((problem) => `${command.name}, ${kind}, seed ${seed} (${plan.text}): ${problem}\n${disturbed.stderr.slice(-600)}`)
}

/** `authorize --as ndjson --reveal` prints the tokens that it was asked for. */
async function shownBy({ name }: LongCommand, folder: string, runs: readonly Ended[]): Promise<Readonly<Record<string, string>>> {
  const outputs = runs.flatMap(({ stdout, stderr }, at) => [
    [`stderr ${at}`, stderr],
    ...(name === 'authorize --as ndjson' ? [] : [[`stdout ${at}`, stdout]]),
  ])
  return { ...(await textsBelow(folder, join(folder, 'cache'))), ...Object.fromEntries(outputs) }
}

/** What no run may do, whatever happens to it. */
function problemsOfAny({ code, stderr, isLate }: Ended): readonly string[] {
  return [
    ...(isLate ? ['did not end'] : []),
    ...(code === 70 ? ['ended with an internal error'] : []),
    ...(/^\s+at .+:\d+:\d+\)?$/m.test(stderr) ? ['printed a stack'] : []),
    ...(/UnhandledPromise|Uncaught|MaxListenersExceeded|TimeoutOverflow|FATAL ERROR|heap out of memory/.test(stderr)
      ? ['printed an error of Node']
      : []),
  ]
}

const ENDS: Readonly<Record<string, readonly number[]>> = { SIGINT: [130], SIGTERM: [143], SIGHUP: [143] }

/** The exit code that the fault allows. */
function exitProblems(command: LongCommand, kind: Kind, plan: Plan, { code, signal, met, stdout, stderr }: Ended): readonly string[] {
  const end = code ?? { SIGINT: 130, SIGTERM: 143, SIGKILL: 137, SIGHUP: 129, SIGPIPE: 141 }[String(signal)] ?? -1
  const said = `ended with ${code ?? signal}`
  const isEndedByUs = command.waits || command.use
  const [name] = plan.signals?.[0] ?? []
  if (name === 'SIGKILL') return end === 137 || end === 0 ? [] : [said]
  // On a busy machine it may strike before the program listens, which then has said nothing.
  if (name && signal === name && stdout === '' && stderr === '') return []
  if (name && ENDS[name]) {
    const expected = [...ENDS[name], ...(command.ends?.[name] ? [command.ends[name]] : []), ...(isEndedByUs ? [] : [0])]
    return expected.includes(end) ? [] : [said]
  }
  const isQuiet = kind === 'memory' || kind === 'clock' || name === 'SIGSTOP' || name === 'SIGPIPE'
  const expected = isEndedByUs ? 143 : 0
  if (isQuiet) return end === expected && met.length === 0 ? [] : [said, ...met]
  return DOCUMENTED.has(end) ? [] : [said]
}

/** After a run without faults everything is there. */
async function problemsOfQuiet(
  command: LongCommand,
  site: Site,
  folder: string,
  { code, signal, stdout, met }: Ended,
): Promise<readonly string[]> {
  const expected = command.use ? 143 : 0
  const end = code ?? (signal === 'SIGTERM' ? 143 : -1)
  const ended = end === expected ? [] : [`the run after it ended with ${code ?? signal}`]
  return [...ended, ...met, ...(await command.problems(site, folder, stdout))].map((problem) => `then: ${problem}`)
}

async function run(command: LongCommand, site: Site, folder: string, plan: Plan): Promise<Ended> {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    CHAOS_CLIENT_SECRET: site.clientSecret,
    ...(plan.chaos && { CHAOS: JSON.stringify(plan.chaos) }),
  }
  const options = [...(plan.nodeOptions ?? []), ...(plan.chaos ? ['--import', HOOK] : [])]
  const child = spawn(process.execPath, [...options, PROGRAM, ...(await command.arguments(site, folder))], { env })
  let [stdout, stderr, isOver, isLate] = ['', '', false, false]
  child.stdout.on('data', (text) => (stdout += text))
  child.stderr.on('data', (text) => (stderr += text))
  child.stdin.on('error', () => {}).end(command.input?.(site) ?? '')
  const timers = [
    ...(plan.signals ?? []).map(([name, after]) => setTimeout(() => child.kill(name), after)),
    ...(plan.closesOutput === undefined ? [] : [setTimeout(() => closeOutput(child), plan.closesOutput)]),
    ...(command.waits ? [setTimeout(() => child.kill('SIGTERM'), WAIT)] : []),
    setTimeout(
      () => {
        isLate = true
        child.kill('SIGKILL')
      },
      command.waits ? LONGEST_WAIT : LONGEST,
    ),
  ]
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  void ended.then(() => {
    isOver = true
  })
  const met =
    (await command.use?.(
      () => stdout,
      () => isOver,
    )) ?? []
  if (command.use && !isOver) child.kill('SIGTERM')
  const [code, signal] = await ended
  for (const timer of timers) clearTimeout(timer)
  return { code, signal, stdout, stderr, met, isLate }
}

function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy()
  stderr?.resume()
}
