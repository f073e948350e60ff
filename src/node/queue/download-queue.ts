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
  readFileResults,
  readProgress,
  settingsIn,
} from './download-job.ts'
import { DownloadTally } from './download-tally.ts'
import { connectQueue, JobQueue } from './job-queue.ts'
import { queueNameOf } from './queue-names.ts'
import type { DownloadQueueOptions } from './queued-downloads.ts'

/** Runs {@link downloadByQueue}. */
export async function* performByQueue(
  inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>,
  options: DownloadQueueOptions,
): AsyncGenerator<DownloadEvent, void> {
  const { queue, onState, ...settings } = Object(options) as DownloadQueueOptions
  // Mistakes in the options are reported before anything is connected.
  checkOptions(inputs, settings)
  checkNamed('downloadByQueue', { queue, onState }, { queue: required(TEXT), onState: FUNCTION })
  const address = redisAddressOf(queue)
  const destination = await identityOf(await openDestination(settings.folder))
  const carrier = await QueueCarrier.open(address, destination, settings, onState)
  try {
    const run = await DownloadRun.prepare(carrier.counted(inputs), settings, carrier)
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
  /** Bytes that were received by each attempt to run its job. */
  readonly received: Map<string, number>
  /** True if a worker has died: its last bytes are not known. */
  hasLost?: boolean
}

/** Sends files to the workers as jobs. */
export class QueueCarrier implements Carrier {
  readonly most = MOST
  readonly #queue: JobQueue
  readonly #settings: JobSettings
  readonly #done: FileNotes
  readonly #failed: FileNotes
  /** Jobs of listed failures, for `queue retry`. */
  readonly #jobs: FileNotes
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
  readonly #tally: DownloadTally
  /** Files of the results, for the average size. */
  readonly #written = { files: 1, bytes: UNKNOWN }
  #lost: AuthError | undefined

  private constructor(queue: JobQueue, settings: JobSettings, notes: Notes) {
    this.#queue = queue
    this.#settings = settings
    this.#tally = notes.tally
    this.#done = notes.done
    this.#failed = notes.failed
    this.#jobs = notes.jobs
    this.#failures = new Set(notes.names)
    this.#close = notes.close
  }

  /** Errors: those of `connectRedis`. */
  static async open(
    address: RedisAddress,
    destination: string,
    options: Partial<DownloadOptions>,
    onState: DownloadQueueOptions['onState'],
  ): Promise<QueueCarrier> {
    const connection = await connectQueue(address)
    const redis = connection.client()
    const [done, failed, jobs] = (['done', 'failed', 'jobs'] as const).map((kind) => new FileNotes(redis, destination, kind)) as [
      FileNotes,
      FileNotes,
      FileNotes,
    ]
    const tally = new DownloadTally()
    try {
      const names = (await Promise.race([Promise.all([failed.names(), jobs.names()]), connection.lost])).flat()
      const queue = await JobQueue.open({
        address,
        name: queueNameOf(destination),
        report: () => tally.progress(performance.now()),
        ...(options.folder !== undefined && { folder: options.folder }),
        ...(onState && { onState }),
      })
      return new QueueCarrier(queue, settingsIn(options), { tally, done, failed, jobs, names, close: connection.close })
    } catch (error) {
      connection.close()
      throw error
    }
  }

  get lost(): AuthError | undefined {
    return this.#lost
  }

  /** Yields the inputs, and notes the end. */
  async *counted(inputs: Iterable<DownloadInput> | AsyncIterable<DownloadInput>): AsyncGenerator<DownloadInput> {
    yield* inputs
    this.complete()
  }

  /** Notes that all files are known. */
  complete(): void {
    this.#tally.isComplete = true
  }

  begin(parts: CarrierParts): void {
    this.#parts = parts
    parts.signal.addEventListener('abort', this.#abort, { once: true })
  }

  transfer(planned: PlannedFile, known = this.#knownOf(planned)): Promise<FinalEvent> {
    return new Promise((resolve) => {
      const open: Open = { planned, known, resolve, received: new Map() }
      this.#waiting.add(open)
      if (this.#parts?.signal.aborted) return this.#fail(open, new AbortedError(this.#parts.signal.reason))
      this.#put(open)
    })
  }

  /** Counts an event, and lists failures for `stac-auth queue failed`. */
  note(event: DownloadEvent): void {
    this.#tally.add(event)
    if (event.kind === 'failed' && event.error.code !== 'ABORTED' && !this.#lost) {
      const { name, url } = event.file
      const { code, message } = event.error
      this.#noted(this.#failed.add(name, { code, message, url, time: new Date().toISOString() }))
      this.#failures.add(name)
    } else if ((event.kind === 'written' || event.kind === 'kept') && this.#failures.delete(event.file.name)) {
      this.#noted(this.#failed.remove([event.file.name]))
      this.#noted(this.#jobs.remove([event.file.name]))
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
      this.#lost ??= this.#queue.ended
      // One file may have crashed each worker; the others must not fail with it.
      if (error.code === 'JOB_FAILED' && open.length > 1 && !this.#lost) for (const one of open) void this.#deliver([one])
      else {
        if (error.code !== 'JOB_FAILED') this.#lost ??= error
        for (const one of open) this.#fail(one, error)
        if (!this.#lost) this.#keep(open)
      }
    }
  }

  #progress(open: readonly Open[], reports: readonly FileProgress[]): void {
    for (const { file: index, bytes, size, resumed, attempt, received } of reports) {
      const one = open[index]
      if (!one || !this.#waiting.has(one)) continue
      one.received.set(attempt, received)
      const { file } = one.planned
      const sized = size !== undefined && { size }
      if (resumed !== undefined) this.#parts?.tell({ kind: 'started', file, resumed, ...sized })
      this.#parts?.tell({ kind: 'progress', file, bytes, ...sized })
    }
  }

  #settle(open: Open, result: FileResult): void {
    if (!this.#waiting.has(open)) return
    open.received.set(result.attempt, result.received)
    if (result.isRepeated) open.hasLost = true
    // The part stays, and another worker resumes it.
    if (result.kind === 'aborted') {
      this.#put(open)
      return
    }
    const { planned } = open
    for (const { code, message } of result.warnings) this.#parts?.tell({ kind: 'warning', file: planned.file, code, message })
    const outcome = this.#outcomeOf(open, result)
    if (outcome.kind === 'failed') this.#keep([open])
    this.#written.files++
    this.#written.bytes += result.bytes
    this.#waiting.delete(open)
    open.resolve(outcome)
  }

  #outcomeOf(
    { planned, received: attempts, hasLost }: Open,
    { kind, suffix, bytes, verified, entry, error, resumable }: FileResult,
  ): FinalEvent {
    const { record, plan } = this.#parts as CarrierParts
    const received = sumOf(attempts)
    const lost = hasLost && { uncounted: true as const }
    if (kind === 'failed') return { kind, file: planned.file, error: error ?? unreadable(), received, ...lost, resumable }
    if (kind === 'skipped') return { kind, file: planned.file, size: bytes, received, ...lost }
    if (suffix !== undefined) plan.withSuffix(planned, suffix)
    const { name, path } = planned.file
    const file = suffix === undefined ? planned.file : { ...planned.file, name: name + suffix, path: path + suffix }
    const problem = entry && (kind === 'written' ? record.add(entry) : record.addKept(entry))
    if (problem) this.#parts?.tell({ kind: 'warning', file, code: problem.code, message: problem.message })
    const differs = entry?.unverified && { unverified: entry.unverified }
    return kind === 'written' ? { kind, file, bytes, received, ...lost, verified, ...differs } : { kind: 'kept', file, bytes, verified }
  }

  #fail(open: Open, error: AuthError): void {
    if (!this.#waiting.delete(open)) return
    const lost = (open.hasLost || open.received.size > 0) && { uncounted: true as const }
    open.resolve({ kind: 'failed', file: open.planned.file, error, received: sumOf(open.received), ...lost, resumable: 0 })
  }

  /** Keeps the jobs of failed files. */
  #keep(open: readonly Open[]): void {
    for (const one of open) {
      const job = packedJob({ run: this.#run, settings: this.#settings, lists: false }, [one])
      this.#noted(this.#jobs.add(one.planned.file.name, job))
    }
  }
}

/** Timeout for writing the last notes, in milliseconds. */
const CLOSED_WITHIN = 2000

interface Notes {
  readonly tally: DownloadTally
  readonly done: FileNotes
  readonly failed: FileNotes
  readonly jobs: FileNotes
  readonly names: readonly string[]
  readonly close: () => void
}

function sumOf(attempts: ReadonlyMap<string, number>): number {
  return [...attempts.values()].reduce((sum, received) => sum + received, 0)
}

function unreadable(): ProtocolError {
  return new ProtocolError('JOB_FAILED', 'the response of a worker is not the result of a download', {
    hint: 'run the same version of stac-auth in all workers',
  })
}
