/** The target folder of a download, outside of which nothing is written. */

import { lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { IntegrityError, isAuthError } from '../../../errors.ts'
import { httpsForm } from '../../../http/url.ts'
import type { Target } from '../../../stac/target.ts'
import { canParseUrl } from '../../../text/can-parse-url.ts'
import { headOf, presentFile, readRegularFile, syncFolder } from '../../base/files.ts'
import { tryLock } from '../../base/process-lock.ts'
import { notWrittenThrough, systemCode, writeFailure } from '../../base/system-error.ts'
import { DiskContent } from '../disk-content.ts'
import type { HashThread } from '../hash-thread.ts'
import { FileManifest, fileDigest, MANIFEST_NAME, type ManifestStore } from '../manifest.ts'
import { readPartJournal } from '../part-journal.ts'
import type { Content, Destination, OpenOptions, PresentFile } from './destination.ts'
import { clearSmallPart, writeSmallFile } from './small-file.ts'

/** A folder on the disk. */
export class TargetFolder implements Destination {
  readonly isLocal = true
  /** The real path, without links. */
  readonly path: string
  /** Files of which an earlier run has left a part, by folder. */
  readonly #made = new Map<string, Promise<ReadonlySet<string>>>()

  private constructor(path: string) {
    this.path = path
  }

  /**
   * Resolves the folder once; with `mayBeMissing` it need not exist. Errors: `FILE_ACCESS` with `hint` if it does not exist, `PATH_UNSAFE` if
   * it is not a folder.
   */
  static async open(name: string, mayBeMissing = false, hint = 'create it first'): Promise<TargetFolder> {
    try {
      const path = await realpath(name)
      if ((await lstat(path)).isDirectory()) return new TargetFolder(path)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw writeFailure(error, `"${name}"`)
      if (mayBeMissing) return new TargetFolder(resolve(name))
      throw new IntegrityError('FILE_ACCESS', `the folder "${name}" does not exist`, { hint })
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

  async present(path: string): Promise<PresentFile | undefined> {
    const stats = presentFile(path)
    return stats && { size: stats.size, modified: stats.mtimeMs }
  }

  digest(path: string, algorithm: string): Promise<string> {
    return fileDigest(path, algorithm)
  }

  async head(path: string, bytes: number): Promise<Uint8Array> {
    return headOf(path, bytes)
  }

  open(path: string, hashes: HashThread, options: OpenOptions): Promise<Content> {
    return DiskContent.open(path, hashes, options)
  }

  async readOwn(name: string, most: number): Promise<string | undefined> {
    const file = join(this.path, name)
    const reading = await readRegularFile(file, most)
    if (!('problem' in reading)) return Buffer.from(reading.bytes).toString()
    if (reading.problem === 'does not exist') return undefined
    throw new IntegrityError('FILE_ACCESS', `cannot read "${file}": it ${reading.problem}`)
  }

  async createOwn(name: string, text: string): Promise<boolean> {
    try {
      await writeSmallFile(join(this.path, name), [Buffer.from(text)], false)
      return true
    } catch (error) {
      if (isAuthError(error) && error.code === 'PATH_EXISTS') return false
      throw error
    }
  }

  get manifest(): ManifestStore {
    return new FileManifest(join(this.path, MANIFEST_NAME))
  }

  again(): Promise<TargetFolder> {
    return TargetFolder.open(this.path)
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
