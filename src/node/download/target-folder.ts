/** The target folder of a download, outside of which nothing is written, and small files in it, which are written in one go. */

import { createHash } from 'node:crypto'
import { closeSync, fsync, linkSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { IntegrityError, isAuthError } from '../../errors.ts'
import { httpsForm } from '../../http/url.ts'
import type { Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { checkFolder, presentFile, syncFolder } from '../files.ts'
import { fileAppeared, notWrittenThrough, systemCode, writeFailure } from '../system-error.ts'
import { type LockHolder, newHolder, stateOf, tryLock } from '../tokens/process-lock.ts'
import { readPartJournal } from './part-journal.ts'

export class TargetFolder {
  /** The real path, without links. */
  readonly path: string
  /** Files of which an earlier run has left a part, by folder. */
  readonly #made = new Map<string, Promise<ReadonlySet<string>>>()

  private constructor(path: string) {
    this.path = path
  }

  /**
   * Resolves the folder once; with `mayBeMissing` it need not exist. Errors: `FILE_ACCESS`, `PATH_UNSAFE` if it is not a folder.
   */
  static async open(name: string, mayBeMissing = false): Promise<TargetFolder> {
    try {
      const path = await realpath(name)
      if ((await lstat(path)).isDirectory()) return new TargetFolder(path)
    } catch (error) {
      if (mayBeMissing && systemCode(error) === 'ENOENT') return new TargetFolder(resolve(name))
      throw writeFailure(error, `"${name}"`)
    }
    throw new IntegrityError('PATH_UNSAFE', `"${name}" is not a folder`, { hint: 'choose another name' })
  }

  /** Returns the path of a file; each segment is a safe name. */
  pathOf(segments: readonly string[]): string {
    const path = join(this.path, ...segments)
    const isBelow = segments.every((segment) => segment !== '' && segment !== '..' && segment !== '.' && !/[/\\]/.test(segment))
    if (isBelow && segments.length > 0 && path.startsWith(this.path)) return path
    throw new IntegrityError('PATH_UNSAFE', `"${segments.join('/')}" leads out of "${this.path}"`)
  }

  /**
   * Makes the folder of a file and removes what killed processes have left there; does not follow a link.
   *
   * Returns whether an earlier run has left a part of the file. Errors: `PATH_UNSAFE`, `FILE_ACCESS`, `DISK_FULL`.
   */
  async prepare(path: string): Promise<{ readonly hasPart: boolean }> {
    return { hasPart: (await this.#prepared(dirname(path))).has(path) }
  }

  /** Syncs the folders, so that new names survive a power cut. */
  async sync(): Promise<void> {
    for (const folder of this.#made.keys()) await syncFolder(folder)
  }

  #prepared(folder: string): Promise<ReadonlySet<string>> {
    const known = this.#made.get(folder)
    if (known) return known
    const made = (folder === this.path ? Promise.resolve() : this.#make(folder)).then(() => clearLeftovers(folder))
    this.#made.set(folder, made)
    return made
  }

  async #make(folder: string): Promise<void> {
    await this.#prepared(dirname(folder))
    try {
      await mkdir(folder)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw writeFailure(error, `"${folder}${sep}"`)
      if ((await lstat(folder)).isDirectory()) return
      throw notWrittenThrough(`"${folder}" is a link or a file`)
    }
  }
}

/** The resolved URL of a target. */
interface TargetAddress {
  /** Origin of the first request; redirects may lead elsewhere. Empty if the href is not a URL. */
  readonly origin: string
  /** Origin and path, without secrets; the href itself if it is not a URL. */
  readonly bare: string
}

/** The URL of each target, resolved once, because every step of its download reads it. */
export function targetAddress(target: Target): TargetAddress {
  const { href, scope } = target
  const known = ADDRESSES.get(target)
  // The document may change between two downloads.
  if (known && known.href === href && known.base === scope.url) return known
  const address = { ...read(target), href, base: scope.url }
  ADDRESSES.set(target, address)
  return address
}

const ADDRESSES = new WeakMap<Target, TargetAddress & { readonly href: string; readonly base: string | undefined }>()

function read({ href: stated, scope: { url } }: Target): TargetAddress {
  const href = httpsForm(stated) ?? stated
  if (!canParseUrl(href, url)) return { origin: '', bare: bareOf(href) }
  const { origin, protocol, host, href: address } = new URL(href, url)
  return { origin: origin === 'null' ? `${protocol}//${host}` : origin, bare: bareOf(address) }
}

/** Returns a URL without query, fragment and user info, which may be secret. */
export function bareOf(address: string): string {
  return address.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}

/**
 * Removes files that cannot be resumed, and returns the paths of the files with a partial file. Throws nothing: a remaining file is reported
 * when it prevents a download.
 */
async function clearLeftovers(folder: string): Promise<ReadonlySet<string>> {
  const names = new Set(await readdir(folder).catch(() => []))
  const parts = new Set<string>()
  for (const name of names) {
    const path = join(folder, name)
    if (name.endsWith('.part') && !(await clearSmallPart(path))) parts.add(path.slice(0, -PART.length))
    else if (/\.part\.lock\.[0-9a-f.-]+$/.test(name)) await clearLock(path)
  }
  for (const name of names) {
    const [, base] = /^(.+)\.part\.(?:json|lock)$/s.exec(name) ?? []
    if (base !== undefined && !names.has(base + PART)) await clearLock(join(folder, `${base}.part.lock`), join(folder, `${base}.part.json`))
  }
  return parts
}

const PART = '.part'

/** Removes a lock whose holder is gone, and its journal. */
async function clearLock(lock: string, journal?: string): Promise<void> {
  const lease = await tryLock(lock).catch(() => undefined)
  if (!lease) return
  if (journal !== undefined && (await readPartJournal(journal))) await rm(journal, { force: true }).catch(() => undefined)
  await lease.release()
}

/**
 * Puts bytes into a new file: written beside it, brought to the disk, then named. What is beside it says whose it is, so that it can
 * be cleared away after a process that was killed.
 *
 * @param beside what the name of that one begins with
 *
 * Errors: `PATH_BUSY`, `PATH_EXISTS` for a file that is there unless it is to be replaced, `PATH_UNSAFE`, `DISK_FULL`, `FILE_ACCESS`.
 */
export async function writeSmallFile(path: string, chunks: readonly Uint8Array[], replace: boolean, beside = path): Promise<void> {
  const part = `${beside}.${await tag()}.part`
  let isOurs = false
  try {
    checkFolder(path)
    // Each of these is over before another thread would have heard of it; what waits for the disk does not keep others waiting.
    const file = openSync(part, 'wx', 0o666)
    isOurs = true
    try {
      for (const chunk of chunks) writeWhole(file, chunk)
      await synced(file)
    } finally {
      closeSync(file)
    }
    if (replace) renameSync(part, path)
    else named(part, path)
  } catch (error) {
    if (isOurs) await rm(part, { force: true }).catch(() => undefined)
    throw isAuthError(error) ? error : writeFailure(error, `"${path}"`)
  }
}

/** Removes such a part that nobody writes any more; false for any other file. Throws nothing. */
async function clearSmallPart(path: string): Promise<boolean> {
  const holder = await holderIn(path)
  if (!holder) return false
  const state = await stateOf(holder)
  const { mtimeMs = Date.now() } = (state === 'unknown' && (await lstat(path).catch(() => undefined))) || {}
  if (state === 'gone' || Date.now() - mtimeMs > LEFT_AFTER) await rm(path, { force: true }).catch(() => undefined)
  return true
}

/** Milliseconds after which nobody writes what is written at once, on whichever host; if somebody does, its file only fails. */
const LEFT_AFTER = 600_000

/** A second name for the same file fails where there is one; where a file system has none, it is looked at before. */
function named(part: string, path: string): void {
  try {
    linkSync(part, path)
  } catch (error) {
    if (systemCode(error) === 'EEXIST' || presentFile(path)) throw fileAppeared(path)
    renameSync(part, path)
    return
  }
  unlinkSync(part)
}

/** A disk that is full may take a part of it first. */
function writeWhole(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.byteLength; ) at += writeSync(file, chunk, at)
}

const synced = promisify(fsync)

let own: Promise<string> | undefined

/** This process, as a part of a name. */
function tag(): Promise<string> {
  own ??= newHolder().then(({ pid, started = '', place }) => `${pid}-${/^\d{1,20}$/.test(started) ? started : 0}-${placeMark(place)}`)
  return own
}

/** The process that a file name identifies, on any machine. */
async function holderIn(name: string): Promise<LockHolder | undefined> {
  const [, pid, started, mark] = /\.(\d{1,10})-(\d{1,20})-([0-9a-f]{8})\.part$/.exec(name) ?? []
  if (pid === undefined) return undefined
  const { id, place } = await newHolder()
  const isHere = placeMark(place) === mark
  return { id, pid: Number(pid), place: isHere ? place : '', ...(started !== '0' && started !== undefined && { started }) }
}

function placeMark(place: string): string {
  return createHash('sha256').update(place).digest('hex').slice(0, 8)
}
