/** The records of a download: the manifest of the destination, the manifest that was requested, and their entries of earlier runs. */

import { type AuthError, isAuthError } from '../../errors.ts'
import type { Destination } from './destination/destination.ts'
import type { DownloadFile, DownloadOptions } from './download.ts'
import { isManifestLine, isProposed, type ManifestEntry, type ManifestStore, NewManifest, type ProposedSuffix } from './manifest.ts'

/** Facts of the server about a completed file. */
export type ServerFacts = Pick<ManifestEntry, 'sha256' | 'etag' | 'lastModified' | 'suffix' | 'unverified'> & { readonly hadQuery: boolean }

/** The records that a transfer reads and writes for its file. */
export interface FileRecord {
  readonly suffixes: Pick<Suffixes, 'of' | 'baseOf'>
  known(file: DownloadFile): ManifestEntry | undefined
  difference(entry: ManifestEntry, path: string): Promise<string | undefined>
  proposed(file: DownloadFile, suffix: string): void
  /** Called before a complete file gets its name, so that another process knows the entry if this one dies. */
  completing?(file: DownloadFile, bytes: number, facts: ServerFacts): Promise<void>
  written(file: DownloadFile, bytes: number, facts: ServerFacts): Promise<AuthError | undefined>
  kept(file: DownloadFile, bytes: number, hadQuery: boolean): Promise<AuthError | undefined>
}

export class DownloadRecord implements FileRecord {
  /** The suffixes that servers proposed. */
  readonly suffixes = new Suffixes()
  readonly #destination: Destination
  /** The manifest of the destination; undefined if it cannot be used. */
  #store: ManifestStore | undefined
  /** The entries of the manifest; the last line of a path counts. */
  readonly #entries = new Map<string, ManifestEntry>()
  readonly #extra: NewManifest | undefined
  /** Why nothing can be recorded, until it was reported. */
  #problem: AuthError | undefined
  #isReported = false
  /** Why the requested manifest cannot be written. */
  #failure: unknown

  private constructor(destination: Destination, extra: NewManifest | undefined) {
    this.#destination = destination
    this.#extra = extra
  }

  /**
   * Reads the entries of earlier runs. Failing to read them is a warning at the first file; of a bucket, nothing can be written either.
   *
   * Errors: those of {@link NewManifest.begin}, and of the bucket.
   */
  static async open(destination: Destination, { manifest, dryRun }: Pick<DownloadOptions, 'manifest' | 'dryRun'>): Promise<DownloadRecord> {
    if (dryRun) return new DownloadRecord(destination, undefined)
    const extra = manifest === undefined ? undefined : await NewManifest.begin(manifest)
    const record = new DownloadRecord(destination, extra)
    try {
      const store = destination.manifest
      for await (const line of store.read()) {
        if (isProposed(line)) record.suffixes.add(line)
        if (isManifestLine(line)) record.#keep(line)
      }
      record.#store = store
      return record
    } catch (error) {
      if (!isAuthError(error) || !destination.isLocal) {
        await extra?.discard()
        throw error
      }
      const empty = new DownloadRecord(destination, extra)
      empty.#problem = error
      return empty
    }
  }

  /** Returns the entry of an earlier run for that path and URL. */
  known({ name, url }: DownloadFile): ManifestEntry | undefined {
    const entry = this.#entries.get(name)
    return entry?.url === url ? entry : undefined
  }

  /**
   * Returns how an existing file differs from its entry: another size, or other bytes if it was modified since; undefined if it does not.
   *
   * Errors: `FILE_ACCESS`.
   */
  async difference(entry: ManifestEntry, path: string): Promise<string | undefined> {
    const found = await differenceOf(entry, path, this.#destination)
    if (typeof found === 'string') return found
    if (found !== entry.modified) this.#note({ ...entry, modified: found })
    return undefined
  }

  /** Records the suffix of a file before it is named. */
  proposed({ name, url }: DownloadFile, suffix: string): void {
    if (this.suffixes.of(name, url) === suffix) return
    const proposed = { name, url, suffix }
    this.suffixes.add(proposed)
    this.#append(proposed)
  }

  /** Records a completed file. Returns the reason if it could not be recorded, once. */
  async written(file: DownloadFile, bytes: number, facts: ServerFacts): Promise<AuthError | undefined> {
    const { modified } = (await this.#destination.present(file.path)) ?? {}
    return this.add({ ...manifestLine(file, bytes, facts), ...(modified !== undefined && { modified }) })
  }

  /** Records the entry of a file that another process has written. Returns the reason if it could not be recorded, once. */
  add(entry: ManifestEntry): AuthError | undefined {
    this.#note(entry)
    this.#list(entry)
    return this.#reportOnce()
  }

  /** Adds the entry of a file that another process has kept to the requested manifest. */
  addKept(entry: ManifestEntry): AuthError | undefined {
    this.#list(entry)
    return this.#reportOnce()
  }

  /** True if a manifest was requested. */
  get isRequested(): boolean {
    return this.#extra !== undefined
  }

  /** Records a kept file. Returns the reason if it could not be recorded, once. Errors: `FILE_ACCESS`. */
  async kept(file: DownloadFile, bytes: number, hadQuery: boolean): Promise<AuthError | undefined> {
    if (!this.#extra) return this.#reportOnce()
    const entry = this.known(file) ?? manifestLine(file, bytes, { sha256: await this.#destination.digest(file.path, 'sha256'), hadQuery })
    this.#list(entry)
    return this.#reportOnce()
  }

  /** Completes the manifests. Errors: those of the requested manifest. */
  async close(): Promise<void> {
    // Missing lines only reduce what a later run compares.
    await this.#store?.close().catch(() => undefined)
    if (this.#failure === undefined) await this.#extra?.complete()
    else {
      await this.#extra?.discard()
      throw this.#failure
    }
  }

  /** A download succeeds even without space for the manifest. */
  #list(entry: ManifestEntry): void {
    try {
      if (this.#failure === undefined) this.#extra?.add(withoutPlace(entry))
    } catch (error) {
      this.#failure = error
    }
  }

  #note(entry: ManifestEntry): void {
    if (!this.#store) return
    this.#keep(entry)
    this.#append(entry)
  }

  #keep(entry: ManifestEntry): void {
    this.#entries.set(entry.path, entry)
    this.suffixes.written(entry)
  }

  #append(line: ManifestEntry | ProposedSuffix): void {
    try {
      this.#store?.add(line)
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

/**
 * Returns how an existing file differs from its entry: another size, or other bytes if it was modified since. If it does not differ, returns
 * its modification time.
 *
 * Errors: `FILE_ACCESS`.
 */
export async function differenceOf(entry: ManifestEntry, path: string, destination: Destination): Promise<string | number> {
  const present = await destination.present(path)
  if (!present) return 'it does not exist'
  if (present.size !== entry.size) return `it has ${present.size} bytes and had ${entry.size}`
  if (present.modified !== entry.modified && (await destination.digest(path, 'sha256')) !== entry.sha256) return 'its content has changed'
  return present.modified
}

/** Returns the entry of a completed file. */
export function manifestLine({ name, url }: DownloadFile, bytes: number, { hadQuery, ...facts }: ServerFacts): ManifestEntry {
  const time = new Date().toISOString()
  return { path: name, url, ...(hadQuery && { hadQuery }), size: bytes, ...facts, time }
}

/** The suffixes in a manifest; the last line of a name counts. */
class Suffixes {
  /** By planned name. */
  readonly #proposed = new Map<string, ProposedSuffix>()
  /** Planned names by final name. */
  readonly #bases = new Map<string, string>()

  /** Returns the suffix of the file with that planned name and URL; undefined for none. */
  of(name: string, url: string): string | undefined {
    const proposed = this.#proposed.get(name)
    return proposed?.url === url ? proposed.suffix : undefined
  }

  /** Returns the planned name of the file with this final name. */
  baseOf(path: string): string | undefined {
    return this.#bases.get(path)
  }

  add(proposed: ProposedSuffix): void {
    this.#proposed.set(proposed.name, proposed)
    this.#bases.set(proposed.name + proposed.suffix, proposed.name)
  }

  /** Registers a file; a final name that was planned without a suffix belongs to no other file any more. */
  written({ path, url, suffix }: ManifestEntry): void {
    const base = this.#bases.get(path)
    if (suffix !== undefined) this.add({ name: path.slice(0, -suffix.length), url, suffix })
    if (suffix !== undefined || base === undefined) return
    this.#bases.delete(path)
    const proposed = this.#proposed.get(base)
    if (proposed && base + proposed.suffix === path) this.#proposed.delete(base)
  }
}

/** The modification time of a file does not apply to a copy of it. */
function withoutPlace({ modified: _modified, ...entry }: ManifestEntry): ManifestEntry {
  return entry
}
