/** What a download notes about its files, for later runs and for whoever asked for a manifest. */
import { type AuthError, isAuthError } from '../../errors.ts'
import type { DownloadFile } from './events.ts'
import { FolderManifest, fileDigest, type ManifestEntry, NewManifest, Suffixes } from './manifest.ts'
import type { DownloadOptions } from './options.ts'
import { presentFile } from './present-file.ts'

/** What a server said about a file that has come. */
export type Origin = Pick<ManifestEntry, 'sha256' | 'etag' | 'lastModified' | 'suffix'> & { readonly hadQuery: boolean }

export class DownloadRecord {
  /** That servers have proposed. */
  readonly suffixes: Suffixes
  readonly #folder: FolderManifest | undefined
  readonly #extra: NewManifest | undefined
  /** Why nothing is noted, as long as nobody has heard of it. */
  #problem: AuthError | undefined
  #isTold = false
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
    if (!present) return 'it is not there'
    if (present.size !== entry.size) return `it has ${present.size} bytes and had ${entry.size}`
    if (present.mtimeMs === entry.modified) return undefined
    if ((await fileDigest(path)) !== entry.sha256) return 'its bytes are other ones'
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
    return this.#toldOnce()
  }

  /** A file stays. Gives why what is known could not be noted, once. Errors: `FILE_ACCESS`. */
  async kept(file: DownloadFile, bytes: number, hadQuery: boolean): Promise<AuthError | undefined> {
    if (!this.#extra) return this.#toldOnce()
    const { name: path, url } = file
    const time = new Date().toISOString()
    const entry = this.known(file) ?? { path, url, ...(hadQuery && { hadQuery }), size: bytes, sha256: await fileDigest(file.path), time }
    this.#list(entry)
    return this.#toldOnce()
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

  #toldOnce(): AuthError | undefined {
    if (this.#isTold) return undefined
    this.#isTold = this.#problem !== undefined
    return this.#problem
  }
}

/** When a file was written says nothing about a copy of it. */
function withoutPlace({ modified: _modified, ...entry }: ManifestEntry): ManifestEntry {
  return entry
}
