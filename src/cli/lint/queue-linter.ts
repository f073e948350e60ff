/** Lints documents with the workers of a queue. */
import { type AuthError, abortedBy, ProtocolError } from '../../errors.ts'
import type { Levels } from '../../lint/config.ts'
import type { RedisAddress } from '../../node/base/redis-connection.ts'
import { JobQueue } from '../../node/queue/job-queue.ts'
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

interface Open {
  readonly task: JobTask
  readonly levels: Levels
  resolve(result: LintResult): void
  reject(error: unknown): void
}

/**
 * Opens a queue. Its workers get texts and rules, never a URL to request, a file to open or a credential. Errors: those of
 * `connectRedis`.
 */
export async function queueLinter(address: RedisAddress, fingerprints: boolean, { io, diagnostics }: Context): Promise<Linter> {
  const onLonely = () => void diagnostics.note(`no worker is connected to ${address.shown} yet; start one with stac-auth queue work`)
  return new QueueLinter(await JobQueue.open({ address, onLonely }), fingerprints, io.signal)
}

class QueueLinter implements Linter {
  readonly #queue: JobQueue
  readonly #fingerprints: boolean
  readonly #signal: AbortSignal
  /** Rejects pending tasks on abort. A shared promise in `Promise.race` would retain all results. */
  readonly #waiting = new Set<(error: unknown) => void>()
  #open: Open[] = []
  #size = 0
  #preset: LintJob['preset'] = 'recommended'
  #timer: NodeJS.Timeout | undefined
  #onItsWay = { tasks: 0, units: 0 }

  constructor(queue: JobQueue, fingerprints: boolean, signal: AbortSignal) {
    this.#queue = queue
    this.#fingerprints = fingerprints
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  async lint(task: Task, { document, preset, rules, skipUnused }: TaskRules): Promise<LintResult> {
    if (this.#signal.aborted) throw abortedBy(this.#signal)
    const travelling = { ...packed(task, document, 0), ...(skipUnused && { skipUnused }) }
    const units = travelling.text?.length ?? travelling.base64?.length ?? 0
    if (this.#size + units > UNITS) this.#send()
    this.#preset = preset
    this.#size += units
    this.#onItsWay.tasks++
    this.#onItsWay.units += units
    const { promise, reject } = this.#put(travelling, rules)
    this.#waiting.add(reject)
    if (this.#open.length >= TASKS) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), PAUSE)
    try {
      return await promise
    } finally {
      this.#waiting.delete(reject)
      this.#onItsWay.tasks--
      this.#onItsWay.units -= units
    }
  }

  isFull(): boolean {
    return this.#onItsWay.tasks >= MOST.tasks || this.#onItsWay.units >= MOST.units
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#abort)
    await this.#queue.close()
  }

  readonly #abort = (): void => {
    for (const reject of this.#waiting) reject(abortedBy(this.#signal))
  }

  #put(task: JobTask, levels: Levels) {
    let fail: (error: unknown) => void = () => {}
    const promise = new Promise<LintResult>((resolve, reject) => {
      fail = reject
      this.#open.push({ task, levels, resolve, reject })
    })
    return { promise, reject: fail }
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const open = this.#open
    this.#open = []
    this.#size = 0
    if (open.length === 0) return
    const levels = [...new Set(open.map((one) => one.levels))]
    const tasks = open.map((one) => ({ ...one.task, levels: levels.indexOf(one.levels) }))
    const job: LintJob = { preset: this.#preset, fingerprints: this.#fingerprints, levels, tasks }
    this.#queue.run(job).then(
      (value) => {
        const results = readResults(value, open.length)
        for (const [index, { resolve, reject }] of open.entries()) {
          const result = results?.[index]
          if (result) resolve(result)
          else reject(unreadable())
        }
      },
      (error) => {
        for (const { reject } of open) reject(error)
      },
    )
  }
}

function unreadable(): AuthError {
  return new ProtocolError('JOB_FAILED', 'the response of a worker is not a lint result', {
    hint: 'run the same version of stac-auth in all workers',
  })
}
