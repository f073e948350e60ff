/** Carries out the download jobs of a queue. */

import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { type AuthError, isAuthError } from '../../errors.ts'
import { sleep } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'
import { OriginLimiter } from '../../net/limiter.ts'
import { checkNamed, FUNCTION, fits, required, SIGNAL, type Table, TEXT, withMethods } from '../base/check-options.ts'
import { presentFile } from '../base/files.ts'
import { redisAddressOf } from '../base/redis-connection.ts'
import { type Destination, openDestination } from '../download/destination/destination.ts'
import type { DownloadEvent, DownloadFile } from '../download/download.ts'
import { type DownloadContext, downloadContext, type SharedContext } from '../download/download-context.ts'
import { differenceOf, type FileRecord, manifestLine, type ServerFacts } from '../download/download-record.ts'
import { downloadFile, type FinalEvent } from '../download/file-download.ts'
import type { PlannedFile } from '../download/file-plan.ts'
import type { ManifestEntry } from '../download/manifest.ts'
import { FileNotes, identityOf } from './destination.ts'
import {
  type DownloadJob,
  type FileProgress,
  type FileResult,
  type JobFile,
  plannedIn,
  readDone,
  readJob,
  WARNINGS,
} from './download-job.ts'
import { connectQueue, type JobAttempt, workJobs } from './job-queue.ts'
import { OriginSlots } from './origin-slots.ts'
import { queueNameOf } from './queue-names.ts'
import type { DownloadWorkerOptions } from './queued-downloads.ts'

const CONCURRENCY = 16

const OPTIONS: Table<DownloadWorkerOptions> = {
  queue: required(TEXT),
  folder: required(TEXT),
  auth: required(withMethods('an engine of createAuth', 'send')),
  signal: required(SIGNAL),
  concurrency: fits('a whole number of 1 or more', (value) => Number.isInteger(value) && Number(value) >= 1),
  onReady: FUNCTION,
  onJob: FUNCTION,
  onRefused: FUNCTION,
}

/** Runs {@link workDownloads}. */
export async function performJobs(options: DownloadWorkerOptions): Promise<never> {
  checkNamed('workDownloads', options, OPTIONS)
  const { queue, folder, signal, concurrency = CONCURRENCY, onReady, onJob, onRefused } = options
  const address = redisAddressOf(queue)
  const target = await openDestination(folder)
  const destination = await identityOf(target)
  const opened = await connectQueue(address, signal)
  const redis = opened.client()
  const slots = new OriginSlots(redis, `${process.pid}-${randomBytes(6).toString('hex')}`, opened.meaning)
  const done = new FileNotes(redis, destination, 'done')
  const worker = new DownloadWorker({ options, target, slots, concurrency, meaning: opened.meaning }, done)
  try {
    return await workJobs({
      address,
      name: queueNameOf(destination),
      opened,
      // More jobs than files at a time: a job with a large file leaves room for others.
      concurrency: Math.max(2, Math.ceil(concurrency / 4)),
      signal,
      lock: LOCK,
      work: (payload, tell, attempt) => worker.run(payload, tell, attempt),
      ...(onReady && { onReady }),
      ...(onJob && { onJob }),
      ...(onRefused && { onRefused }),
      onClosing: () => slots.close(),
    })
  } finally {
    await worker.close()
  }
}

/** Lock of a job in milliseconds. */
const LOCK = 15_000

/** Milliseconds between two progress reports of a job. */
const REPORTED = 500

/** Milliseconds without a heartbeat after which a part counts as abandoned. */
const HELD = 60_000

interface WorkerParts {
  readonly options: DownloadWorkerOptions
  readonly target: Destination
  readonly slots: OriginSlots
  readonly concurrency: number
  /** Converts an error of Redis. */
  readonly meaning: (error: unknown) => AuthError
}

class DownloadWorker {
  readonly #options: DownloadWorkerOptions
  readonly #target: Destination
  readonly #slots: OriginSlots
  readonly #meaning: WorkerParts['meaning']
  readonly #done: FileNotes
  readonly #files: OriginLimiter
  readonly #end = new AbortController()
  /** Contexts of the last settings: jobs share their retry budgets. */
  readonly #contexts = new Map<string, SharedContext>()

  constructor({ options, target, slots, concurrency, meaning }: WorkerParts, done: FileNotes) {
    this.#options = options
    this.#target = target
    this.#slots = slots
    this.#meaning = meaning
    this.#done = done
    this.#files = new OriginLimiter({ concurrency }, systemClock(), () => undefined)
    setMaxListeners(0, this.#end.signal)
    options.signal.addEventListener('abort', this.#stop, { once: true })
    if (options.signal.aborted) this.#stop()
  }

  /** Runs a job and returns the result of each file. Throws a `TypeError` for a malformed job. */
  async run(payload: unknown, tell: (data: object) => void, attempt: JobAttempt): Promise<readonly FileResult[]> {
    const job = readJob(payload)
    // Each job looks for parts that other workers have left in the meantime.
    const folder = await this.#target.again()
    this.#slots.limits = { perHost: job.settings.perHost ?? 8, ...(job.settings.rate !== undefined && { rate: job.settings.rate }) }
    const reports = new Reports(tell)
    const notes = await this.#done.get(job.files.map(({ name }) => name))
    try {
      return await Promise.all(
        job.files.map(async (file, index) => {
          await this.#files.enter('', this.#end.signal)
          try {
            return await new FileJob({
              job,
              file,
              index,
              attempt,
              folder,
              context: this.#contextOf(job, folder),
              done: this.#done,
              meaning: this.#meaning,
              reports,
            }).perform(notes[index])
          } finally {
            this.#files.leave('')
          }
        }),
      )
    } catch (error) {
      if (!isAuthError(error) || error.code !== 'ABORTED') throw error
      return job.files.map(() => ({ ...ABORTED, ...resultOf(attempt) }))
    } finally {
      reports.close()
      await folder.sync()
    }
  }

  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#stop)
    this.#stop()
  }

  readonly #stop = (): void => this.#end.abort(this.#options.signal.reason)

  #contextOf({ settings }: DownloadJob, folder: Destination): SharedContext {
    const key = JSON.stringify(settings)
    const known = this.#contexts.get(key)
    if (known) return known
    const { auth } = this.#options
    const options = { ...settings, auth, folder: folder.path }
    const context = downloadContext(options, { isLocal: folder.isLocal, limiter: this.#slots, signal: this.#end.signal })
    this.#contexts.set(key, context)
    if (this.#contexts.size > MOST_CONTEXTS) this.#contexts.delete(this.#contexts.keys().next().value ?? '')
    return context
  }
}

const MOST_CONTEXTS = 8

const ABORTED = { kind: 'aborted', bytes: 0, received: 0, resumable: 0, verified: [], retries: 0, warnings: [] } as const

function resultOf({ id, isRepeated }: JobAttempt): Pick<FileResult, 'attempt' | 'isRepeated'> {
  return { attempt: id, ...(isRepeated && { isRepeated }) }
}

interface FileJobParts {
  readonly job: DownloadJob
  readonly file: JobFile
  readonly index: number
  readonly attempt: JobAttempt
  readonly folder: Destination
  readonly context: SharedContext
  readonly done: FileNotes
  readonly meaning: WorkerParts['meaning']
  readonly reports: Reports
}

/** One file of a job. */
class FileJob {
  readonly #parts: FileJobParts
  readonly #planned: PlannedFile
  readonly #warnings: FileResult['warnings'][number][] = []
  #retries = 0
  /** Bytes that were received before the response that is read now, and where that one begins. */
  readonly #received = { before: 0, from: 0, to: 0 }

  constructor(parts: FileJobParts) {
    this.#parts = parts
    this.#planned = plannedIn(parts.job, parts.index, parts.folder)
  }

  /** Transfers the file, unless a worker that died has written it. */
  async perform(note: string | null | undefined): Promise<FileResult> {
    const { file, done, context, attempt } = this.#parts
    let noted = note
    for (;;) {
      const record = this.#recordOf(noted)
      const event = await downloadFile(this.#planned, this.#contextWith(record))
      if (event.kind !== 'failed') return this.#resultOf(event, record)
      if (context.signal.aborted)
        return { ...ABORTED, ...resultOf(attempt), received: event.received, resumable: event.resumable, retries: this.#retries }
      if (event.error.code === 'PATH_EXISTS' || event.error.code === 'PATH_BUSY') {
        // The previous worker of this job may still be running.
        const [now] = await done.get([file.name])
        const isHeld = event.error.code === 'PATH_BUSY' && this.#isHeld()
        if (isHeld) await sleep(1000, context.clock, context.signal)
        if (isHeld || (now !== noted && now !== null)) {
          noted = now
          continue
        }
      }
      return this.#resultOf(event, record)
    }
  }

  #isHeld(): boolean {
    const lock = presentFile(`${this.#planned.file.path}.part.lock`)
    return lock !== undefined && Date.now() - lock.mtimeMs < HELD
  }

  #recordOf(note: string | null | undefined): JobRecord {
    const { file, job, done, meaning } = this.#parts
    const found = readDone(note, file)
    // A file of an earlier download counts only if existing files are kept.
    const isOurs = found && (found.run === job.run || (job.settings.existing ?? 'keep') === 'keep')
    return new JobRecord(this.#parts, isOurs ? found.entry : undefined, (entry) =>
      done.set(file.name, { run: job.run, entry }).catch((error) => {
        throw meaning(error)
      }),
    )
  }

  #contextWith(record: JobRecord): DownloadContext {
    const { context, folder, file } = this.#parts
    const { settings } = context
    const withSuffix = (planned: PlannedFile, suffix: string): DownloadFile | undefined =>
      file.refused?.includes(suffix.toLowerCase())
        ? undefined
        : { ...planned.file, name: planned.file.name + suffix, path: planned.file.path + suffix }
    return {
      ...context,
      folder,
      record,
      plan: { withSuffix },
      settings: record.isDone ? { ...settings, existing: 'keep' } : settings,
      tell: (event) => this.#hear(event),
    }
  }

  #hear(event: DownloadEvent): void {
    const { index, reports, attempt } = this.#parts
    if (event.kind === 'retry') this.#retries++
    else if (event.kind === 'warning' && this.#warnings.length < WARNINGS) this.#warnings.push({ code: event.code, message: event.message })
    else if (event.kind === 'started' || event.kind === 'progress') {
      const { size } = event
      const resumed = event.kind === 'started' ? event.resumed : undefined
      const bytes = event.kind === 'started' ? event.resumed : event.bytes
      const counted = this.#received
      if (event.kind === 'started') {
        counted.before += counted.to - counted.from
        counted.from = bytes
      }
      counted.to = bytes
      const received = counted.before + counted.to - counted.from
      reports.add({
        file: index,
        attempt: attempt.id,
        received,
        bytes,
        ...(size !== undefined && { size }),
        ...(resumed !== undefined && { resumed }),
      })
    }
  }

  #resultOf(event: FinalEvent, record: JobRecord): FileResult {
    const { reports, index, attempt } = this.#parts
    reports.remove(index)
    const suffix = event.file.name.slice(this.#planned.file.name.length)
    const kind = event.kind === 'kept' && record.isDone ? 'written' : event.kind
    return {
      kind,
      ...resultOf(attempt),
      ...(suffix !== '' && { suffix }),
      bytes: event.kind === 'skipped' ? event.size : 'bytes' in event ? event.bytes : 0,
      received: 'received' in event ? event.received : 0,
      resumable: event.kind === 'failed' ? event.resumable : 0,
      verified: 'verified' in event ? event.verified : [],
      retries: this.#retries,
      warnings: this.#warnings,
      ...(record.entry && (event.kind === 'written' || event.kind === 'kept') && { entry: record.entry }),
      ...(event.kind === 'failed' && { error: event.error }),
    }
  }
}

/** The record of one file: read from its job, written to the result of the job. */
class JobRecord implements FileRecord {
  readonly #parts: FileJobParts
  readonly #known: ManifestEntry | undefined
  readonly #note: (entry: ManifestEntry) => Promise<void>
  readonly #suffix: string | undefined
  /** True if the file was written by a worker whose result was lost. */
  readonly isDone: boolean
  /** The entry for the result. */
  entry: ManifestEntry | undefined

  constructor(parts: FileJobParts, done: ManifestEntry | undefined, note: (entry: ManifestEntry) => Promise<void>) {
    this.#parts = parts
    this.isDone = done !== undefined
    this.#known = done ?? parts.file.known
    this.#suffix = done?.suffix ?? parts.file.suffix
    this.#note = note
  }

  suffixOf(): string | undefined {
    return this.#suffix
  }

  plannedNameOf(path: string): string | undefined {
    const { name, owner } = this.#parts.file
    return path === name ? owner : this.#suffix !== undefined && path === name + this.#suffix ? name : undefined
  }

  known({ name, url }: DownloadFile): ManifestEntry | undefined {
    return this.#known?.path === name && this.#known.url === url ? this.#known : undefined
  }

  async difference(entry: ManifestEntry, path: string): Promise<string | undefined> {
    const found = await differenceOf(entry, path, this.#parts.folder)
    if (typeof found === 'string') return found
    if (this.isDone || found !== entry.modified) this.entry = { ...entry, modified: found }
    return undefined
  }

  completing(file: DownloadFile, bytes: number, facts: ServerFacts): Promise<void> {
    this.entry = manifestLine(file, bytes, facts)
    return this.#note(this.entry)
  }

  async written({ path }: DownloadFile): Promise<undefined> {
    const { modified } = (await this.#parts.folder.present(path)) ?? {}
    if (this.entry && modified !== undefined) this.entry = { ...this.entry, modified }
  }

  async kept(file: DownloadFile, bytes: number, hadQuery: boolean): Promise<undefined> {
    if (this.isDone) this.entry ??= this.#known
    if (this.entry || !this.#parts.job.lists) return
    this.entry = this.known(file) ?? manifestLine(file, bytes, { sha256: await this.#parts.folder.digest(file.path, 'sha256'), hadQuery })
  }
}

/** Collects the progress of the files of a job. */
class Reports {
  readonly #tell: (data: object) => void
  readonly #latest = new Map<number, FileProgress>()
  readonly #timer: NodeJS.Timeout

  constructor(tell: (data: object) => void) {
    this.#tell = tell
    this.#timer = setInterval(() => this.#send(), REPORTED).unref()
  }

  add(progress: FileProgress): void {
    const { resumed } = this.#latest.get(progress.file) ?? {}
    this.#latest.set(progress.file, { ...(resumed !== undefined && { resumed }), ...progress })
  }

  remove(file: number): void {
    this.#latest.delete(file)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #send(): void {
    if (this.#latest.size === 0) return
    this.#tell([...this.#latest.values()])
    this.#latest.clear()
  }
}
