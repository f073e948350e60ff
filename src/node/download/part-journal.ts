/** What is in a partial file, in a file beside it that only grows: a line for each version, after it a line for each piece written. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { isObject } from '../../stac/json.ts'
import { plainSuffix } from '../../text/file-name.ts'
import { readRegularFile } from '../files.ts'

/** Windows makes links for administrators only. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_WRONLY } = constants

const FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW

/** Which version of which file the pieces are of. */
export interface PartVersion {
  /** Origin and path of what was asked. */
  readonly url: string
  /** For `If-Range`. */
  readonly validator: string
  /** The `Last-Modified` of this version, where it is strong; equal to `validator` where there is no entity tag. */
  readonly modified?: string
  /** Bytes of the whole; absent where the server does not say. */
  readonly size?: number
  /** The content coding in which the bytes are; absent for none. */
  readonly stored?: string
  /** That the server has proposed for the name of the file. */
  readonly suffix?: string
}

/** What an earlier run has left. */
export interface PartRecord {
  /** Absent when nothing was known yet. */
  readonly version?: PartVersion
  readonly spans: Spans
}

/** Lines are handed to the system at once: what was written outlives the process, in any way it ends. */
export class PartJournal {
  readonly #path: string
  #file: number
  /** The last line may not be whole. */
  #isTorn: boolean

  private constructor(path: string, file: number, isTorn: boolean) {
    this.#path = path
    this.#file = file
    this.#isTorn = isTorn
  }

  /** Goes on with a journal, or begins one; one that cannot be begun is not there. Errors: those of the system. */
  static async open(path: string, goesOn: boolean): Promise<PartJournal> {
    const journal = new PartJournal(path, openSync(path, FLAGS, 0o600), goesOn)
    try {
      if (!goesOn) journal.begin(undefined)
    } catch (error) {
      await journal.remove()
      throw error
    }
    return journal
  }

  /** What was written before counts no longer; what comes now is of that version. Errors: those of the system. */
  begin(version: PartVersion | undefined): void {
    this.#append({ format: FORMAT, ...version })
  }

  /** Those bytes are in the file. Errors: those of the system. */
  add(span: Span): void {
    this.#append(span)
  }

  /** Bytes of it. Errors: those of the system. */
  get length(): number {
    return fstatSync(this.#file).size
  }

  /** Forgets what was written behind so many bytes. Errors: those of the system. */
  cut(length: number): void {
    ftruncateSync(this.#file, length)
    this.#isTorn = false
  }

  /** Begins a new file in its place: whoever has the old one open writes into that one. Errors: those of the system. */
  replace(): void {
    rmSync(this.#path, { force: true })
    const file = openSync(this.#path, FLAGS, 0o600)
    closeSync(this.#file)
    this.#file = file
    this.#isTorn = false
    this.begin(undefined)
  }

  /** Throws nothing. */
  close(): void {
    closeSync(this.#file)
  }

  /** Closes it, and takes it away. Throws nothing. */
  async remove(): Promise<void> {
    this.close()
    await rm(this.#path, { force: true }).catch(() => undefined)
  }

  /** A disk that is full may take a part of a line first. */
  #append(line: unknown): void {
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${JSON.stringify(line)}\n`)
    this.#isTorn = true
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    this.#isTorn = false
  }
}

/** What a journal says; undefined when there is none of ours. */
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

/** A line of at most 40 bytes for each half MiB: a partial file of half a terabyte. */
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

/** A line that was being written when its process ended is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** From the first byte up to, not including, the second one. */
export type Span = readonly [start: number, end: number]

/** Which bytes of a file are there. */
export class Spans {
  /** In order, never touching each other. */
  #spans: Span[] = []

  constructor(spans: Iterable<Span> = []) {
    for (const [start, end] of spans) this.add(start, end)
  }

  /** How many bytes. */
  get total(): number {
    return this.#spans.reduce((sum, [start, end]) => sum + end - start, 0)
  }

  /** How many from the beginning without a gap. */
  get prefix(): number {
    const [first] = this.#spans
    return first?.[0] === 0 ? first[1] : 0
  }

  add(start: number, end: number): void {
    if (start >= end) return
    const last = this.#spans.at(-1)
    if (last && last[1] === start) {
      this.#spans[this.#spans.length - 1] = [last[0], end]
      return
    }
    const apart = this.#spans.filter((span) => span[1] < start || span[0] > end)
    const touching = this.#spans.filter((span) => !(span[1] < start || span[0] > end))
    const merged: Span = [Math.min(start, ...touching.map(([from]) => from)), Math.max(end, ...touching.map(([, to]) => to))]
    this.#spans = [...apart, merged].sort(([one], [other]) => one - other)
  }

  /** The gaps within that many bytes. */
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

  /** Only what lies within that many bytes. */
  within(size: number): Spans {
    return new Spans(this.#spans.flatMap(([start, end]): Span[] => (start < size ? [[start, Math.min(end, size)]] : [])))
  }

  toJSON(): readonly Span[] {
    return this.#spans
  }
}
