/** A disk that is full when a test says so: stands in for `node:fs` and `node:fs/promises`, and writes as the real ones otherwise. */
import type { PathLike } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

type Files = typeof import('node:fs')
type FilePromises = typeof import('node:fs/promises')

/** What a system does with a disk. */
export type Step = 'make' | 'write' | 'sync' | 'name'

export interface FullDisk {
  /** Bytes that there is room for. */
  room: number
  /** Says of a step with the file of a path that there is no room for it. */
  refuses: (step: Step, path: string) => boolean
  /** What the system says then; default `ENOSPC`. */
  code: string
  reset(): void
}

/** One for the whole test file. */
export const disk: FullDisk = {
  room: Number.POSITIVE_INFINITY,
  refuses: () => false,
  code: 'ENOSPC',
  reset: () => {
    disk.code = 'ENOSPC'
    disk.room = Number.POSITIVE_INFINITY
    disk.refuses = () => false
  },
}

/** For `vi.mock('node:fs')`. */
export function onFullDisk(files: Files): Files {
  const paths = new Map<number, string>()
  const openSync = ((path, ...more) => {
    checked('make', path)
    const file = files.openSync(path, ...more)
    paths.set(file, String(path))
    return file
  }) as Files['openSync']
  const writeSync = ((file: number, data: Uint8Array | string, offset = 0) => {
    const bytes = Buffer.from(data as Uint8Array).subarray(Number(offset))
    return files.writeSync(file, bytes.subarray(0, taken(paths.get(file) ?? '', bytes.length)))
  }) as Files['writeSync']
  const fsync = ((file: number, done: (error: Error | null) => void) => {
    if (disk.refuses('sync', paths.get(file) ?? '')) done(full())
    else files.fsync(file, done)
  }) as Files['fsync']
  const named =
    (give: (from: PathLike, to: PathLike) => void) =>
    (from: PathLike, to: PathLike): void => {
      checked('name', to)
      give(from, to)
    }
  return { ...files, openSync, writeSync, fsync, linkSync: named(files.linkSync), renameSync: named(files.renameSync) }
}

/** For `vi.mock('node:fs/promises')`. */
export function onFullDiskLater(files: FilePromises): FilePromises {
  const open: FilePromises['open'] = async (path, flags, ...more) => {
    // What is there already is opened without making anything.
    if (typeof flags === 'string' ? /[wa]/.test(flags) : Number(flags) & files.constants.O_CREAT) checked('make', path)
    return limited(await files.open(path, flags, ...more), String(path))
  }
  const rename: FilePromises['rename'] = async (from, to) => {
    checked('name', to)
    await files.rename(from, to)
  }
  return { ...files, open, rename }
}

/** The same handle, with methods that know the disk. */
function limited(file: FileHandle, path: string): FileHandle {
  const { writev, sync, datasync, writeFile } = file
  return Object.assign(file, {
    writev: async (chunks: readonly Uint8Array[], position?: number) => {
      const bytes = Buffer.concat(chunks)
      return writev.call(file, [bytes.subarray(0, taken(path, bytes.length))], position)
    },
    writeFile: async (text: string) => {
      const room = taken(path, text.length)
      await writeFile.call(file, text.slice(0, room))
      if (room < text.length) throw full()
    },
    sync: async () => {
      checked('sync', path)
      await sync.call(file)
    },
    datasync: async () => {
      checked('sync', path)
      await datasync.call(file)
    },
  })
}

/** How many of so many bytes are written; the first of them that finds no room at all is an error. */
function taken(path: string, length: number): number {
  checked('write', path)
  if (disk.room <= 0 && length > 0) throw full()
  const bytes = Math.min(length, disk.room)
  disk.room -= bytes
  return bytes
}

function checked(step: Step, path: unknown): void {
  if (disk.refuses(step, String(path))) throw full()
}

function full(): Error {
  return Object.assign(new Error(`${disk.code}: not now`), { code: disk.code })
}
