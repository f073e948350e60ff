/**
 * Notes every file outside the temporary folder that this process creates, changes or removes; no test may do so. Inside of it, notes the
 * files of unfinished work: once the work has ended they are gone, or can be resumed.
 */
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

/** Names of unfinished work: partial files with their journals and locks, and files that get their name at the end. */
const UNFINISHED = /\.(?:part|tmp|part\.json|lock)$/

interface Files {
  readonly changed: string[]
  readonly unfinished: Set<string>
}

declare global {
  var observedFiles: Files | undefined
}

const FOLDERS = [...new Set([tmpdir(), fs.realpathSync(tmpdir()), '/dev', '/proc'])]

/** Paths outside the temporary folder that were written to, since the last call. */
export function filesOutside(): readonly string[] {
  return files().changed.splice(0)
}

/** Forgets what was written until now, be it by a test that prepares something. */
export function forgetUnfinished(): void {
  files().unfinished.clear()
}

/** Paths of what was begun since then, is still there, and cannot be resumed. */
export function unfinishedFiles(): readonly string[] {
  return [...files().unfinished].filter((path) => fs.existsSync(path) && !isResumable(path))
}

/** A partial file and its journal need each other, and the journal the version of the file; a line may be torn. */
function isResumable(path: string): boolean {
  const [, part] = /^(.*\.part)(?:\.json)?$/s.exec(path) ?? []
  if (part === undefined || !fs.existsSync(part) || !fs.existsSync(`${part}.json`)) return false
  const lines = fs.readFileSync(`${part}.json`, 'utf8').split('\n')
  const starts = lines.filter((line) => line.startsWith('{"format":') && line.endsWith('}'))
  return JSON.parse(starts.at(-1) ?? '{}').validator !== undefined
}

/** Once in a process, whatever number of copies of this module it has. */
function files(): Files {
  if (globalThis.observedFiles) return globalThis.observedFiles
  const observed: Files = { changed: [], unfinished: new Set() }
  globalThis.observedFiles = observed
  const note = (name: string, paths: readonly unknown[], isExclusive = false) => {
    for (const given of paths) {
      const path = pathOf(given)
      if (path !== undefined && UNFINISHED.test(path) && !(isExclusive && fs.existsSync(path))) observed.unfinished.add(path)
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
        if (isForWriting(given[1])) note(own, given.slice(0, 1), isForCreating(given[1]))
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

/** True for flags with which what is there already is an error. */
function isForCreating(flags: unknown): boolean {
  return typeof flags === 'number' ? (flags & fs.constants.O_EXCL) !== 0 : /x/.test(String(flags))
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
