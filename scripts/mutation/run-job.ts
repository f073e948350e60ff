/** Runs a job in a process of its own, which is ended and started anew behind a mutant that does not end. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Baseline, Job, JobEvent, MutantEvent } from './job.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Milliseconds without an event after which a process counts as endless where no mutant was started: all tests run first. */
const STALLED = 600_000

/** Processes that run tests, each with a group of its own, which ends with this process. */
const groups = new Set<number>()
process.on('exit', () => groups.forEach(end))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

export interface JobResult {
  /** Tests that fail without any mutant. */
  readonly failed: readonly string[]
  /** Tests that ran without any mutant. */
  readonly ran: readonly string[]
  readonly mutants: ReadonlyMap<number, MutantEvent>
}

interface RunOptions {
  /** How many processes share the mutants; default 1. */
  readonly processes?: number
  /** Called with the progress. */
  readonly onProgress?: (text: string) => void
}

type Shared = Omit<Job, 'events' | 'mutants'> & { readonly folder: string }

/** Runs a job. Errors: when a process ends without running the tests. */
export async function runJob(
  job: Omit<Job, 'root' | 'events' | 'size' | 'baseline'>,
  { processes = 1, onProgress = () => {} }: RunOptions = {},
): Promise<JobResult> {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-'))
  try {
    const size = 1 + Math.max(0, ...job.mutants.map(({ id }) => id))
    const shared: Shared = { ...job, size, root: ROOT, baseline: join(folder, 'baseline.json'), folder }
    const done = new Map<number, MutantEvent>()
    const told = (event: JobEvent) => {
      if (event.kind === 'mutant') onProgress(`${done.set(event.id, event).size} of ${job.mutants.length}`)
    }
    const shares = Array.from({ length: processes }, (_, share) => job.mutants.filter((_mutant, index) => index % processes === share))
    const [first = [], ...others] = shares
    // The first process writes what the others need.
    let rest: Promise<unknown> | undefined
    await runShare(shared, 0, first, (event) => {
      told(event)
      if (event.kind === 'ready') rest ??= Promise.all(others.map((mutants, index) => runShare(shared, index + 1, mutants, told)))
    })
    await rest
    const { failed, ran }: Baseline = JSON.parse(readFileSync(shared.baseline, 'utf8'))
    return { failed, ran, mutants: done }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs mutants in one process after another: a mutant that does not end takes its process with it. */
async function runShare(shared: Shared, share: number, mutants: Job['mutants'], told: (event: JobEvent) => void): Promise<void> {
  const { folder, ...job } = shared
  for (let left = mutants, run = 0; ; run++) {
    const name = `${share}-${run}`
    const events: JobEvent[] = []
    const output = await start(
      { ...job, mutants: left, events: join(folder, `events-${name}`) },
      join(folder, `job-${name}.json`),
      (event) => {
        events.push(event)
        told(event)
      },
    )
    if (events.length === 0) throw new Error(`the tests did not run:\n${output}`)
    const done = new Set(events.flatMap((event) => (event.kind === 'mutant' ? event.id : [])))
    const last = events.at(-1)
    if (last?.kind === 'end') return
    if (last?.kind === 'start') {
      done.add(last.id)
      told({ kind: 'mutant', id: last.id, status: 'timeout' })
    } else if (!isAbandoned(last)) throw new Error(`the tests ended early:\n${output}`)
    left = left.filter(({ id }) => !done.has(id))
  }
}

/** True when the process cannot go on: a test of the mutant still waits. */
function isAbandoned(event: JobEvent | undefined): boolean {
  return event?.kind === 'mutant' && event.status === 'timeout'
}

/** Ends with the process; its output. */
async function start(job: Job, path: string, told: (event: JobEvent) => void): Promise<string> {
  writeFileSync(path, JSON.stringify(job))
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--mode', 'mutation'], {
    cwd: ROOT,
    // What tests leave is removed with the folder of the job.
    env: { ...process.env, MUTATION_JOB: path, CI: '1', TMPDIR: dirname(path) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (child.pid) groups.add(child.pid)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = `${output}${chunk}`.slice(-4000)))
  let seen = 0
  let changed = Date.now()
  let limit = STALLED
  const read = () => {
    const events = readEvents(job.events)
    if (events.length > seen) changed = Date.now()
    for (const event of events.slice(seen)) told(event)
    seen = events.length
    const last = events.at(-1)
    limit = last?.kind === 'start' ? last.limit : STALLED
    return last
  }
  const watch = setInterval(() => {
    const isOver = isAbandoned(read()) || Date.now() - changed > limit
    if (isOver && child.pid) end(child.pid)
  }, 250)
  await new Promise((resolve) => child.once('exit', resolve))
  clearInterval(watch)
  // What tests have started may still run.
  if (child.pid) end(child.pid)
  read()
  return output
}

/** Workers are processes of their own. */
function end(group: number): void {
  groups.delete(group)
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // Nothing of it runs.
  }
}

function readEvents(path: string): readonly JobEvent[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line))
}
