/** Opens an input and splits it into pieces that are linted separately: a document, a line, a feature, a row. */

import { closeSync, constants, createReadStream, fstatSync, openSync, readFileSync } from 'node:fs'
import { addAbortSignal, pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Auth } from '../../auth/auth.ts'
import { AbortedError, type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import type { Problem } from '../../lint/index.ts'
import { readFailure, systemCode } from '../../node/base/index.ts'
import { DOCUMENT_LIMITS, isObject, kindOf, type StacDocument } from '../../stac/document.ts'
import { scan } from '../../stac/json-text.ts'
import type { Io } from '../io.ts'
import { fetchBody } from '../read-document.ts'
import { type FeatureText, featuresOf } from './features.ts'
import type { InputFile } from './input-files.ts'
import { linesOf } from './lines.ts'
import { parquetItems } from './parquet.ts'

/** A text, or a parsed value without text. */
export interface Task {
  /** The text of a document, of a list of documents, or of a line. */
  readonly text?: string | Uint8Array
  /** Line of its file on which the text begins. */
  readonly line?: number
  /** A parsed value without positions: a row, a wrapper without features, a list of children. */
  readonly value?: unknown
  /** The final URL. */
  readonly url?: string
  /** Parent documents that may define schemes, nearest first. */
  readonly parents?: readonly StacDocument[]
}

/** A part of an input that is linted at once. */
export interface Piece {
  /** Items, Collections and Catalogs in it; absent for a text, which is not parsed here. */
  readonly documents?: number
  /** The task of the linter. */
  readonly task: Task
  /** Converts pointers and lines of findings to those of the whole input. */
  placed?(problems: readonly Problem[]): readonly Problem[]
  /** Identifies the list of documents that contains the piece. */
  readonly list?: object
  /** The text of the input, if the piece is the whole input. */
  readonly text?: Uint8Array
  /** True for an input beyond the size limit, which is only reported as too large. */
  readonly oversized?: boolean
}

/**
 * Yields the pieces of an input, read with `read` if given, one by one, so that memory does not grow with the input. The format is
 * detected from the first bytes: gzip, Parquet, NDJSON or one document; a FeatureCollection in a file may exceed the size limit.
 *
 * Errors: those of reading; `FILE_INTEGRITY` for damaged gzip or Parquet.
 */
export async function* piecesOf(
  { name }: InputFile,
  io: Io,
  auth: () => Promise<Auth>,
  read?: (name: string) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Piece> {
  const isFile = read === undefined && name !== '-' && !isAddress(name)
  const small = isFile ? readAtOnce(name) : undefined
  const isPlain = small && !startsWith(small, GZIP) && !startsWith(small, PARQUET) && !isNdjson({ bytes: small, ended: true })
  if (isPlain) return yield { ...textPiece(small), text: small }
  const open = async (): Promise<Source> => (read ? { chunks: read(name) } : openInput(name, io, auth))
  const source = await open()
  const head = await headOf(source.chunks, (bytesRead) => bytesRead.length >= MAGIC)
  const { chunks, bytes } = head
  if (startsWith(bytes, PARQUET)) yield* rows(name, head, isFile)
  else {
    const isPacked = startsWith(bytes, GZIP)
    const rest = async () => {
      const { chunks: opened } = await open()
      return isPacked ? unpacked(opened, name) : opened
    }
    yield* texts({ ...source, chunks: isPacked ? unpacked(chunks, name) : chunks }, isFile || read ? rest : undefined)
  }
}

const MAGIC = 4

const GZIP = [0x1f, 0x8b]

const PARQUET = [0x50, 0x41, 0x52, 0x31]

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte)
}

async function* texts({ chunks, url }: Source, reread?: () => Promise<AsyncIterable<Uint8Array>>): AsyncGenerator<Piece> {
  const head = await headOf(chunks, (bytes) => firstLines(bytes).length === 2)
  if (isNdjson(head)) {
    for await (const { bytes, number, cut } of linesOf(head.chunks))
      yield cut ? { ...OVERSIZED, task: { line: number } } : textPiece(bytes, url, number)
    return
  }
  const text = await wholeOf(head)
  if (text) yield { ...textPiece(text, url), text }
  else if (reread && mayHoldFeatures(head.bytes)) yield* features(reread)
  else yield OVERSIZED
}

const OVERSIZED: Piece = { documents: 1, oversized: true, task: {} }

/** Reads all bytes; undefined beyond the size limit of a document. */
async function wholeOf({ chunks }: Head): Promise<Uint8Array | undefined> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > DOCUMENT_LIMITS.other) return undefined
    read.push(chunk)
  }
  return Buffer.concat(read)
}

function textPiece(text: Uint8Array, url?: string, line?: number): Piece {
  return { task: { text, ...(url !== undefined && { url }), ...(line !== undefined && { line }) } }
}

function mayHoldFeatures(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64 * 1024)).toString('latin1')
  return start.includes('"FeatureCollection"') || /"features"\s*:\s*\[/.test(start)
}

/** Reads the file twice, because members of the wrapper may follow the features, which are linted inside the wrapper. */
async function* features(reread: () => Promise<AsyncIterable<Uint8Array>>): AsyncGenerator<Piece> {
  const wrapper = await wrapperIn(await reread())
  if (!wrapper) return yield OVERSIZED
  const { features: _none, ...around } = wrapper
  const list = {}
  yield { documents: 0, task: { value: { ...around, features: [] } }, list }
  const after = JSON.stringify(around).slice(1)
  for await (const feature of featuresOf(await reread())) {
    yield { ...featurePiece(feature, after === '}' ? after : `,${after}`), list }
  }
}

async function wrapperIn(chunks: AsyncIterable<Uint8Array>): Promise<Readonly<Record<string, unknown>> | undefined> {
  const listed = featuresOf(chunks)
  try {
    for (;;) {
      const { done, value } = await listed.next()
      if (!done) continue
      const wrapper: unknown = JSON.parse(value)
      return isObject(wrapper) && kindOf(wrapper) === 'wrapper' ? wrapper : undefined
    }
  } catch (error) {
    if (isAuthError(error) && error.code !== 'DOC_TOO_LARGE') throw error
    return undefined
  }
}

const BEFORE = '{"features":['

/** Returns a piece with one feature in its wrapper; `placed` restores its position. */
function featurePiece({ text, index, line, column }: FeatureText, after: string): Piece {
  const shift = (place: number | undefined, onLine: number | undefined) =>
    place !== undefined && onLine === line ? place - BEFORE.length + column - 1 : place
  const placed = (problems: readonly Problem[]) =>
    problems
      .filter(({ pointer, code }) => pointer.startsWith('/features/0') || code === 'not-json')
      .map((problem) => ({
        ...problem,
        pointer: problem.pointer.replace('/features/0', `/features/${index}`),
        // Positions in the wrapper are not those of the file.
        ...(problem.cause && { cause: { pointer: problem.cause.pointer } }),
        ...(problem.column !== undefined && { column: shift(problem.column, problem.line) }),
        ...(problem.endColumn !== undefined && { endColumn: shift(problem.endColumn, problem.endLine) }),
      }))
  return { task: { text: `${BEFORE}${text}]${after}`, line }, placed }
}

/** Yields the rows of a Parquet file; pointers start with the number of the row. */
async function* rows(name: string, head: Head, isFile: boolean): AsyncGenerator<Piece> {
  const source = isFile ? name : await wholeOf(head)
  await head.close()
  if (source === undefined) return yield OVERSIZED
  const list = {}
  for await (const { index, item, parents } of parquetItems(source, name)) {
    const placed = (problems: readonly Problem[]) => problems.map((problem) => ({ ...problem, pointer: `/${index}${problem.pointer}` }))
    yield { documents: 1, task: { value: item, parents }, placed, list }
  }
}

/** The first bytes of a stream, and the full stream. */
interface Head {
  readonly bytes: Uint8Array
  readonly chunks: AsyncIterable<Uint8Array>
  /** True if `bytes` is the full stream. */
  readonly ended: boolean
  /** Closes the stream. */
  close(): Promise<unknown>
}

/** Reads until `isEnough`, the end, or the size limit of a document. */
async function headOf(chunks: AsyncIterable<Uint8Array>, isEnough: (bytes: Uint8Array) => boolean): Promise<Head> {
  const rest = chunks[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let size = 0
  let ended = false
  // Checked each time the size has doubled, so that a long first line costs at most twice its length.
  for (let next = 1; !ended && size <= DOCUMENT_LIMITS.other; ) {
    const { done = false, value } = await rest.next()
    ended = done
    if (done) break
    read.push(value)
    size += value.length
    if (size < next) continue
    if (isEnough(joined(read))) break
    next = size * 2
  }
  return { bytes: joined(read), chunks: again(read, rest), ended, close: async () => rest.return?.() }
}

/** Concatenates chunks; a single chunk is not copied. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts)
}

async function* again(read: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = read.shift(); chunk; chunk = read.shift()) yield chunk
    yield* { [Symbol.asyncIterator]: () => rest }
  } finally {
    await rest.return?.()
  }
}

const LINE_FEED = 0x0a

/**
 * Returns true for NDJSON: the first line is JSON, or it is malformed and the second one is an object. A first line that is only
 * incomplete is part of a document with several lines.
 */
function isNdjson({ bytes, ended }: Pick<Head, 'bytes' | 'ended'>): boolean {
  // A single line is not NDJSON and need not be decoded.
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0 || end === bytes.length - 1) return false
  const [first, second] = firstLines(bytes, ended)
  if (first === undefined || second === undefined) return false
  const wrong = scan(first)
  if (wrong === undefined) return true
  return wrong < first.trimEnd().length && second.trimStart().startsWith('{') && scan(second) === undefined
}

/** Returns the first two lines that are not blank; the last one only if it is complete. */
function firstLines(bytes: Uint8Array, ended = false): readonly string[] {
  const lines: string[] = []
  for (let from = 0; from < bytes.length && lines.length < 2; ) {
    const at = bytes.indexOf(LINE_FEED, from)
    if (at < 0 && !ended) break
    const line = new TextDecoder().decode(bytes.subarray(from, at < 0 ? bytes.length : at))
    if (line.trim() !== '') lines.push(line)
    from = at < 0 ? bytes.length : at + 1
  }
  return lines
}

/** Where the bytes of an input come from. */
interface Source {
  readonly chunks: AsyncIterable<Uint8Array>
  /** The final URL. */
  readonly url?: string
}

/** Opens a file, a URL or stdin (`-`). Errors, here or while reading: `FILE_ACCESS`, `ABORTED`, those of `auth.fetch`. */
async function openInput(name: string, io: Io, auth: () => Promise<Auth>): Promise<Source> {
  if (isAddress(name)) return fetchBody(name, io.signal, await auth())
  if (name === '-') return { chunks: streamed(io.stdin, name, io.signal) }
  return { chunks: streamed(createReadStream(name, { highWaterMark: CHUNK }), name, io.signal) }
}

/** Size limit of files that are read at once, and chunk size of larger files, in bytes. */
const SMALL = 2 ** 20
const CHUNK = 2 ** 16

/** Does not block if the file has just been replaced by a pipe. Windows has no `O_NONBLOCK`. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Reads a small file synchronously, which is much faster than a stream; undefined for a larger one. Errors: `FILE_ACCESS`. */
function readAtOnce(name: string): Uint8Array | undefined {
  try {
    const file = openSync(name, AT_ONCE)
    try {
      const stats = fstatSync(file)
      return stats.isFile() && stats.size > 0 && stats.size <= SMALL ? readFileSync(file) : undefined
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw readFailure(error, name)
  }
}

/** Decompresses gzip. Errors: `FILE_INTEGRITY` for damaged or truncated data. */
async function* unpacked(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let failed: unknown
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks
    } catch (error) {
      failed = error
      throw error
    }
  }
  try {
    yield* pipeline(watched, createGunzip(), () => {}) as AsyncIterable<Uint8Array>
  } catch (error) {
    if (failed !== undefined) throw failed
    throw isAuthError(error)
      ? error
      : new IntegrityError('FILE_INTEGRITY', `cannot read "${name}" as gzip: the file is damaged or truncated`)
  }
}

async function* streamed(stream: Readable, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  } catch (error) {
    throw signal.aborted ? new AbortedError(signal.reason) : failureOf(error, name)
  } finally {
    stream.destroy()
  }
}

function failureOf(error: unknown, name: string): AuthError {
  return isAuthError(error) ? error : readFailure(systemCode(error) === 'ABORT_ERR' ? new Error('stopped') : error, name)
}
