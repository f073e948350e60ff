/** Notices changes of files and folders. */
import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/** A folder, and a test whether a folder below it is skipped. */
export interface WatchedFolder {
  readonly folder: string
  readonly isLeftOut: (path: string) => boolean
}

/** Milliseconds without a change after which changes are reported: editors and programs write in several steps. */
const QUIET = 100

/**
 * Calls `onChange` after changes of these files, also when they are replaced or appear, and of anything in these folders and below them.
 * Returns the function that ends it.
 */
export function watchFiles(files: readonly string[], folders: readonly WatchedFolder[], onChange: () => void): () => void {
  const watched = new Watched(onChange)
  for (const { folder, isLeftOut } of folders) void watched.addFolder(resolve(folder), isLeftOut)
  for (const file of files) watched.addFile(resolve(file))
  return () => watched.close()
}

/**
 * Watches folders one by one: on Linux, the recursive watch of Node 20 misses the second change of a file that is replaced, and files that
 * come back.
 */
class Watched {
  readonly #onChange: () => void
  /** By the path of a folder, or of a file that is watched alone. */
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  async addFolder(folder: string, isLeftOut: WatchedFolder['isLeftOut']): Promise<void> {
    this.#hear(folder, folder, () => {
      this.#soon()
      // A folder in it may be new.
      void this.addFolder(folder, isLeftOut)
    })
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined)
    if (!entries) return this.#forget(folder)
    const inner = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
    const fresh = inner.filter((path) => !this.#watchers.has(path) && !isLeftOut(path))
    for (const path of fresh) await this.addFolder(path, isLeftOut)
    // A file may have been written before its folder was watched.
    if (fresh.length > 0) this.#soon()
  }

  /** An editor may replace the file, which only its folder shows. */
  addFile(file: string): void {
    this.#hear(file, dirname(file), (name) => {
      if (name === null || name === basename(file)) this.#soon()
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
  }

  #hear(key: string, folder: string, onEvent: (name: string | null) => void): void {
    if (this.#isClosed || this.#watchers.has(key)) return
    try {
      const watcher = watch(folder, (_event, name) => onEvent(name))
      this.#watchers.set(key, watcher)
      watcher.on('error', () => this.#forget(key))
    } catch {
      // It is gone, or cannot be read, which the next run reports.
    }
  }

  #forget(key: string): void {
    this.#watchers.get(key)?.close()
    this.#watchers.delete(key)
  }

  #soon(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onChange, QUIET)
  }
}
