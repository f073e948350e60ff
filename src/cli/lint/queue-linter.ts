/** Lints documents with the workers of a queue. */
import { abortedBy, ProtocolError } from '../../errors.ts'
import type { Levels } from '../../lint/config.ts'
import { JobQueue, type RedisAddress, tellProblems } from '../../node/queue/index.ts'
import type { Context } from '../context.ts'
import type { Task } from '../inputs/pieces.ts'
import { type JobTask, type LintJob, packed, readResults, TASKS } from './lint-job.ts'
import type { Linter, LintResult, TaskRules } from './linter.ts'

/** Limit of text in a job in UTF-16 units, except for a single longer document. */
const UNITS = 512 * 1024

/** Milliseconds until an incomplete job is sent. */
const PAUSE = 50

/** Limits of pending tasks, and of their texts in UTF-16 units. */
const MOST = { tasks: 2048, units: 64 * 2 ** 20 }

/** A task without a result. */
interface PendingTask {
  readonly task: JobTask
  readonly levels: Levels
  readonly units: number
  settle(result: LintResult | { readonly error: unknown }): void
}

/**
 * Opens a queue. Its workers get texts and rules, never a URL to request, a file to open or a credential. Errors: those of
 * `connectRedis`.
 */
export async function queueLinter(address: RedisAddress, fingerprints: boolean, { io, diagnostics }: Context): Promise<Linter> {
  return new QueueLinter(await JobQueue.open({ address, onState: tellProblems(diagnostics.warn) }), fingerprints, io.signal)
}

class QueueLinter implements Linter {
  readonly #queue: JobQueue
  readonly #fingerprints: boolean
  readonly #signal: AbortSignal
  readonly #pending = new Set<PendingTask>()
  /** The tasks of the next job. */
  #next: PendingTask[] = []
  #preset: LintJob['preset'] = 'recommended'
  #timer: NodeJS.Timeout | undefined

  constructor(queue: JobQueue, fingerprints: boolean, signal: AbortSignal) {
    this.#queue = queue
    this.#fingerprints = fingerprints
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  lint(task: Task, { document, preset, rules, skipUnused, mayBeForeign }: TaskRules): Promise<LintResult> {
    if (this.#signal.aborted) return Promise.reject(abortedBy(this.#signal))
    const travelling = { ...packed(task, document, 0), ...(skipUnused && { skipUnused }), ...(mayBeForeign && { mayBeForeign }) }
    const units = travelling.text?.length ?? travelling.base64?.length ?? 0
    if (sumOf(this.#next) + units > UNITS) this.#send()
    this.#preset = preset
    return new Promise((resolve, reject) => {
      const settle: PendingTask['settle'] = (result) => {
        this.#pending.delete(pending)
        if ('error' in result) reject(result.error)
        else resolve(result)
      }
      const pending = { task: travelling, levels: rules, units, settle }
      this.#pending.add(pending)
      this.#next.push(pending)
      if (this.#next.length >= TASKS) this.#send()
      else this.#timer ??= setTimeout(() => this.#send(), PAUSE)
    })
  }

  isFull(): boolean {
    return this.#pending.size >= MOST.tasks || sumOf(this.#pending) >= MOST.units
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#abort)
    await this.#queue.close()
  }

  readonly #abort = (): void => {
    for (const { settle } of this.#pending) settle({ error: abortedBy(this.#signal) })
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const sent = this.#next.splice(0)
    if (sent.length === 0) return
    const levels = [...new Set(sent.map((one) => one.levels))]
    const tasks = sent.map((one) => ({ ...one.task, levels: levels.indexOf(one.levels) }))
    const job: LintJob = { preset: this.#preset, fingerprints: this.#fingerprints, levels, tasks }
    this.#queue.run(job).then(
      (value) => {
        const results = readResults(value, sent.length)
        for (const [index, { settle }] of sent.entries()) settle(results?.[index] ?? { error: unreadable() })
      },
      (error) => {
        for (const { settle } of sent) settle({ error })
      },
    )
  }
}

function sumOf(tasks: Iterable<PendingTask>): number {
  let sum = 0
  for (const { units } of tasks) sum += units
  return sum
}

function unreadable(): ProtocolError {
  return new ProtocolError('JOB_FAILED', 'the response of a worker is not a lint result', {
    hint: 'run the same version of stac-auth in all workers',
  })
}
