import type { ErrorCode } from '../../errors.ts'
import type { DownloadEvent, DownloadFile } from '../../node/download/index.ts'
import type { Forecast } from './forecast.ts'
import { RateMeter } from './rate-meter.ts'

/** A file that is on its way. */
export interface RunningFile {
  readonly file: DownloadFile
  bytes: number
  /** Of the whole, where somebody knows. */
  size: number | undefined
  /** What it waits for, with the milliseconds. */
  waits: { readonly code: ErrorCode; readonly delay: number } | undefined
  readonly meter: RateMeter
}

/** How far a download is. */
export class Progress {
  readonly forecast: Forecast
  finished = 0
  failed = 0
  skipped = 0
  readonly #running = new Map<number, RunningFile>()
  readonly #meter = new RateMeter()
  #finishedBytes = 0
  /** Files that have begun, of those whose documents promise a size, and what they promise. */
  #begunSized = 0
  #begunPromised = 0

  constructor(forecast: Forecast) {
    this.forecast = forecast
  }

  get running(): readonly RunningFile[] {
    return [...this.#running.values()]
  }

  /** Bytes that are there. */
  get bytes(): number {
    return this.running.reduce((sum, { bytes }) => sum + bytes, this.#finishedBytes)
  }

  /** Bytes per second. */
  get rate(): number {
    return this.#meter.rate
  }

  /** Bytes of all files, once every file is known; those whose size nobody knows are taken to be like the others. */
  get total(): number | undefined {
    const { files, bytes, sized, isComplete } = this.forecast
    const known = this.running.filter(({ size }) => size !== undefined)
    const knownBytes = known.reduce((sum, { size = 0 }) => sum + size, this.#finishedBytes)
    const knownFiles = this.finished - this.failed - this.skipped + known.length
    const waitingSized = sized - this.#begunSized
    const unknown = files - this.finished - known.length - waitingSized
    if (!isComplete || (unknown > 0 && knownFiles === 0)) return undefined
    return knownBytes + bytes - this.#begunPromised + (unknown > 0 ? (unknown * knownBytes) / knownFiles : 0)
  }

  add(event: DownloadEvent): void {
    if (event.kind === 'planned' || event.kind === 'summary' || event.kind === 'document' || event.kind === 'warning') return
    const { file } = event
    const running = this.#begun(file)
    if (event.kind === 'written' || event.kind === 'kept') this.#finish(file, event.bytes)
    else if (event.kind === 'failed') {
      this.failed++
      this.#finish(file, 0)
    } else if (event.kind === 'skipped') {
      this.skipped++
      this.#finish(file, 0)
    } else if (event.kind === 'retry') running.waits = { code: event.error.code, delay: event.delay }
    else {
      running.waits = undefined
      running.bytes = event.kind === 'started' ? event.resumed : event.bytes
      running.size = event.size ?? running.size
    }
  }

  /** Looks at what is there at a time, in milliseconds: rates come from that. */
  look(now: number): void {
    for (const { meter, bytes } of this.#running.values()) meter.add(now, bytes)
    // Until the first bytes are on their way nothing is slow.
    if (this.finished + this.#running.size > 0) this.#meter.add(now, this.bytes)
  }

  #begun(file: DownloadFile): RunningFile {
    const known = this.#running.get(file.number)
    if (known) return known
    if (file.size !== undefined) {
      this.#begunSized++
      this.#begunPromised += file.size
    }
    const running = { file, bytes: 0, size: file.size, waits: undefined, meter: new RateMeter() }
    this.#running.set(file.number, running)
    return running
  }

  #finish(file: DownloadFile, bytes: number): void {
    this.#running.delete(file.number)
    this.finished++
    this.#finishedBytes += bytes
  }
}
