import { setMaxListeners } from 'node:events'
import { AbortedError, type AuthError, ConfigurationError, isAuthError } from '../../errors.ts'
import type { StoredObject } from '../../objects/list-objects.ts'
import type { Target } from '../../stac/target.ts'
import { type Destination, openDestination } from './destination/destination.ts'
import { DocumentCopies } from './document-copies.ts'
import type { DownloadEvent, DownloadFile, DownloadInput, DownloadOptions, FailedEvent, ProgressEvent, SummaryEvent } from './download.ts'
import { type DownloadContext, downloadContext, filesWithin } from './download-context.ts'
import { DownloadRecord } from './download-record.ts'
import { asExpired, expiredHref, RereadDocuments } from './expired-href.ts'
import { downloadFile, type FinalEvent } from './file-download.ts'
import { FilePlan, type PlannedFile } from './file-plan.ts'
import { pathTemplate } from './path-template.ts'
import { checkOptions, type SelectedFile, type SelectionOptions, selectFiles, selectionOptionsOf } from './selected-files.ts'
import {
  asFolderFailure,
  canList,
  emptyFolder,
  type FolderObject,
  filesOf,
  folderTargetOf,
  isWholeBucket,
  looksLikeFolder,
  objectsIn,
  wholeBucket,
} from './store-folder.ts'
import { zarrObjects, zarrTargetOf } from './zarr-store.ts'

type Inputs = Iterable<DownloadInput> | AsyncIterable<DownloadInput>

const DEFAULTS = { concurrency: 16, template: '{id}/{name}', maxObjects: 100_000 } as const

/** Files that are planned ahead, so that progress can show the remaining work. */
const AHEAD = 1000

/** Transfers files in another process. */
export interface Carrier {
  /** Files that may be handed over at a time. */
  readonly most: number
  /** Called once, before the first file. */
  begin(parts: CarrierParts): void
  transfer(planned: PlannedFile): Promise<FinalEvent>
  /** Why no file can be transferred any more. */
  readonly lost: AuthError | undefined
}

/** The parts of the download that a carrier needs. */
export interface CarrierParts {
  readonly record: DownloadRecord
  readonly plan: Pick<FilePlan, 'withSuffix' | 'refusedSuffixes'>
  readonly signal: AbortSignal
  tell(event: DownloadEvent): void
}

interface Prepared {
  readonly folder: Destination
  readonly record: DownloadRecord
  readonly choice: SelectionOptions
  readonly carrier: Carrier | undefined
}

/** One download from its inputs to its summary. */
export class DownloadRun {
  readonly events = new EventQueue(() => this.#wake())
  readonly #inputs: Inputs
  readonly #options: DownloadOptions
  readonly #choice: SelectionOptions
  readonly #plan: FilePlan
  readonly #copies: DocumentCopies | undefined
  readonly #context: DownloadContext
  readonly #record: DownloadRecord
  readonly #carrier: Carrier | undefined
  readonly #transfer: (planned: PlannedFile) => Promise<FinalEvent>
  readonly #rereads: RereadDocuments | undefined
  readonly #end = new AbortController()
  readonly #counts = new DownloadCounts()
  readonly #waiting: PlannedFile[] = []
  /** Repeated files by the number of the unsettled file that they wait for. */
  readonly #repeated = new Map<number, PlannedFile | undefined>()
  #running = 0
  /** Concurrent files; fewer once the system refuses to open more. */
  #most: number
  /** True once the disk is full. */
  #stopped: AuthError | undefined
  #wake: () => void = () => {}

  private constructor(inputs: Inputs, options: DownloadOptions, { folder, record, choice, carrier }: Prepared) {
    const { template = DEFAULTS.template, collisions = 'refuse', documents = false, dryRun = false, signal, bytesPerSecond } = options
    this.#inputs = inputs
    this.#record = record
    this.#choice = choice
    this.#options = options
    this.#most = carrier?.most ?? options.concurrency ?? filesWithin(bytesPerSecond, DEFAULTS.concurrency)
    const siblings = ({ targets: [{ scope }] }: SelectedFile) => selectFiles(scope, choice)
    this.#plan = new FilePlan({ name: pathTemplate(template), folder, collisions, siblings })
    this.#copies = documents && !dryRun ? new DocumentCopies(this.#plan) : undefined
    const tell = (event: DownloadEvent) => this.#tell(event)
    const shared = downloadContext(options, { isLocal: folder.isLocal, signal: this.#end.signal })
    this.#context = { ...shared, folder, record, plan: this.#plan, tell }
    this.#carrier = carrier
    carrier?.begin({ record, plan: this.#plan, signal: this.#end.signal, tell })
    this.#transfer = carrier ? (planned) => carrier.transfer(planned) : (planned) => downloadFile(planned, this.#context)
    this.#rereads = options.reread && !carrier ? new RereadDocuments(options.reread, choice) : undefined
    // Every file in progress adds a listener.
    setMaxListeners(0, this.#end.signal)
    signal?.addEventListener('abort', this.stop, { once: true })
    if (signal?.aborted) this.stop()
  }

  /** Errors: `CONFIG_INVALID`, `FILE_ACCESS`, `PATH_UNSAFE`; `PATH_EXISTS`, `PATH_BUSY`, `DISK_FULL` for the manifest. */
  static async prepare(inputs: Inputs, options: DownloadOptions, carrier?: Carrier): Promise<DownloadRun> {
    checkOptions(inputs, options)
    const choice = await selectionOptionsOf(options)
    const folder = await openDestination(options.folder, options.dryRun)
    if (!folder.isLocal) requireNothingLocal(options)
    const record = await DownloadRecord.open(folder, options)
    return new DownloadRun(inputs, options, { folder, record, choice, carrier })
  }

  /** Aborts the files in progress; their partial files stay. */
  readonly stop = (): void => {
    this.#end.abort(this.#options.signal?.reason)
    this.#wake()
  }

  /** Runs the download. Never rejects: the caller gets the error that ended it. */
  async perform(): Promise<void> {
    let problem: unknown
    try {
      await this.#planAll()
      for (const event of (await this.#copies?.close()) ?? []) this.#tell(event)
    } catch (error) {
      problem = error
      this.#waiting.length = 0
      this.#repeated.clear()
    }
    try {
      while (this.#running > 0 || this.#waiting.length > 0) await this.#change()
      if (!this.#options.dryRun) await this.#context.folder.sync()
      const { signal } = this.#options
      const aborted = signal?.aborted ? new AbortedError(signal.reason) : undefined
      if (problem === undefined || aborted) this.#tell(this.#counts.summary(aborted ?? this.#stopped))
      problem ??= aborted
    } catch (error) {
      problem ??= error
    }
    this.#options.signal?.removeEventListener('abort', this.stop)
    await this.#record.close().catch((error) => {
      problem ??= error
    })
    this.events.end(problem)
  }

  get #isOver(): boolean {
    return this.#end.signal.aborted || this.#stopped !== undefined
  }

  async #planAll(): Promise<void> {
    for await (const input of this.#inputs) {
      for (const wanted of selectFiles(input, this.#choice)) {
        if (this.#isOver) return
        await this.#planSelected(wanted)
      }
      if (this.#isOver) return
    }
  }

  async #planSelected(wanted: SelectedFile): Promise<void> {
    const { auth, dryRun = false } = this.#options
    while (this.#plan.mustWait(wanted) && !this.#isOver) await this.#change()
    if (this.#isOver) return
    if (wanted.targets.every(isWholeBucket)) return this.#add({ ...this.#plan.place(wanted), error: wholeBucket(wanted.targets[0]) })
    const folder = looksLikeFolder(wanted.targets[0]) ? await folderTargetOf(wanted, auth, !dryRun) : undefined
    const zarr = folder || !looksLikeFolder(wanted.targets[0]) ? undefined : zarrTargetOf(wanted.targets)
    if (folder) await this.#planFolder(wanted, folder, (most) => this.#listed(folder, most, auth))
    else if (zarr) await this.#planFolder(wanted, zarr, (most) => zarrObjects(zarr, most, this.#context))
    else this.#add(this.#plan.place(wanted))
    await this.#room()
  }

  /** A folder is planned like a file, so that no other asset is mixed with it; its objects are files below. */
  async #planFolder(wanted: SelectedFile, folder: Target, list: (most: number) => Promise<readonly FolderObject[]>): Promise<void> {
    const { dryRun, maxObjects = DEFAULTS.maxObjects } = this.#options
    const planned = this.#plan.place({ ...wanted, targets: [folder] })
    const { file } = planned
    if (planned.error || dryRun) return this.#add({ ...planned, file: { ...file, ...(dryRun && { folder: true }) } })
    const objects = await list(maxObjects).catch((thrown: unknown) => {
      if (!isAuthError(thrown) && !this.#isOver) throw thrown
      return isAuthError(thrown) ? thrown : []
    })
    if (this.#isOver) return
    if (isAuthError(objects)) return this.#add({ ...planned, error: objects })
    if (objects.length > 0) {
      for (const { selected: object, error } of filesOf(folder, file, wanted, objects)) {
        if (this.#isOver) return
        this.#add({ ...this.#plan.place(object), ...(error && { error }) })
        await this.#room()
      }
    } else if (wanted.targets.some(({ href }) => /\/(?:#|$)/.test(href))) this.#add({ ...planned, error: emptyFolder(folder) })
    else this.#add({ ...planned, selected: wanted })
  }

  async #listed(folder: Target, most: number, auth: object): Promise<readonly StoredObject[]> {
    return canList(auth) ? objectsIn(folder, auth, most, this.#context) : []
  }

  #add(planned: PlannedFile): void {
    this.#tell({ kind: 'planned', file: planned.file })
    if (planned.error) this.#tell(failed(planned.file, planned.error))
    else if (!this.#options.dryRun) this.#enqueue(planned)
  }

  /** Waits until at most that many files are planned ahead. */
  async #room(): Promise<void> {
    while (!this.#isOver && (this.#waiting.length >= AHEAD || this.events.isFull)) await this.#change()
  }

  #enqueue(planned: PlannedFile): void {
    this.#copies?.expect(planned)
    const { file, repeats } = planned
    if (repeats === undefined) this.#plan.begun(planned)
    if (repeats !== undefined && this.#repeated.has(repeats)) this.#repeated.set(repeats, planned)
    else this.#waiting.push(planned)
    this.#repeated.set(file.number, undefined)
    this.#begin()
  }

  /** Starts as many files as the limit allows. */
  #begin(): void {
    if (this.#isOver) this.#waiting.length = 0
    while (this.#running < this.#most) {
      const planned = this.#waiting.shift()
      if (!planned) return
      this.#running++
      void this.#perform(planned)
    }
  }

  async #perform(planned: PlannedFile): Promise<void> {
    const outcome = await this.#fetched(planned)
    const event = outcome.kind === 'failed' ? { ...outcome, error: asFolderFailure(outcome.error, planned.selected) } : outcome
    if (event.kind === 'failed' && this.#isPutOff(planned, event.error)) return
    if (event.kind === 'failed' && event.error.code === 'DISK_FULL') this.#stopped ??= event.error
    this.#stopped ??= this.#carrier?.lost
    this.#tell(event)
    const copied = this.#end.signal.aborted ? undefined : await this.#copies?.settle(planned, event)
    if (copied) this.#tell(copied)
    this.#settle(planned, event.kind !== 'failed')
    this.#running--
    this.#begin()
    this.#wake()
  }

  /** Transfers a file; of one whose signed URL has expired, once more from the URL that its document has now. */
  async #fetched(planned: PlannedFile): Promise<FinalEvent> {
    const { clock } = this.#context
    const [target] = planned.selected.targets
    const first = expiredHref(target, clock.now()) ? undefined : await this.#transfer(planned)
    const isOver = first === undefined || (first.kind === 'failed' && asExpired(first.error, target, clock.now()) !== first.error)
    const fresh = isOver ? await this.#rereads?.replaced(planned).catch((error) => this.#unread(planned, error)) : undefined
    const outcome = fresh ? await this.#transfer(fresh) : (first ?? (await this.#transfer(planned)))
    const { targets, mayBeMissing } = (fresh ?? planned).selected
    if (mayBeMissing && outcome.kind === 'failed' && outcome.error.code === 'HTTP_404')
      return { kind: 'skipped', file: outcome.file, size: 0, received: outcome.received }
    return outcome.kind === 'failed' ? { ...outcome, error: asExpired(outcome.error, targets[0], clock.now()) } : outcome
  }

  /** Warns that a document cannot be read again. */
  #unread({ file }: PlannedFile, error: unknown): undefined {
    if (!isAuthError(error)) throw error
    if (!this.#end.signal.aborted)
      this.#tell({ kind: 'warning', file, code: error.code, message: `the document could not be read again: ${error.message}` })
  }

  /** Queues a file again until another one has ended, after too many open files. */
  #isPutOff(planned: PlannedFile, error: AuthError): boolean {
    if (error.code !== 'FILE_ACCESS' || !error.retryable || this.#running === 1 || this.#isOver) return false
    this.#most = --this.#running
    this.#waiting.unshift(planned)
    this.#tell({ kind: 'retry', file: planned.file, error, delay: 0, attempt: 1 })
    return true
  }

  /** Settles a repeated file: takes the existing file, or tries again after a failure. */
  #settle(planned: PlannedFile, isThere: boolean): void {
    const { number } = planned.file
    this.#plan.settled(planned)
    const next = this.#repeated.get(number)
    this.#repeated.delete(number)
    if (!next) return
    const { repeats: _repeats, ...anew } = next
    if (!isThere) this.#plan.begun(anew)
    this.#waiting.unshift(isThere ? next : anew)
  }

  /** Wakes the waiting parts after a file has ended or on abort. */
  #change(): Promise<void> {
    if (this.#end.signal.aborted) this.#waiting.length = 0
    if (this.#end.signal.aborted && this.#running === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #tell(event: DownloadEvent): void {
    this.#counts.count(event)
    this.events.tell(event)
  }
}

/** Errors: `USAGE` for options that only a folder on the disk has. */
function requireNothingLocal({ documents, ranges = 1 }: DownloadOptions): void {
  if (documents) throw new ConfigurationError('USAGE', 'copies of documents cannot be written into a bucket', { hint: 'use a folder' })
  if (ranges > 1) throw new ConfigurationError('USAGE', 'a file that goes into a bucket is requested once, not in several ranges')
}

function failed(file: DownloadFile, error: AuthError): FailedEvent {
  return { kind: 'failed', file, error, received: 0, resumable: 0 }
}

/** A queue of events; of the progress of a file only the latest event is kept. */
export class EventQueue {
  #events: DownloadEvent[] = []
  readonly #progress = new Map<number, ProgressEvent>()
  #isOver = false
  #error: unknown
  readonly #taken: () => void
  #wake: () => void = () => {}

  /** @param taken called when events were read */
  constructor(taken: () => void) {
    this.#taken = taken
  }

  /** True if many events wait: no further file should be started. */
  get isFull(): boolean {
    return this.#events.length > MOST
  }

  tell(event: DownloadEvent): void {
    if (event.kind === 'progress') {
      this.#progress.set(event.file.number, event)
    } else {
      if ('file' in event) this.#flush(event.file.number)
      this.#events.push(event)
    }
    this.#wake()
  }

  /** Ends the queue; an error is thrown after the last event. */
  end(error?: unknown): void {
    this.#isOver = true
    this.#error = error
    this.#wake()
  }

  /** Yields all events in order. */
  async *[Symbol.asyncIterator](): AsyncGenerator<DownloadEvent, void> {
    for (;;) {
      for (const number of [...this.#progress.keys()]) this.#flush(number)
      const events = this.#events
      this.#events = []
      if (events.length > 0) this.#taken()
      yield* events
      if (this.#events.length > 0 || this.#progress.size > 0) continue
      if (this.#isOver) break
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#error !== undefined) throw this.#error
  }

  #flush(number: number): void {
    const event = this.#progress.get(number)
    if (!event) return
    this.#progress.delete(number)
    this.#events.push(event)
  }
}

const MOST = 1000

/** Counts the events of a download. */
class DownloadCounts {
  readonly #start = performance.now()
  readonly #counts = { files: 0, written: 0, kept: 0, failed: 0, skipped: 0, documents: 0, bytes: 0, received: 0, retries: 0 }
  #isUncounted = false

  count(event: DownloadEvent): void {
    const counts = this.#counts
    if (event.kind === 'planned') counts.files++
    else if (event.kind === 'retry') counts.retries++
    else if (event.kind === 'document') counts.documents += event.error ? 0 : 1
    else if (event.kind === 'written' || event.kind === 'kept' || event.kind === 'failed' || event.kind === 'skipped') {
      counts[event.kind]++
      counts.bytes += 'bytes' in event ? event.bytes : 0
      counts.received += 'received' in event ? event.received : 0
      if ('uncounted' in event) this.#isUncounted = true
    }
  }

  summary(stopped?: AuthError): SummaryEvent {
    const milliseconds = Math.round(performance.now() - this.#start)
    return { kind: 'summary', ...this.#counts, ...(this.#isUncounted && { uncounted: true }), milliseconds, ...(stopped && { stopped }) }
  }
}
