/** Output of a download: events, progress and summary. */

import type { ErrorCode } from '../../errors.ts'
import type { DownloadEvent, DownloadFile, Verification } from '../../node/download/index.ts'
import { forJson, forLine } from '../../text/sanitize.ts'
import type { Context } from '../context.ts'
import type { Diagnostics } from '../io.ts'
import { type Style, styleOf, write } from '../io.ts'
import { fitted, LiveBlock, shortened, widthOf } from '../live-block.ts'
import { bytesText, timeText } from '../units.ts'
import type { Forecast } from './dry-run.ts'

export interface Audience {
  /** Writes to stderr while the download runs. */
  readonly diagnostics: Diagnostics
  hear(event: DownloadEvent): Promise<void> | void
  /** Runs a question while nothing else is shown; absent where no progress is. */
  readonly alone?: <T>(ask: () => Promise<T>) => Promise<T>
  /** No event follows. */
  end(): void
  /** Writes the summary. */
  conclude(totals: Totals, folder: string): Promise<void> | void
}

/** Output for programs: each event as one JSON line on stdout. */
export function programAudience({ io: { stdout }, diagnostics }: Context): Audience {
  return {
    diagnostics,
    hear: (event) => write(stdout, `${forJson(event)}\n`),
    end: () => {},
    conclude: () => {},
  }
}

/** Output with `--quiet`: only errors and warnings. */
export function quietAudience({ diagnostics }: Context): Audience {
  return { diagnostics, hear: () => {}, end: () => {}, conclude: () => {} }
}

/** Milliseconds between updates of the progress, on a terminal and in a log. */
const EVERY = 200

const SELDOM = 60_000

/** Output for people: live progress if stderr is a terminal, else a log line each minute; at the end a table on stdout. */
export function personAudience({ io, diagnostics }: Context, forecast: Forecast): Audience {
  const block = new LiveBlock(io)
  const progress = new Progress(forecast)
  const style = styleOf(io, io.stderr)
  let isAsking = false
  const draw = () => {
    progress.look(performance.now())
    if (!isAsking) block.show(progressLines(progress, block, style))
  }
  const log = () => {
    progress.look(performance.now())
    if (progress.finished + progress.running.length > 0) void diagnostics.note(progressLine(progress))
  }
  const timer = setInterval(block.isOn ? draw : log, block.isOn ? EVERY : SELDOM).unref()
  return {
    diagnostics: above(block, diagnostics),
    hear: (event) => {
      progress.add(event)
      return event.kind === 'retry' && event.error.code === 'HTTP_202' && event.attempt === 1
        ? above(block, diagnostics).note(`${event.file.name}: ${event.error.message}; it is requested again until it is ready`)
        : undefined
    },
    alone: async (ask) => {
      isAsking = true
      block.clear()
      return ask().finally(() => {
        isAsking = false
      })
    },
    end: () => {
      clearInterval(timer)
      block.clear()
    },
    conclude: (totals, folder) => write(io.stdout, summaryTable(totals, folder, styleOf(io, io.stdout))),
  }
}

/** Writes diagnostics above the live lines. */
function above(block: LiveBlock, { error, warn, note }: Diagnostics): Diagnostics {
  const first =
    <T, R>(say: (what: T) => R) =>
    (what: T): R => {
      block.clear()
      return say(what)
    }
  return { error: first(error), warn: first(warn), note: first(note) }
}

/** A file being downloaded. */
interface RunningFile {
  readonly file: DownloadFile
  bytes: number
  /** The full size, if known. */
  size: number | undefined
  /** The error and delay of the next retry. */
  waits: { readonly code: ErrorCode; readonly delay: number } | undefined
  readonly meter: RateMeter
}

/** The progress of a download. */
export class Progress {
  readonly forecast: Forecast
  finished = 0
  failed = 0
  skipped = 0
  readonly #running = new Map<number, RunningFile>()
  readonly #meter = new RateMeter()
  #finishedBytes = 0
  /** Number and total size of started files with a size in their document. */
  #begunSized = 0
  #begunPromised = 0

  constructor(forecast: Forecast) {
    this.forecast = forecast
  }

  get running(): readonly RunningFile[] {
    return [...this.#running.values()]
  }

  /** Bytes downloaded. */
  get bytes(): number {
    return this.running.reduce((sum, { bytes }) => sum + bytes, this.#finishedBytes)
  }

  /** Bytes per second. */
  get rate(): number {
    return this.#meter.rate
  }

  /** Estimated total bytes, once every file is known; files without a size count as the average. */
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
    // A stopped file did not fail: its line stays as it was.
    if (event.kind === 'failed' && event.error.code === 'ABORTED') return
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

  /** Samples the progress at a time in milliseconds, to measure rates. */
  look(now: number): void {
    for (const { meter, bytes } of this.#running.values()) meter.add(now, bytes)
    // The rate is measured from the first file on.
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

/** Room on a terminal, in characters. */
interface Room {
  readonly width: number
  readonly height: number
}

/** Files with their own line. */
const MOST_FILES = 8

/** Characters of the bar, and of a name that is followed by figures. */
const BAR = 20

const NAME = 60

/** Formats the progress: a total line, and lines of running files, as many as fit. */
export function progressLines(progress: Progress, { width, height }: Room, style: Style): readonly string[] {
  const { running } = progress
  const shown = running.slice(0, Math.max(0, Math.min(MOST_FILES, height - 2)))
  const more = running.length - shown.length
  const rest = more > 0 && height > 1 ? [style.dim(fitted([{ text: `  and ${more} more`, rank: 0 }], width))] : []
  return [totalLine(progress, width, style), ...shown.map((file) => fileLine(file, width, style)), ...rest]
}

/** Formats the progress as one log line. */
function progressLine(progress: Progress): string {
  return totalLine(progress, Number.POSITIVE_INFINITY)
}

/** Formats the total line; without a style (in a log) there is no bar. */
function totalLine(progress: Progress, width: number, style?: Style): string {
  const { finished, failed, bytes, total, rate, forecast } = progress
  if (forecast.files === 0) return fitted([{ text: 'looking for files', rank: 0 }], width)
  const share = total !== undefined ? bytes / Math.max(1, total) : forecast.isComplete ? finished / Math.max(1, forecast.files) : undefined
  const parts = [
    { text: `${finished} of ${forecast.files}${forecast.isComplete ? '' : '+'} files`, rank: 0 },
    { text: failed > 0 ? `${failed} failed` : '', rank: 1 },
    { text: share === undefined || !style ? '' : bar(share, style), rank: 5 },
    { text: total === undefined ? bytesText(bytes) : `${bytesText(bytes)} of ${bytesText(total)}`, rank: 2 },
    { text: `${bytesText(rate)}/s`, rank: 4 },
    { text: total === undefined || rate === 0 ? '' : `${timeText(((total - bytes) * 1000) / rate)} left`, rank: 3 },
  ]
  return fitted(parts, width)
}

function fileLine({ file, bytes, size, waits, meter }: RunningFile, width: number, style: Style): string {
  const percent = size === undefined ? '' : `${Math.floor((Math.min(bytes, size) * 100) / Math.max(1, size))}%`.padStart(4)
  const parts = [
    { text: percent, rank: 0 },
    { text: size === undefined ? bytesText(bytes) : `of ${bytesText(size)}`, rank: 2 },
    { text: waits ? `${waits.code}, retry in ${timeText(waits.delay)}` : `${bytesText(meter.rate)}/s`, rank: 1 },
  ]
  const tail = fitted(parts, Math.floor(width * 0.6))
  const room = Math.max(0, Math.min(NAME, width - widthOf(tail) - 4))
  const name = shortened(forLine(file.name), room, style.unicode ? '\u2026' : '...')
  return `  ${name}${' '.repeat(Math.max(0, room - widthOf(name)))}  ${waits ? style.yellow(tail) : tail}`
}

function bar(share: number, { unicode }: Style): string {
  const [full, empty] = unicode ? ['\u2588', '\u2591'] : ['#', '.']
  const filled = Math.round(Math.max(0, Math.min(1, share)) * BAR)
  return full.repeat(filled) + empty.repeat(BAR - filled)
}

/** Milliseconds of the window over which rates are measured. */
const WINDOW = 10_000

/** Measures the growth rate of an amount. */
export class RateMeter {
  #samples: { readonly at: number; readonly amount: number }[] = []

  /** Adds the amount at a time in milliseconds. */
  add(at: number, amount: number): void {
    this.#samples.push({ at, amount })
    // One sample at or before the start of the window is kept.
    while ((this.#samples[1]?.at ?? at) <= at - WINDOW) this.#samples.shift()
  }

  /** The last amount. */
  get amount(): number {
    return this.#samples.at(-1)?.amount ?? 0
  }

  /** Growth per second; 0 if unknown or negative. */
  get rate(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (!first || !last || last.at <= first.at) return 0
    return (Math.max(0, last.amount - first.amount) * 1000) / (last.at - first.at)
  }
}

/** The strongest first. */
const WAYS = {
  checksum: 'by checksum',
  digest: 'by server digest',
  server: 'by server',
  manifest: 'by manifest',
  size: 'by size',
  length: 'by length',
  nothing: 'unchecked',
} as const

/** Formats the summary of a download. */
function summaryTable(totals: Totals, folder: string, style: Style): string {
  const { written, kept, skipped, failed, stopped, documents, received, retries, milliseconds } = totals
  const rows = [
    row('written', written.files, style.green, written),
    row('kept', kept.files, style.green, kept),
    row('skipped', skipped, style.green),
    row('failed', failed, style.red),
    row('stopped', stopped, style.yellow),
    row('items', documents, style.green),
  ].filter((text) => text !== '')
  const rate = received > 0 ? ` (${bytesText((received * 1000) / Math.max(1, milliseconds))}/s)` : ''
  const again = retries > 0 ? `, ${retries} ${retries === 1 ? 'retry' : 'retries'}` : ''
  const last = `${bytesText(received)} received in ${milliseconds < 59_950 ? `${(milliseconds / 1000).toFixed(1)} s` : timeText(milliseconds)}${rate}${again}, in ${forLine(folder)}`
  return [...rows, last, ''].join('\n')
}

function row(name: string, files: number, paint: (text: string) => string, counted?: Count): string {
  if (files === 0) return ''
  const verified = Object.entries(WAYS).flatMap(([way, words]) => {
    const number = counted?.verified.get(way as keyof typeof WAYS) ?? 0
    return number === 0 ? [] : number === files ? words : `${number} ${words}`
  })
  const bytes = counted ? bytesText(counted.bytes) : ''
  return `${paint(name.padEnd(8))}${String(files).padStart(7)}  ${bytes.padStart(10)}  ${verified.join(', ')}`.trimEnd()
}

/** Files of one outcome. */
interface Count {
  files: number
  bytes: number
  /** Number of files by their strongest verification; `nothing` for unverified files. */
  readonly verified: Map<Verification | 'nothing', number>
}

const STRENGTH: readonly Verification[] = ['checksum', 'digest', 'server', 'manifest', 'size', 'length']

/** The totals of a download. */
export class Totals {
  readonly written = count()
  readonly kept = count()
  failed = 0
  skipped = 0
  /** Interrupted files, and their bytes that need not be downloaded again. */
  stopped = 0
  resumable = 0
  planned = 0
  documents = 0
  received = 0
  retries = 0
  readonly #start = performance.now()

  get milliseconds(): number {
    return performance.now() - this.#start
  }

  add(event: DownloadEvent): void {
    if (event.kind === 'planned') this.planned++
    else if (event.kind === 'retry') this.retries++
    else if (event.kind === 'document') this.documents += event.error ? 0 : 1
    else if (event.kind === 'failed') {
      this.received += event.received
      this.resumable += event.resumable
      if (event.error.code === 'ABORTED') this.stopped++
      else this.failed++
    } else if (event.kind === 'skipped') {
      this.skipped++
      this.received += event.received
    } else if (event.kind === 'written' || event.kind === 'kept') {
      if (event.kind === 'written') this.received += event.received
      const { verified, ...sums } = this[event.kind]
      const strongest = STRENGTH.find((way) => event.verified.includes(way)) ?? 'nothing'
      verified.set(strongest, (verified.get(strongest) ?? 0) + 1)
      Object.assign(this[event.kind], { files: sums.files + 1, bytes: sums.bytes + event.bytes })
    }
  }
}

function count(): Count {
  return { files: 0, bytes: 0, verified: new Map() }
}
