/** The append-only journal of a partial file: one line per version, followed by one line per written range. */
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs'
import { isObject } from '../../../stac/document.ts'
import { plainSuffix } from '../../../text/file-name.ts'
import { readRegularFile } from '../../base/files.ts'

/** Windows creates links for administrators only. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_WRONLY } = constants

/** The version of the file to which the ranges belong. */
export interface PartVersion {
  /** Origin and path of the request. */
  readonly url: string
  /** For `If-Range`. */
  readonly validator: string
  /** The `Last-Modified` of this version, if it is a strong validator; equal to `validator` without an entity tag. */
  readonly modified?: string
  /** Size of the file in bytes; absent if the server does not say. */
  readonly size?: number
  /** The content coding of the bytes; absent for none. */
  readonly stored?: string
  /** The suffix that the server proposed for the file name. */
  readonly suffix?: string
}

/** The state that an earlier run has left. */
export interface PartRecord {
  /** Absent if no version was known yet. */
  readonly version?: PartVersion
  readonly spans: Spans
}

/** Lines are written immediately, so that they survive any end of the process. */
export class PartJournal {
  readonly #path: string
  readonly #file: number

  /** Opens a journal, or creates a new one. Errors: those of the system. */
  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
  }

  /** Starts a version, which invalidates everything before. Errors: those of the system. */
  begin(version: PartVersion | undefined): void {
    this.#append({ format: FORMAT, ...version })
  }

  /** Records a written range. Errors: those of the system. */
  add(span: Span): void {
    this.#append(span)
  }

  /** Closes it. Throws nothing. */
  close(): void {
    try {
      closeSync(this.#file)
    } catch {
      // A disk that fails here may have lost the last lines: the next run fetches their ranges again.
    }
  }

  /** Closes and removes it: a process with the file open keeps writing into that. Throws nothing. */
  remove(): void {
    this.close()
    try {
      rmSync(this.#path)
    } catch {
      // The next run removes it.
    }
  }

  /** The line before may be torn: a full disk may accept a part of a line first. */
  #append(line: unknown): void {
    const bytes = Buffer.from(`\n${JSON.stringify(line)}`)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
  }
}

/** Returns the state in a journal; undefined if it is missing or not ours. */
export async function readPartJournal(path: string): Promise<PartRecord | undefined> {
  const reading = await readRegularFile(path, LONGEST)
  if ('problem' in reading) return undefined
  let record: PartRecord | undefined
  for (const line of Buffer.from(reading.bytes).toString().split('\n')) {
    const value = parsed(line)
    if (isObject(value) && value.format === FORMAT) {
      const version = versionIn(value)
      record = { spans: new Spans(), ...(version && { version }) }
    } else if (record && isSpan(value)) record.spans.add(...value)
  }
  return record
}

const FORMAT = 1

/** At most 40 bytes per 512 KiB: enough for a partial file of half a terabyte. */
const LONGEST = 40 * 2 ** 20

function versionIn({ url, validator, modified, size, stored, suffix }: Readonly<Record<string, unknown>>): PartVersion | undefined {
  if (typeof url !== 'string' || typeof validator !== 'string') return undefined
  return {
    url,
    validator,
    ...(typeof modified === 'string' && { modified }),
    ...(typeof size === 'number' && { size }),
    ...(typeof stored === 'string' && { stored }),
    ...(typeof suffix === 'string' && suffix !== '' && plainSuffix(`x${suffix}`) === suffix && { suffix }),
  }
}

function isSpan(value: unknown): value is Span {
  return Array.isArray(value) && value.length === 2 && value.every((at) => Number.isSafeInteger(at) && at >= 0) && value[0] < value[1]
}

/** A torn last line is ignored. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** From the first offset up to, not including, the second one. */
export type Span = readonly [start: number, end: number]

/** A set of byte ranges. */
export class Spans {
  /** Sorted, with a gap between any two. */
  #spans: Span[] = []

  constructor(spans: Iterable<Span> = []) {
    for (const [start, end] of spans) this.add(start, end)
  }

  /** Total number of bytes. */
  get total(): number {
    return this.#spans.reduce((sum, [start, end]) => sum + end - start, 0)
  }

  /** Number of bytes from the beginning without a gap. */
  get prefix(): number {
    const [first] = this.#spans
    return first?.[0] === 0 ? first[1] : 0
  }

  add(start: number, end: number): void {
    if (start >= end) return
    const isApart = ([from, to]: Span) => to < start || from > end
    const touching = this.#spans.filter((span) => !isApart(span)).flat()
    const merged: Span = [Math.min(start, ...touching), Math.max(end, ...touching)]
    this.#spans = [...this.#spans.filter(isApart), merged].sort(([one], [other]) => one - other)
  }

  /** Returns the gaps within that many bytes. */
  missing(size: number): readonly Span[] {
    const gaps: Span[] = []
    let at = 0
    for (const [start, end] of this.#spans) {
      if (start > at) gaps.push([at, Math.min(start, size)])
      at = Math.max(at, end)
    }
    if (at < size) gaps.push([at, size])
    return gaps
  }

  /** Keeps only what lies within that many bytes. */
  within(size: number): Spans {
    return new Spans(this.#spans.flatMap(([start, end]): Span[] => (start < size ? [[start, Math.min(end, size)]] : [])))
  }

  copy(): Spans {
    return new Spans(this.#spans)
  }

  [Symbol.iterator](): Iterator<Span> {
    return this.#spans[Symbol.iterator]()
  }
}
