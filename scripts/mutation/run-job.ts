/** Runs a job in a process of its own, which is ended and started anew behind a mutant that does not end. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Job, JobEvent, MutantEvent } from './job.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Milliseconds without an event after which a mutant counts as endless; for the first event more, because all tests run before it. */
const [STALLED, STALLED_AT_FIRST] = [60_000, 600_000]

export interface JobResult {
  /** Tests that fail without any mutant. */
  readonly failed: readonly string[]
  /** Tests that ran without any mutant. */
  readonly ran: readonly string[]
  readonly mutants: ReadonlyMap<number, MutantEvent>
}

/** Runs a job. Errors: when the process ends without running the tests. */
export async function runJob(job: Omit<Job, 'root' | 'events' | 'size'>, tell: (text: string) => void = () => {}): Promise<JobResult> {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-'))
  try {
    const done = new Map<number, MutantEvent>()
    const size = 1 + Math.max(0, ...job.mutants.map(({ id }) => id))
    for (let run = 0; ; run++) {
      const mutants = job.mutants.filter(({ id }) => !done.has(id))
      const events = join(folder, `events-${run}`)
      const output = await start({ ...job, mutants, size, root: ROOT, events }, join(folder, 'job.json'), tell)
      const told = readEvents(events)
      const dry = told.find((event) => event.kind === 'dry')
      if (!dry) throw new Error(`the tests did not run:\n${output}`)
      for (const event of told) if (event.kind === 'mutant') done.set(event.id, event)
      const last = told.findLast((event) => event.kind === 'start')
      if (told.at(-1)?.kind === 'end' || dry.failed.length > 0) return { failed: dry.failed, ran: dry.ran, mutants: done }
      if (!last || done.has(last.id)) throw new Error(`the tests ended early:\n${output}`)
      done.set(last.id, { kind: 'mutant', id: last.id, status: 'timeout' })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ends with the process; its output. */
async function start(job: Job, path: string, tell: (text: string) => void): Promise<string> {
  writeFileSync(path, JSON.stringify(job))
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--config', 'vitest.mutation.config.ts'], {
    cwd: ROOT,
    env: { ...process.env, MUTATION_JOB: path, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = `${output}${chunk}`.slice(-4000)))
  let seen = 0
  let changed = Date.now()
  const watch = setInterval(() => {
    const { length } = existsSync(job.events) ? readFileSync(job.events) : ''
    if (length !== seen) changed = Date.now()
    seen = length
    tell(`${readEvents(job.events).filter(({ kind }) => kind === 'mutant').length} of ${job.mutants.length}`)
    // The whole group: workers are processes of their own.
    if (Date.now() - changed > (seen > 0 ? STALLED : STALLED_AT_FIRST) && child.pid) process.kill(-child.pid, 'SIGKILL')
  }, 1000)
  await new Promise((resolve) => child.once('close', resolve))
  clearInterval(watch)
  return output
}

function readEvents(path: string): readonly JobEvent[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line))
}
