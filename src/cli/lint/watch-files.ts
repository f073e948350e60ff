/** Notices changes of files and folders. */
import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'

/** Milliseconds without a change after which changes are reported: editors and programs write in several steps. */
const QUIET = 100

/** True for a folder that is not watched. */
type IsLeftOut = (path: string) => boolean

/**
 * Calls a function after changes. Folders are watched one by one: on Linux, the recursive watch of Node 20 misses the second change of a
 * file that is replaced, and files that come back.
 */
export class Watched {
  readonly #onChange: () => void
  /** By the path of a folder, or by that of what is watched in the folder around it. */
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Watches a file, which need not exist: only the folder around it shows that an editor replaces it. */
  addFile(name: string): void {
    this.#addIn(resolve(name), () => this.#soon())
  }

  /** Watches a folder and all folders in it, or a file; it need not exist. */
  async add(name: string, isLeftOut: IsLeftOut): Promise<void> {
    const path = resolve(name)
    this.#addIn(path, () => {
      this.#forget(path)
      void this.#addFolder(path, isLeftOut)
      this.#soon()
    })
    await this.#addFolder(path, isLeftOut)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.values()) watcher.close()
  }

  #addIn(path: string, onEvent: () => void): void {
    this.#hear(`${path}${sep}`, dirname(path), (_event, name) => {
      if (name === null || name === basename(path)) onEvent()
    })
  }

  async #addFolder(folder: string, isLeftOut: IsLeftOut): Promise<void> {
    if (!(await isFolder(folder))) return
    this.#hear(folder, folder, (event, name) => {
      // A folder may be new, or another one of its name.
      if (event === 'rename' && name !== null) this.#forget(join(folder, name))
      void this.#addFolder(folder, isLeftOut)
      this.#soon()
    })
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    const inner = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
    const fresh = inner.filter((path) => !this.#watchers.has(path) && !isLeftOut(path))
    for (const path of fresh) await this.#addFolder(path, isLeftOut)
    // A file may have been written before its folder was watched.
    if (fresh.length > 0) this.#soon()
  }

  #hear(key: string, folder: string, onEvent: (event: string, name: string | null) => void): void {
    if (this.#isClosed || this.#watchers.has(key)) return
    try {
      const watcher = watch(folder, onEvent)
      this.#watchers.set(key, watcher)
      watcher.on('error', () => this.#forget(key))
    } catch {
      // It is gone, or cannot be read, which the next run reports.
    }
  }

  /** Forgets a folder, and those in it. */
  #forget(folder: string): void {
    for (const [key, watcher] of this.#watchers) {
      if (key !== folder && !(key.startsWith(`${folder}${sep}`) && !key.endsWith(sep))) continue
      watcher.close()
      this.#watchers.delete(key)
    }
  }

  #soon(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onChange, QUIET)
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}
