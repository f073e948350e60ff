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
}

/** Output for programs: each event as one JSON line on stdout. */
export function programAudience({ io: { stdout }, diagnostics }: Context): Audience {
  return { diagnostics, hear: (event) => write(stdout, `${forJson(event)}\n`), end: () => {} }
}

/** Output with `--quiet`: only errors and warnings. */
export function quietAudience({ diagnostics }: Context): Audience {
  return { diagnostics, hear: () => {}, end: () => {} }
}

/** Milliseconds between updates of the progress, on a terminal and in a log. */
const EVERY = 200

const SELDOM = 60_000

/** Output for people: live progress if stderr is a terminal, else a log line each minute. */
export function personAudience({ io, diagnostics }: Context, progress: Progress): Audience {
  const block = new LiveBlock(io)
  const style = styleOf(io, io.stderr)
  let isAsking = false
  const draw = () => {
    progress.look(performance.now())
    if (!isAsking) block.show(progressLines(progress, block, style))
  }
  const log = () => {
    progress.look(performance.now())
    if (progress.finished + progress.running.length > 0) void diagnostics.note(totalLine(progress, Number.POSITIVE_INFINITY))
  }
  const timer = setInterval(block.isOn ? draw : log, block.isOn ? EVERY : SELDOM).unref()
  return {
    diagnostics: above(block, diagnostics),
    hear: (event) => {
      if (event.kind === 'retry' && event.error.code === 'HTTP_202' && event.attempt === 1)
        return above(block, diagnostics).note(`${event.file.name}: ${event.error.message}; it is requested again until it is ready`)
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

/** Files of one outcome. */
interface Count {
  files: number
  bytes: number
  /** Number of files by their strongest verification. */
  readonly verified: Map<string, number>
}

/** The progress of a download, and its totals. */
export class Progress {
  readonly forecast: Forecast
  readonly written: Count = { files: 0, bytes: 0, verified: new Map() }
  readonly kept: Count = { files: 0, bytes: 0, verified: new Map() }
  failed = 0
  skipped = 0
  /** Interrupted files, and their bytes that need not be downloaded again. */
  stopped = 0
  resumable = 0
  planned = 0
  /** Written copies of documents. */
  documents = 0
  received = 0
  /** True if a worker of a queue has died, whose last bytes are not counted. */
  isUncounted = false
  retries = 0
  /** The workers of a queue, or that it is paused; empty without one. */
  queue = ''
  readonly #start = performance.now()
  readonly #running = new Map<number, RunningFile>()
  readonly #meter = new RateMeter()
  /** Number and total size of started files with a size in their document. */
  #begunSized = 0
  #begunPromised = 0

  constructor(forecast: Forecast) {
    this.forecast = forecast
  }

  get milliseconds(): number {
    return performance.now() - this.#start
  }

  get running(): readonly RunningFile[] {
    return [...this.#running.values()]
  }

  get finished(): number {
    return this.written.files + this.kept.files + this.skipped + this.failed
  }

  /** Bytes downloaded. */
  get bytes(): number {
    return this.running.reduce((sum, { bytes }) => sum + bytes, this.written.bytes + this.kept.bytes)
  }

  /** Bytes per second. */
  get rate(): number {
    return this.#meter.rate
  }

  /** Estimated total bytes, once every file is known; files without a size count as the average. */
  get total(): number | undefined {
    const { forecast, written, kept } = this
    const known = this.running.filter(({ size }) => size !== undefined)
    const knownBytes = known.reduce((sum, { size = 0 }) => sum + size, written.bytes + kept.bytes)
    const knownFiles = written.files + kept.files + known.length
    const unknown = forecast.files - this.finished - known.length - (forecast.sized - this.#begunSized)
    if (!forecast.isComplete || (unknown > 0 && knownFiles === 0)) return undefined
    return knownBytes + forecast.bytes - this.#begunPromised + (unknown > 0 ? (unknown * knownBytes) / knownFiles : 0)
  }

  add(event: DownloadEvent): void {
    if (event.kind === 'planned') this.planned++
    else if (event.kind === 'document') this.documents += event.error ? 0 : 1
    else if (event.kind === 'retry') {
      this.retries++
      this.#begun(event.file).waits = { code: event.error.code, delay: event.delay }
    } else if (event.kind === 'started' || event.kind === 'progress') {
      const running = this.#begun(event.file)
      running.waits = undefined
      running.bytes = event.kind === 'started' ? event.resumed : event.bytes
      running.size = event.size ?? running.size
    } else if (event.kind !== 'warning' && event.kind !== 'summary') this.#end(event)
  }

  #end(event: Extract<DownloadEvent, { kind: 'written' | 'kept' | 'failed' | 'skipped' }>): void {
    if ('received' in event) this.received += event.received
    if ('uncounted' in event) this.isUncounted = true
    if (event.kind === 'failed') this.resumable += event.resumable
    // A stopped file did not fail: its line stays as it was.
    if (event.kind === 'failed' && event.error.code === 'ABORTED') {
      this.stopped++
      return
    }
    this.#begun(event.file)
    this.#running.delete(event.file.number)
    if (event.kind === 'failed' || event.kind === 'skipped') {
      this[event.kind]++
      return
    }
    const counted = this[event.kind]
    const strongest = Object.keys(WAYS).find((way) => event.verified.some((one) => one === way)) ?? 'nothing'
    counted.verified.set(strongest, (counted.verified.get(strongest) ?? 0) + 1)
    counted.files++
    counted.bytes += event.bytes
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

/** Formats the total line; without a style (in a log) there is no bar. */
function totalLine(progress: Progress, width: number, style?: Style): string {
  const { finished, failed, bytes, total, rate, forecast, queue } = progress
  if (forecast.files === 0) return fitted([{ text: 'looking for files', rank: 0 }], width)
  const share = total !== undefined ? bytes / Math.max(1, total) : forecast.isComplete ? finished / Math.max(1, forecast.files) : undefined
  const parts = [
    { text: `${finished} of ${forecast.files}${forecast.isComplete ? '' : '+'} files`, rank: 0 },
    { text: failed > 0 ? `${failed} failed` : '', rank: 1 },
    { text: share === undefined || !style ? '' : bar(share, style), rank: 5 },
    { text: total === undefined ? bytesText(bytes) : `${bytesText(bytes)} of ${bytesText(total)}`, rank: 2 },
    { text: `${bytesText(rate)}/s`, rank: 4 },
    { text: total === undefined || rate === 0 ? '' : `${timeText(((total - bytes) * 1000) / rate)} left`, rank: 3 },
    { text: queue, rank: 6 },
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

  /** Adds the amount at a time in milliseconds, and returns the rate. */
  rateAt(at: number, amount: number): number {
    this.add(at, amount)
    return this.rate
  }

  /** Growth per second; 0 if unknown or negative. */
  get rate(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (!first || !last || last.at <= first.at) return 0
    return (Math.max(0, last.amount - first.amount) * 1000) / (last.at - first.at)
  }
}

/** How files are verified, the strongest first. */
const WAYS = {
  checksum: 'by checksum',
  digest: 'by server digest',
  server: 'by server',
  manifest: 'by manifest',
  size: 'by size',
  length: 'by length',
  nothing: 'unchecked',
} satisfies Readonly<Record<Verification | 'nothing', string>>

/** Returns the summary of a download into a folder as a table. */
export function summaryTable(progress: Progress, folder: string, style: Style): string {
  const { written, kept, skipped, failed, stopped, documents, received, isUncounted, retries, milliseconds } = progress
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
  const last = `${isUncounted ? 'at least ' : ''}${bytesText(received)} received in ${milliseconds < 59_950 ? `${(milliseconds / 1000).toFixed(1)} s` : timeText(milliseconds)}${rate}${again}, in ${forLine(folder)}`
  return [...rows, last, ''].join('\n')
}

function row(name: string, files: number, paint: (text: string) => string, counted?: Count): string {
  if (files === 0) return ''
  const verified = Object.entries(WAYS).flatMap(([way, words]) => {
    const number = counted?.verified.get(way) ?? 0
    return number === 0 ? [] : number === files ? words : `${number} ${words}`
  })
  const bytes = counted ? bytesText(counted.bytes) : ''
  return `${paint(name.padEnd(8))}${String(files).padStart(7)}  ${bytes.padStart(10)}  ${verified.join(', ')}`.trimEnd()
}
