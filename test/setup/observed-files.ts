/** Notes every file outside the temporary folder that this process creates, changes or removes; no test may do so. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What writes, and how many of its first arguments are paths that it writes to. */
const WRITES = {
  appendFile: 1,
  chmod: 1,
  copyFile: 2,
  cp: 2,
  link: 2,
  mkdir: 1,
  mkdtemp: 1,
  rename: 2,
  rm: 1,
  rmdir: 1,
  symlink: 2,
  truncate: 1,
  unlink: 1,
  utimes: 1,
  writeFile: 1,
} as const

/** Of those with two paths, the ones that only read the first. */
const READS_FIRST = new Set(['copyFile', 'cp', 'symlink', 'link'])

interface Files {
  readonly changed: string[]
}

declare global {
  var observedFiles: Files | undefined
}

const FOLDERS = [...new Set([tmpdir(), fs.realpathSync(tmpdir()), '/dev', '/proc'])]

/** Paths outside the temporary folder that were written to, since the last call. */
export function filesOutside(): readonly string[] {
  return files().changed.splice(0)
}

/** Once in a process, whatever number of copies of this module it has. */
function files(): Files {
  if (globalThis.observedFiles) return globalThis.observedFiles
  const observed: Files = { changed: [] }
  globalThis.observedFiles = observed
  const note = (name: string, paths: readonly unknown[]) => {
    for (const given of paths) {
      const path = pathOf(given)
      if (path === undefined || isInside(path)) continue
      observed.changed.push(`${name} ${path}`)
    }
  }
  const holders = [fs, fs.promises] as unknown as Record<string, (...given: unknown[]) => unknown>[]
  for (const holder of holders) {
    for (const [name, count] of Object.entries(WRITES)) {
      for (const own of [name, `${name}Sync`]) {
        const original = holder[own]
        if (typeof original !== 'function') continue
        const first = READS_FIRST.has(name) ? 1 : 0
        replace(holder, own, function observing(this: unknown, ...given) {
          note(own, given.slice(first, count))
          return original.apply(this, given)
        })
      }
    }
    for (const own of ['open', 'openSync']) {
      const original = holder[own]
      if (typeof original !== 'function') continue
      replace(holder, own, function observing(this: unknown, ...given) {
        if (isForWriting(given[1])) note(own, given.slice(0, 1))
        return original.apply(this, given)
      })
    }
  }
  syncBuiltinESMExports()
  return observed
}

/** Some of these functions have members of their own, such as `promisify.custom`. */
function replace(holder: Record<string, unknown>, name: string, by: (this: unknown, ...given: unknown[]) => unknown): void {
  const original = holder[name] as object
  for (const key of Reflect.ownKeys(original)) {
    if (key === 'length' || key === 'prototype') continue
    Object.defineProperty(by, key, Object.getOwnPropertyDescriptor(original, key) as PropertyDescriptor)
  }
  holder[name] = by
}

function isForWriting(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT)) !== 0
  return typeof flags === 'string' && /[wa+]/.test(flags)
}

function pathOf(given: unknown): string | undefined {
  if (given instanceof URL) return resolve(fileURLToPath(given))
  if (Buffer.isBuffer(given)) return resolve(given.toString())
  return typeof given === 'string' ? resolve(given) : undefined
}

function isInside(path: string): boolean {
  return FOLDERS.some((folder) => path === folder || path.startsWith(folder + sep))
}

files()
