/** Downloads by the workers of a queue: this process reads the documents, plans the files, and records the results. */

import { randomBytes } from 'node:crypto'
import { AbortedError, type AuthError, isAuthError, ProtocolError } from '../../errors.ts'
import { failure } from '../../http/network-error.ts'
import { checkNamed, FUNCTION, required, TEXT } from '../base/check-options.ts'
import { type RedisAddress, redisAddressOf } from '../base/redis-connection.ts'
import { openDestination } from '../download/destination/destination.ts'
import type { DownloadEvent, DownloadInput, DownloadOptions } from '../download/download.ts'
import { type Carrier, type CarrierParts, DownloadRun } from '../download/download-run.ts'
import type { FinalEvent } from '../download/file-download.ts'
import type { PlannedFile } from '../download/file-plan.ts'
import { checkOptions } from '../download/selected-files.ts'
import { FileNotes, identityOf } from './destination.ts'
import {
  FILES,
  type FileProgress,
  type FileResult,
  type JobSettings,
  type Known,
  packedJob,
  queueNameOf,
  readFileResults,
  readProgress,
  settingsIn,
} from './download-job.ts'
import type { DownloadQueueOptions } from './index.ts'
import { connectQueue, JobQueue } from './job-queue.ts'

/** Runs {@link downloadByQueue}. */
export async function* performByQueue(
  inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>,
  options: DownloadQueueOptions,
): AsyncGenerator<DownloadEvent, void> {
  const { queue, onLonely, ...settings } = Object(options) as DownloadQueueOptions
  // Mistakes in the options are reported before anything is connected.
  checkOptions(inputs, settings)
  checkNamed('downloadByQueue', { queue, onLonely }, { queue: required(TEXT), onLonely: FUNCTION })
  const address = redisAddressOf(queue)
  const destination = await identityOf(await openDestination(settings.folder))
  const carrier = await QueueCarrier.open(address, destination, settings, onLonely)
  try {
    const run = await DownloadRun.prepare(inputs, settings, carrier)
    const done = run.perform()
    try {
      for await (const event of run.events) {
        carrier.note(event)
        yield event
      }
    } finally {
      run.stop()
      await done
    }
  } finally {
    await carrier.close()
  }
}

/** Maximum number of files that wait for their results. */
const MOST = 1024

/** Maximum bytes of the files of a job, except for a single larger file; and the assumed size of a file until sizes are known. */
const [BYTES, UNKNOWN] = [4 * 2 ** 20, 512 * 1024]

/** Milliseconds until an incomplete job is sent. */
const PAUSE = 20

interface Open {
  readonly planned: PlannedFile
  readonly known: Known
  resolve(outcome: FinalEvent): void
  received: number
}

/** Sends files to the workers as jobs. */
class QueueCarrier implements Carrier {
  readonly most = MOST
  readonly #queue: JobQueue
  readonly #settings: JobSettings
  readonly #done: FileNotes
  readonly #failed: FileNotes
  /** Names of the listed failures of earlier downloads. */
  readonly #failures: Set<string>
  readonly #run = randomBytes(12).toString('hex')
  readonly #close: () => void
  #parts: CarrierParts | undefined
  #open: Open[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  readonly #waiting = new Set<Open>()
  readonly #notes = new Set<Promise<unknown>>()
  /** Files of the results, for the average size. */
  readonly #written = { files: 1, bytes: UNKNOWN }
  #lost: AuthError | undefined

  private constructor(queue: JobQueue, settings: JobSettings, notes: Notes) {
    this.#queue = queue
    this.#settings = settings
    this.#done = notes.done
    this.#failed = notes.failed
    this.#failures = new Set(notes.names)
    this.#close = notes.close
  }

  /** Errors: those of `connectRedis`. */
  static async open(
    address: RedisAddress,
    destination: string,
    options: Partial<DownloadOptions>,
    onLonely: (() => void) | undefined,
  ): Promise<QueueCarrier> {
    const connection = await connectQueue(address)
    const redis = connection.client()
    const [done, failed] = [new FileNotes(redis, destination, 'done'), new FileNotes(redis, destination, 'failed')]
    try {
      const names = await Promise.race([failed.names(), connection.lost])
      const queue = await JobQueue.open({ address, name: queueNameOf(destination), ...(onLonely && { onLonely }) })
      return new QueueCarrier(queue, settingsIn(options), { done, failed, names, close: connection.close })
    } catch (error) {
      connection.close()
      throw error
    }
  }

  get lost(): AuthError | undefined {
    return this.#lost
  }

  begin(parts: CarrierParts): void {
    this.#parts = parts
    parts.signal.addEventListener('abort', this.#abort, { once: true })
  }

  transfer(planned: PlannedFile): Promise<FinalEvent> {
    return new Promise((resolve) => {
      const open: Open = { planned, known: this.#knownOf(planned), resolve, received: 0 }
      this.#waiting.add(open)
      if (this.#parts?.signal.aborted) return this.#fail(open, new AbortedError(this.#parts.signal.reason))
      this.#put(open)
    })
  }

  /** Lists failures for `stac-auth queue failed`. */
  note(event: DownloadEvent): void {
    if (event.kind === 'failed' && event.error.code !== 'ABORTED' && !this.#lost) {
      const { name, url } = event.file
      const { code, message } = event.error
      this.#noted(this.#failed.add(name, { code, message, url, time: new Date().toISOString() }))
      this.#failures.add(name)
    } else if ((event.kind === 'written' || event.kind === 'kept') && this.#failures.delete(event.file.name)) {
      this.#noted(this.#failed.remove([event.file.name]))
    }
  }

  async close(): Promise<void> {
    this.#parts?.signal.removeEventListener('abort', this.#abort)
    clearTimeout(this.#timer)
    await this.#queue.close()
    await Promise.race([Promise.all(this.#notes), new Promise((resolve) => setTimeout(resolve, CLOSED_WITHIN).unref())])
    this.#close()
  }

  #noted(writing: Promise<unknown>): void {
    const note = writing.catch(() => undefined).finally(() => this.#notes.delete(note))
    this.#notes.add(note)
  }

  readonly #abort = (): void => {
    for (const open of this.#waiting) this.#fail(open, new AbortedError(this.#parts?.signal.reason))
  }

  #knownOf(planned: PlannedFile): Known {
    const { record, plan } = this.#parts ?? {}
    const { file, lacksSuffix } = planned
    const suffix = lacksSuffix ? record?.suffixOf(file) : undefined
    const known = record?.known({ ...file, name: file.name + (suffix ?? '') })
    const owner = record?.plannedNameOf(file.name)
    return {
      ...(lacksSuffix && { refused: plan?.refusedSuffixes(planned) ?? [] }),
      ...(suffix !== undefined && { suffix }),
      ...(owner !== undefined && { owner }),
      ...(known && { known }),
    }
  }

  #put(open: Open): void {
    const bytes = open.planned.file.size ?? this.#written.bytes / this.#written.files
    if (this.#open.length > 0 && this.#bytes + bytes > BYTES) this.#send()
    this.#open.push(open)
    this.#bytes += bytes
    if (this.#open.length >= FILES || this.#bytes >= BYTES) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), PAUSE)
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const open = this.#open
    this.#open = []
    this.#bytes = 0
    if (open.length > 0) void this.#deliver(open)
  }

  async #deliver(open: readonly Open[]): Promise<void> {
    const lists = this.#parts?.record.isRequested ?? false
    const job = packedJob({ run: this.#run, settings: this.#settings, lists }, open)
    try {
      const value = await this.#queue.run(job, (data) => this.#progress(open, readProgress(data, open.length)))
      const results = readFileResults(
        value,
        open.map(({ planned }) => planned.file),
      )
      if (!results) throw unreadable()
      for (const [index, one] of open.entries()) this.#settle(one, results[index] as FileResult)
      this.#noted(this.#done.remove(open.map(({ planned }) => planned.file.name)))
    } catch (thrown) {
      const error = isAuthError(thrown) ? thrown : failure(thrown, undefined, '')
      // One file may have crashed each worker; the others must not fail with it.
      if (error.code === 'JOB_FAILED' && open.length > 1) for (const one of open) void this.#deliver([one])
      else {
        if (error.code !== 'JOB_FAILED') this.#lost ??= error
        for (const one of open) this.#fail(one, error)
      }
    }
  }

  #progress(open: readonly Open[], reports: readonly FileProgress[]): void {
    for (const { file: index, bytes, size, resumed } of reports) {
      const one = open[index]
      if (!one || !this.#waiting.has(one)) continue
      const { file } = one.planned
      const sized = size !== undefined && { size }
      if (resumed !== undefined) this.#parts?.tell({ kind: 'started', file, resumed, ...sized })
      this.#parts?.tell({ kind: 'progress', file, bytes, ...sized })
    }
  }

  #settle(open: Open, result: FileResult): void {
    if (!this.#waiting.has(open)) return
    open.received += result.received
    // The part stays, and another worker resumes it.
    if (result.kind === 'aborted') {
      this.#put(open)
      return
    }
    const { planned } = open
    for (const { code, message } of result.warnings) this.#parts?.tell({ kind: 'warning', file: planned.file, code, message })
    const outcome = this.#outcomeOf(open, result)
    this.#written.files++
    this.#written.bytes += result.bytes
    this.#waiting.delete(open)
    open.resolve(outcome)
  }

  #outcomeOf({ planned, received }: Open, { kind, suffix, bytes, verified, entry, error, resumable }: FileResult): FinalEvent {
    const { record, plan } = this.#parts as CarrierParts
    if (kind === 'failed') return { kind, file: planned.file, error: error ?? unreadable(), received, resumable }
    if (kind === 'skipped') return { kind, file: planned.file, size: bytes, received }
    if (suffix !== undefined) plan.withSuffix(planned, suffix)
    const { name, path } = planned.file
    const file = suffix === undefined ? planned.file : { ...planned.file, name: name + suffix, path: path + suffix }
    const problem = entry && (kind === 'written' ? record.add(entry) : record.addKept(entry))
    if (problem) this.#parts?.tell({ kind: 'warning', file, code: problem.code, message: problem.message })
    const differs = entry?.unverified && { unverified: entry.unverified }
    return kind === 'written' ? { kind, file, bytes, received, verified, ...differs } : { kind: 'kept', file, bytes, verified }
  }

  #fail(open: Open, error: AuthError): void {
    if (!this.#waiting.delete(open)) return
    open.resolve({ kind: 'failed', file: open.planned.file, error, received: open.received, resumable: 0 })
  }
}

/** Timeout for writing the last notes, in milliseconds. */
const CLOSED_WITHIN = 2000

interface Notes {
  readonly done: FileNotes
  readonly failed: FileNotes
  readonly names: readonly string[]
  readonly close: () => void
}

function unreadable(): ProtocolError {
  return new ProtocolError('JOB_FAILED', 'the response of a worker is not the result of a download', {
    hint: 'run the same version of stac-auth in all workers',
  })
}
