/** The records of a download: the manifest of the destination, the manifest that was requested, and their entries of earlier runs. */

import { type AuthError, isAuthError } from '../../errors.ts'
import type { Destination } from './destination/destination.ts'
import type { DownloadFile, DownloadOptions } from './download.ts'
import { isManifestLine, type ManifestEntry, type ManifestStore, NewManifest } from './manifest.ts'

/** Facts of the server about a completed file. */
export type ServerFacts = Pick<ManifestEntry, 'sha256' | 'etag' | 'lastModified' | 'suffix' | 'unverified'> & { readonly hadQuery: boolean }

/** The records that a transfer reads and writes for its file. */
export interface FileRecord {
  /** Returns the suffix that a server proposed for the file of that planned name in an earlier run. */
  suffixOf(file: DownloadFile): string | undefined
  /** Returns the planned name of the file with that name, which has a suffix. */
  plannedNameOf(name: string): string | undefined
  known(file: DownloadFile): ManifestEntry | undefined
  difference(entry: ManifestEntry, path: string): Promise<string | undefined>
  /** Called before a complete file gets its name, so that another process knows the entry if this one dies. */
  completing?(file: DownloadFile, bytes: number, facts: ServerFacts): Promise<void>
  written(file: DownloadFile, bytes: number, facts: ServerFacts): Promise<AuthError | undefined>
  kept(file: DownloadFile, bytes: number, hadQuery: boolean): Promise<AuthError | undefined>
}

export class DownloadRecord implements FileRecord {
  readonly #destination: Destination
  /** The manifest of the destination; undefined if it cannot be used. */
  #store: ManifestStore | undefined
  /** The entries of the manifest; the last line of a path counts. */
  readonly #entries = new Map<string, ManifestEntry>()
  /** Paths with a suffix, by planned name. */
  readonly #suffixed = new Map<string, string>()
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

  suffixOf({ name, url }: DownloadFile): string | undefined {
    const entry = this.#entries.get(this.#suffixed.get(name) ?? '')
    return entry?.url === url ? entry.suffix : undefined
  }

  plannedNameOf(name: string): string | undefined {
    const { suffix } = this.#entries.get(name) ?? {}
    return suffix && name.slice(0, -suffix.length)
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
    try {
      this.#store.add(entry)
    } catch (error) {
      if (!isAuthError(error)) throw error
      this.#problem ??= error
    }
  }

  #keep(entry: ManifestEntry): void {
    const { path, suffix } = entry
    this.#entries.set(path, entry)
    if (suffix !== undefined) this.#suffixed.set(path.slice(0, -suffix.length), path)
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

/** The modification time of a file does not apply to a copy of it. */
function withoutPlace({ modified: _modified, ...entry }: ManifestEntry): ManifestEntry {
  return entry
}
