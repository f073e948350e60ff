/** The manifest of a folder: an append-only file that records each download, so that later runs detect changed files. */

import { createHash } from 'node:crypto'
import { closeSync, constants, createReadStream, fstatSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { IntegrityError } from '../../errors.ts'
import { isObject, ownString } from '../../stac/document.ts'
import { plainSuffix } from '../../text/file-name.ts'
import { presentFile, renameWhenFree } from '../base/files.ts'
import { readFailure, writeFailure } from '../base/system-error.ts'
import { newPath } from '../base/write-file.ts'

/** What differs from the document of a file: its size, its checksum, or its format. */
export type Unverified = 'size' | 'checksum' | 'type'

const UNVERIFIED: readonly unknown[] = ['size', 'checksum', 'type'] satisfies readonly Unverified[]

/** One file of a manifest. Its URL has no query, which may be secret. */
export interface ManifestEntry {
  /** Path below the folder, with `/` as separator. */
  readonly path: string
  /** Origin and path of the URL. */
  readonly url: string
  /** True if the URL had a query, without which it may not return the file. */
  readonly hadQuery?: true
  /** Size in bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
  /** Validators of the server (RFC 9110 §8.8). */
  readonly etag?: string
  /** The `Last-Modified` of the response. */
  readonly lastModified?: string
  /** Time of completion, ISO 8601. */
  readonly time: string
  /** Modification time of the file, epoch milliseconds. */
  readonly modified?: number
  /** Suffix of `path` that the server proposed: the planned name lacks it. */
  readonly suffix?: string
  /** What differs from the document, for a file that was downloaded with `trustServer`. */
  readonly unverified?: readonly Unverified[]
}

/** Default name of the manifest of a folder. No downloaded file begins with a dot. */
export const MANIFEST_NAME = '.stac-auth-manifest'

/** Longest line in bytes. */
const LONGEST_LINE = 2 ** 17

/** The first line of a manifest. */
export const MANIFEST_HEADER = { format: 'stac-auth/manifest', version: 1 }

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_RDWR } = constants

/** Appends entries, each with one system call, so that the lines of two processes do not mix. */
class Lines {
  readonly #file: number
  #isClosed = false

  /** Opens the file; one whose first line cannot be written is closed, and removed if it is new. Errors: those of the system, `PATH_EXISTS`. */
  constructor(path: string, flags: number) {
    this.#file = openSync(path, flags | O_NOFOLLOW, 0o666)
    try {
      const { size, nlink } = fstatSync(this.#file)
      // A file with a second name may be anybody's, also an empty one. Some network file systems count no name.
      if (size === 0 && nlink < 2) this.add(MANIFEST_HEADER)
      else if (!startsAsManifest(this.#file)) throw notManifest(path)
      else if (!endsWhole(this.#file, size)) writeSync(this.#file, '\n')
    } catch (error) {
      closeSync(this.#file)
      if (flags & O_EXCL) rmSync(path, { force: true })
      throw error
    }
  }

  add(line: unknown): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
  }

  /** Closes the file; a second call does nothing, because its number may be that of another file by then. Errors: those of the system. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      fsyncSync(this.#file)
    } finally {
      closeSync(this.#file)
    }
  }
}

function notManifest(name: string): IntegrityError {
  return new IntegrityError('PATH_EXISTS', `"${name}" exists already and is not a manifest`, { hint: 'remove it or choose another name' })
}

/** Returns false if a process was killed within a line. */
function endsWhole(file: number, size: number): boolean {
  const last = Buffer.alloc(1)
  return readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 10
}

/** Keeps the lines of a manifest. */
export interface ManifestStore {
  /** Yields the lines of earlier runs. Errors: `PATH_UNSAFE`, `FILE_ACCESS`. */
  read(): AsyncIterable<unknown>
  /** Appends a line. Errors: `FILE_ACCESS`, `DISK_FULL`, `PATH_UNSAFE`, `PATH_EXISTS`. */
  add(line: ManifestEntry): void
  /** Ends writing. Errors: those of writing. */
  close(): Promise<void>
}

/** A manifest in a file. */
export class FileManifest implements ManifestStore {
  readonly #path: string
  #lines: Lines | undefined

  constructor(path: string) {
    this.#path = path
  }

  async *read(): AsyncGenerator<unknown> {
    if (presentFile(this.#path)) yield* readLines(this.#path)
  }

  add(line: ManifestEntry): void {
    try {
      presentFile(this.#path)
      this.#lines ??= new Lines(this.#path, O_RDWR | O_CREAT | O_APPEND)
      this.#lines.add(line)
    } catch (error) {
      throw error instanceof IntegrityError ? error : writeFailure(error, `"${this.#path}"`)
    }
  }

  async close(): Promise<void> {
    this.#lines?.close()
  }
}

/** A separate manifest of the files of one run. */
export class NewManifest {
  readonly #path: string
  readonly #part: string
  readonly #lines: Lines

  private constructor(path: string, part: string) {
    this.#path = path
    this.#part = part
    this.#lines = new Lines(part, O_RDWR | O_CREAT | O_EXCL | O_APPEND)
  }

  /**
   * Starts a manifest; it replaces one of that name once it is complete.
   *
   * Errors: `PATH_EXISTS` for any other file of that name, `PATH_UNSAFE`, `PATH_BUSY`, `DISK_FULL`, `FILE_ACCESS`.
   */
  static async begin(name: string): Promise<NewManifest> {
    const path = await newPath(name, true)
    if (presentFile(path) && !isManifest(path)) throw notManifest(name)
    try {
      return new NewManifest(path, `${path}.${process.pid}.part`)
    } catch (error) {
      throw writeFailure(error, `"${name}"`)
    }
  }

  /** Appends an entry. Errors: `DISK_FULL`, `FILE_ACCESS`. */
  add(entry: ManifestEntry): void {
    try {
      this.#lines.add(entry)
    } catch (error) {
      throw writeFailure(error, `"${this.#path}"`)
    }
  }

  /** Gives the manifest its final name. Errors: `DISK_FULL`, `FILE_ACCESS`. */
  async complete(): Promise<void> {
    try {
      this.#lines.close()
      await renameWhenFree(this.#part, this.#path)
    } catch (error) {
      await this.discard()
      throw writeFailure(error, `"${this.#path}"`)
    }
  }

  /** Discards an incomplete manifest. Throws nothing. */
  async discard(): Promise<void> {
    try {
      this.#lines.close()
    } catch {
      // Nobody needs what was not written.
    }
    await rm(this.#part, { force: true }).catch(() => undefined)
  }
}

/** Yields the entries of a manifest in line order; skips malformed lines. Errors: `FILE_ACCESS`, also for an unsupported version. */
export async function* readManifest(path: string): AsyncGenerator<ManifestEntry> {
  for await (const line of readLines(path)) if (isManifestLine(line)) yield line
}

async function* readLines(path: string): AsyncGenerator<unknown> {
  const input = createReadStream(path, { flags: (O_RDONLY | O_NOFOLLOW | O_NONBLOCK) as unknown as string })
  try {
    for await (const line of linesIn(input)) yield requireKnownVersion(line, path)
  } catch (error) {
    throw error instanceof IntegrityError ? error : readFailure(error, path)
  } finally {
    input.destroy()
  }
}

/** Returns the value of a line; undefined if it is torn. Errors: `FILE_ACCESS` for the first line of another version. */
export function requireKnownVersion(line: string, name: string): unknown {
  const value = parsed(line)
  if (isObject(value) && value.format === MANIFEST_HEADER.format && value.version !== MANIFEST_HEADER.version)
    throw new IntegrityError('FILE_ACCESS', `cannot read "${name}": it is a manifest of another version of stac-auth`)
  return value
}

/** Yields the lines of a file; skips overlong ones without buffering them, because the file may be a different one. */
export async function* linesIn(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let held: Uint8Array[] = []
  let length = 0
  const end = (last: Uint8Array) => {
    const line = length + last.length <= LONGEST_LINE ? Buffer.concat([...held, last]).toString() : ''
    held = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield end(chunk.subarray(from, at))
      from = at + 1
    }
    const rest = chunk.subarray(from)
    length += rest.length
    if (length <= LONGEST_LINE) held.push(rest)
    else held = []
  }
  yield end(new Uint8Array())
}

/** Returns the SHA-256 or another hash of a file in lower-case hex. Errors: `FILE_ACCESS`. */
export async function fileDigest(path: string, algorithm = 'sha256'): Promise<string> {
  const hash = createHash(algorithm)
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk as Uint8Array)
  } catch (error) {
    throw readFailure(error, path)
  }
  return hash.digest('hex')
}

function isManifest(path: string): boolean {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW)
  try {
    return startsAsManifest(file)
  } finally {
    closeSync(file)
  }
}

/** Checks the first line. */
function startsAsManifest(file: number): boolean {
  const head = Buffer.alloc(200)
  const [line = ''] = head
    .subarray(0, readSync(file, head, 0, head.length, 0))
    .toString()
    .split('\n')
  const value = parsed(line)
  return isObject(value) && value.format === MANIFEST_HEADER.format
}

/** Returns true for a well-formed entry; it may come from another person. */
export function isManifestLine(value: unknown): value is ManifestEntry {
  if (!isObject(value)) return false
  const { path, url, size, sha256, etag, lastModified, time, modified, hadQuery, suffix, unverified } = value
  const isText = (text: unknown) => text === undefined || typeof text === 'string'
  return (
    [path, url, time].every((text) => typeof text === 'string' && text.length <= 10_000) &&
    Number.isSafeInteger(size) &&
    Number(size) >= 0 &&
    /^[0-9a-f]{64}$/.test(ownString(value, 'sha256') ?? String(sha256)) &&
    isText(etag) &&
    isText(lastModified) &&
    (modified === undefined || Number.isFinite(modified)) &&
    (hadQuery === undefined || hadQuery === true) &&
    (suffix === undefined || (isSuffix(suffix) && String(path).endsWith(suffix))) &&
    (unverified === undefined ||
      (Array.isArray(unverified) && unverified.length > 0 && unverified.every((one) => UNVERIFIED.includes(one))))
  )
}

/** Returns true for a suffix that a server may propose. */
export function isSuffix(value: unknown): value is string {
  return typeof value === 'string' && plainSuffix(`x${value}`) === value && value !== ''
}

/** A torn last line is ignored. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
