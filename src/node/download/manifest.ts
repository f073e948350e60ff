/** What was downloaded into a folder, so that later runs notice files that have changed since: a file of lines that only grows. */

import { createHash } from 'node:crypto'
import { closeSync, constants, createReadStream, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { isObject, ownString } from '../../stac/json.ts'
import { plainSuffix } from '../../text/file-name.ts'
import { presentFile } from '../files.ts'
import { readFailure, writeFailure } from '../system-error.ts'
import { newPath } from '../write-file.ts'
import type { DownloadOptions } from './download.ts'
import type { DownloadFile } from './events.ts'

/** One file of a manifest. No URL in it has a query, for that may be a secret. */
export interface ManifestEntry {
  /** Below the folder, with `/` between its parts. */
  readonly path: string
  /** Origin and path. */
  readonly url: string
  /** True when the URL had a query, without which it may not give the file. */
  readonly hadQuery?: true
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
  /** Validators of the server (RFC 9110 §8.8). */
  readonly etag?: string
  readonly lastModified?: string
  /** When it was complete, in ISO 8601. */
  readonly time: string
  /** Milliseconds: when the file system says that it was written. */
  readonly modified?: number
  /** The end of `path` that the server has proposed: it was planned without. */
  readonly suffix?: string
}

/** The suffix that a server has proposed for a file. It is noted before the file gets its name, so that this name is found again. */
interface ProposedSuffix {
  /** As it was planned, below the folder. */
  readonly name: string
  /** Origin and path. */
  readonly url: string
  readonly suffix: string
}

/** The suffixes that a manifest tells of; the last line about a name counts. */
class Suffixes {
  /** By planned names. */
  readonly #proposed = new Map<string, ProposedSuffix>()
  /** Planned names by those that files have got. */
  readonly #bases = new Map<string, string>()

  /** The suffix of a file of that planned name and URL; undefined for none. */
  of(name: string, url: string): string | undefined {
    const proposed = this.#proposed.get(name)
    return proposed?.url === url ? proposed.suffix : undefined
  }

  /** The planned name of the file that has got this one. */
  baseOf(path: string): string | undefined {
    return this.#bases.get(path)
  }

  add(proposed: ProposedSuffix): void {
    this.#proposed.set(proposed.name, proposed)
    this.#bases.set(proposed.name + proposed.suffix, proposed.name)
  }

  /** A file has come; a name that was planned as it is belongs to no other file any more. */
  written({ path, url, suffix }: ManifestEntry): void {
    const base = this.#bases.get(path)
    if (suffix !== undefined) this.add({ name: path.slice(0, -suffix.length), url, suffix })
    if (suffix !== undefined || base === undefined) return
    this.#bases.delete(path)
    const proposed = this.#proposed.get(base)
    if (proposed && base + proposed.suffix === path) this.#proposed.delete(base)
  }
}

/** The manifest of a folder, where no other name is given. No file of a download begins with a dot. */
export const MANIFEST_NAME = '.stac-auth-manifest'

/** Bytes of a line. */
const LONGEST_LINE = 2 ** 17

const HEADER = { format: 'stac-auth/manifest', version: 1 }

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_RDWR } = constants

/** Writes entries line by line, each by one call of the system, so that the lines of two processes do not mix. */
class Lines {
  readonly #file: number

  /** Errors: those of the system. */
  constructor(path: string, flags: number) {
    this.#file = openSync(path, flags | O_NOFOLLOW, 0o666)
    const { size } = fstatSync(this.#file)
    if (size === 0) this.add(HEADER)
    else if (!endsWhole(this.#file, size)) writeSync(this.#file, '\n')
  }

  add(line: unknown): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
  }

  close(): void {
    try {
      fsyncSync(this.#file)
    } finally {
      closeSync(this.#file)
    }
  }
}

/** False where a process was killed within a line. */
function endsWhole(file: number, size: number): boolean {
  const last = Buffer.alloc(1)
  return readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 10
}

/** The manifest that a folder has: what it says by path, the last line counts. */
class FolderManifest {
  readonly suffixes: Suffixes
  readonly #path: string
  readonly #entries: Map<string, ManifestEntry>
  #lines: Lines | undefined

  private constructor(path: string, entries: Map<string, ManifestEntry>, suffixes: Suffixes) {
    this.#path = path
    this.#entries = entries
    this.suffixes = suffixes
  }

  /** Reads what earlier runs have left. Errors: `PATH_UNSAFE` for what is no regular file, `FILE_ACCESS`. */
  static async open(folder: string): Promise<FolderManifest> {
    const path = join(folder, MANIFEST_NAME)
    const entries = new Map<string, ManifestEntry>()
    const suffixes = new Suffixes()
    if (presentFile(path))
      for await (const line of readLines(path)) {
        if (isProposed(line)) suffixes.add(line)
        if (!isEntry(line)) continue
        entries.set(line.path, line)
        suffixes.written(line)
      }
    return new FolderManifest(path, entries, suffixes)
  }

  get(path: string): ManifestEntry | undefined {
    return this.#entries.get(path)
  }

  /** Errors: `FILE_ACCESS`, `DISK_FULL`, `PATH_UNSAFE`. */
  add(entry: ManifestEntry): void {
    this.#entries.set(entry.path, entry)
    this.suffixes.written(entry)
    this.#write(entry)
  }

  /** Errors: as of {@link add}. */
  propose(proposed: ProposedSuffix): void {
    this.suffixes.add(proposed)
    this.#write(proposed)
  }

  #write(line: ManifestEntry | ProposedSuffix): void {
    try {
      presentFile(this.#path)
      this.#lines ??= new Lines(this.#path, O_RDWR | O_CREAT | O_APPEND)
      this.#lines.add(line)
    } catch (error) {
      throw writeFailure(error, `"${this.#path}"`)
    }
  }

  /** Throws nothing. */
  close(): void {
    try {
      this.#lines?.close()
    } catch {
      // What is missing of it makes a later run compare less.
    }
  }
}

/** A manifest of its own for the files of one run. */
class NewManifest {
  readonly #path: string
  readonly #part: string
  readonly #lines: Lines

  private constructor(path: string, part: string) {
    this.#path = path
    this.#part = part
    this.#lines = new Lines(part, O_RDWR | O_CREAT | O_EXCL | O_APPEND)
  }

  /**
   * Begins one; a manifest of that name is replaced once the new one is complete.
   *
   * Errors: `PATH_EXISTS` for any other file of that name, `PATH_UNSAFE`, `PATH_BUSY`, `DISK_FULL`, `FILE_ACCESS`.
   */
  static async begin(name: string): Promise<NewManifest> {
    const path = await newPath(name, true)
    if (presentFile(path) && !isManifest(path))
      throw new IntegrityError('PATH_EXISTS', `"${name}" exists already and is not a manifest`, {
        hint: 'remove it or choose another name',
      })
    try {
      return new NewManifest(path, `${path}.${process.pid}.part`)
    } catch (error) {
      throw writeFailure(error, `"${name}"`)
    }
  }

  /** Errors: `DISK_FULL`, `FILE_ACCESS`. */
  add(entry: ManifestEntry): void {
    try {
      this.#lines.add(entry)
    } catch (error) {
      throw writeFailure(error, `"${this.#path}"`)
    }
  }

  /** Gives it its name. Errors: `DISK_FULL`, `FILE_ACCESS`. */
  async complete(): Promise<void> {
    try {
      this.#lines.close()
      await rename(this.#part, this.#path)
    } catch (error) {
      await this.discard()
      throw writeFailure(error, `"${this.#path}"`)
    }
  }

  /** Throws nothing. */
  async discard(): Promise<void> {
    await rm(this.#part, { force: true }).catch(() => undefined)
  }
}

/** The entries of a manifest in the order of its lines; what is no entry is left out. Errors: `FILE_ACCESS`, also for a later version. */
export async function* readManifest(path: string): AsyncGenerator<ManifestEntry> {
  for await (const line of readLines(path)) if (isEntry(line)) yield line
}

async function* readLines(path: string): AsyncGenerator<unknown> {
  const input = createReadStream(path, { flags: (O_RDONLY | O_NOFOLLOW | O_NONBLOCK) as unknown as string })
  try {
    for await (const line of linesIn(input)) {
      const value = parsed(line)
      if (isObject(value) && value.format === HEADER.format && value.version !== HEADER.version)
        throw new IntegrityError('FILE_ACCESS', `cannot read "${path}": it is a manifest of another version of stac-auth`)
      yield value
    }
  } catch (error) {
    throw error instanceof IntegrityError ? error : readFailure(error, path)
  } finally {
    input.destroy()
  }
}

/** The lines of a file; what is longer than any of ours is left out without being kept, for the file may be somebody else's. */
async function* linesIn(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
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

/** The SHA-256 of a file, or another hash of it, in lower-case hex. Errors: `FILE_ACCESS`. */
export async function fileDigest(path: string, algorithm = 'sha256'): Promise<string> {
  const hash = createHash(algorithm)
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk as Uint8Array)
  } catch (error) {
    throw readFailure(error, path)
  }
  return hash.digest('hex')
}

/** The first line says it. */
function isManifest(path: string): boolean {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW)
  try {
    const head = Buffer.alloc(200)
    const [line = ''] = head
      .subarray(0, readSync(file, head, 0, head.length, 0))
      .toString()
      .split('\n')
    const value = parsed(line)
    return isObject(value) && value.format === HEADER.format
  } finally {
    closeSync(file)
  }
}

function isEntry(value: unknown): value is ManifestEntry {
  if (!isObject(value)) return false
  const { path, url, size, sha256, etag, lastModified, time, modified, hadQuery, suffix } = value
  const isText = (text: unknown) => text === undefined || typeof text === 'string'
  return (
    [path, url, time].every((text) => typeof text === 'string' && text.length <= 10_000) &&
    Number.isSafeInteger(size) &&
    /^[0-9a-f]{64}$/.test(ownString(value, 'sha256') ?? String(sha256)) &&
    isText(etag) &&
    isText(lastModified) &&
    (modified === undefined || Number.isFinite(modified)) &&
    (hadQuery === undefined || hadQuery === true) &&
    (suffix === undefined || (isSuffix(suffix) && String(path).endsWith(suffix)))
  )
}

function isProposed(value: unknown): value is ProposedSuffix {
  if (!isObject(value)) return false
  const { name, url, suffix } = value
  return [name, url].every((text) => typeof text === 'string' && text.length <= 10_000) && isSuffix(suffix)
}

/** A manifest may be somebody else's. */
function isSuffix(value: unknown): value is string {
  return typeof value === 'string' && plainSuffix(`x${value}`) === value && value !== ''
}

/** A line that was being written when its process ended is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** What a server said about a file that has come. */
type Origin = Pick<ManifestEntry, 'sha256' | 'etag' | 'lastModified' | 'suffix'> & { readonly hadQuery: boolean }

export class DownloadRecord {
  /** That servers have proposed. */
  readonly suffixes: Suffixes
  readonly #folder: FolderManifest | undefined
  readonly #extra: NewManifest | undefined
  /** Why nothing is noted, as long as nobody has heard of it. */
  #problem: AuthError | undefined
  #isReported = false
  /** Why the manifest that was asked for cannot be written. */
  #failure: unknown

  private constructor(folder: FolderManifest | undefined, extra: NewManifest | undefined, problem: AuthError | undefined) {
    this.#folder = folder
    this.suffixes = folder?.suffixes ?? new Suffixes()
    this.#extra = extra
    this.#problem = problem
  }

  /**
   * Reads what earlier runs have noted; that it cannot be read is a warning at the first file.
   *
   * Errors: those of {@link NewManifest.begin}.
   */
  static async open(folder: string, { manifest, dryRun }: Pick<DownloadOptions, 'manifest' | 'dryRun'>): Promise<DownloadRecord> {
    if (dryRun) return new DownloadRecord(undefined, undefined, undefined)
    const extra = manifest === undefined ? undefined : await NewManifest.begin(manifest)
    try {
      return new DownloadRecord(await FolderManifest.open(folder), extra, undefined)
    } catch (error) {
      if (!isAuthError(error)) throw error
      return new DownloadRecord(undefined, extra, error)
    }
  }

  /** What an earlier run has noted about the file of that place and that URL. */
  known({ name, url }: DownloadFile): ManifestEntry | undefined {
    const entry = this.#folder?.get(name)
    return entry?.url === url ? entry : undefined
  }

  /**
   * What speaks against a file that is there, by what was noted: another size, or other bytes where it was written since.
   *
   * Errors: `FILE_ACCESS`.
   */
  async difference(entry: ManifestEntry, path: string): Promise<string | undefined> {
    const present = presentFile(path)
    if (!present) return 'it does not exist'
    if (present.size !== entry.size) return `it has ${present.size} bytes and had ${entry.size}`
    if (present.mtimeMs === entry.modified) return undefined
    if ((await fileDigest(path)) !== entry.sha256) return 'its content has changed'
    this.#note({ ...entry, modified: present.mtimeMs })
    return undefined
  }

  /** A file is about to get its name, with that suffix. */
  proposed({ name, url }: DownloadFile, suffix: string): void {
    if (this.suffixes.of(name, url) === suffix) return
    const proposed = { name, url, suffix }
    this.suffixes.add(proposed)
    this.#noted(() => this.#folder?.propose(proposed))
  }

  /** A file is complete. Gives why it could not be noted, once. */
  written({ name, path, url }: DownloadFile, bytes: number, { hadQuery, ...origin }: Origin): AuthError | undefined {
    const modified = presentFile(path)?.mtimeMs
    const time = new Date().toISOString()
    const entry = {
      path: name,
      url,
      ...(hadQuery && { hadQuery }),
      size: bytes,
      ...origin,
      time,
      ...(modified !== undefined && { modified }),
    }
    this.#note(entry)
    this.#list(entry)
    return this.#reportOnce()
  }

  /** A file stays. Gives why what is known could not be noted, once. Errors: `FILE_ACCESS`. */
  async kept(file: DownloadFile, bytes: number, hadQuery: boolean): Promise<AuthError | undefined> {
    if (!this.#extra) return this.#reportOnce()
    const { name: path, url } = file
    const time = new Date().toISOString()
    const entry = this.known(file) ?? { path, url, ...(hadQuery && { hadQuery }), size: bytes, sha256: await fileDigest(file.path), time }
    this.#list(entry)
    return this.#reportOnce()
  }

  /** Errors: those of the manifest that was asked for. */
  async close(): Promise<void> {
    this.#folder?.close()
    if (this.#failure === undefined) await this.#extra?.complete()
    else {
      await this.#extra?.discard()
      throw this.#failure
    }
  }

  /** What is downloaded stays, whether or not there is room for the manifest. */
  #list(entry: ManifestEntry): void {
    try {
      if (this.#failure === undefined) this.#extra?.add(withoutPlace(entry))
    } catch (error) {
      this.#failure = error
    }
  }

  #note(entry: ManifestEntry): void {
    this.#noted(() => this.#folder?.add(entry))
  }

  #noted(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (!isAuthError(error)) throw error
      this.#problem ??= error
    }
  }

  #reportOnce(): AuthError | undefined {
    if (this.#isReported) return undefined
    this.#isReported = this.#problem !== undefined
    return this.#problem
  }
}

/** When a file was written says nothing about a copy of it. */
function withoutPlace({ modified: _modified, ...entry }: ManifestEntry): ManifestEntry {
  return entry
}
