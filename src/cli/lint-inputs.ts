/** The INPUT arguments of `lint`, folders opened. */
import type { Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { type AuthError, IntegrityError, isAuthError } from '../errors.ts'
import { readFailure } from '../node/system-error.ts'
import { isAddress } from './read-document.ts'
import { usageError } from './usage.ts'

/** One thing to lint, or why it cannot be. */
export type LintInput = Found | { readonly name: string; readonly error: AuthError }

/** Something to lint. */
export interface Found {
  readonly name: string
  /** True for what its folder says is a regular file; otherwise it may be one too. */
  readonly isRegular?: boolean
}

/** What an input that is a folder stands for. Parquet files may hold anything, so they are named one by one or by a glob. */
const DOCUMENTS = /\.(?:(?:geo)?json|ndjson|(?:geo)?jsonl)(?:\.gz)?$/i

/** Folders that hold no documents of a catalog's author. */
export const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git'])

/**
 * Files, addresses and `-` as they are; for a folder every file below it whose name ends like that of a document, for a glob
 * every file that matches, both in the order of their names. Symbolic links count only when they lead to a file below the same
 * folder. A glob that matches nothing is a `USAGE` error, unless `mayMiss`.
 */
export async function* lintInputs(inputs: readonly string[], mayMiss = false): AsyncGenerator<LintInput> {
  let since = performance.now()
  for await (const input of named(inputs, mayMiss)) {
    yield input
    // Small files are read and judged without waiting for anything, so a signal would not be noticed before the last one.
    if (performance.now() - since < TURN) continue
    await turn()
    since = performance.now()
  }
}

/** Milliseconds after which what waits gets its turn. */
const TURN = 50

async function* named(inputs: readonly string[], mayMiss: boolean): AsyncGenerator<LintInput> {
  for (const name of inputs) {
    if (name === '-' || isAddress(name)) yield { name }
    else if (isGlob(name) && !(await exists(name))) yield* filesMatching(name, mayMiss)
    else yield* filesOf(name)
  }
}

/** True for a name that says more than one. */
export function isGlob(name: string): boolean {
  return /[*?[\]{}]|[!@+]\(/.test(name)
}

/** A file may have such a name. */
function exists(name: string): Promise<boolean> {
  return stat(name).then(
    () => true,
    () => false,
  )
}

async function* filesMatching(glob: string, mayMiss: boolean): AsyncGenerator<LintInput> {
  const { default: picomatch } = await import('picomatch')
  const { base, prefix } = picomatch.scan(glob)
  const folder = `${prefix}${base}` || '.'
  const matches = picomatch(glob.replace(/^\.\//, ''))
  let found = 0
  if (await exists(folder)) {
    for await (const input of filesBelow(folder, await realpath(folder), (name) => matches(name))) {
      found++
      yield input
    }
  }
  if (found === 0 && !mayMiss)
    yield { name: glob, error: usageError(`no file matches ${glob}`, '--no-fail-on-unmatched-globs lets that pass') }
}

async function* filesOf(name: string): AsyncGenerator<LintInput> {
  try {
    const stats = await stat(name)
    if (stats.isDirectory()) yield* filesBelow(name, await realpath(name), isDocument)
    else yield stats.isFile() ? { name, isRegular: true } : { name, error: notAFile(name, stats) }
  } catch (error) {
    yield { name, error: readFailure(error, name) }
  }
}

/** What is no file may keep its reader waiting for ever, so it is not even opened. Only standard input is waited for. */
function notAFile(name: string, stats: Stats): IntegrityError {
  const kind = stats.isFIFO() ? 'a named pipe' : stats.isSocket() ? 'a socket' : 'a device'
  const hint = 'send what it holds to standard input and name that: stac-auth lint -'
  return new IntegrityError('FILE_ACCESS', `cannot read "${name}": it is ${kind}, not a file`, { hint })
}

/** True for a file that counts when its folder is an input. */
export function isDocument(name: string): boolean {
  return DOCUMENTS.test(name)
}

async function* filesBelow(folder: string, root: string, isWanted: (name: string) => boolean): AsyncGenerator<LintInput> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => readFailure(error, folder))
  if (isAuthError(entries)) return yield { name: folder, error: entries }
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (const entry of entries) {
    const name = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name)) yield* filesBelow(name, root, isWanted)
    } else if (isWanted(name) && entry.isFile()) {
      yield { name, isRegular: true }
    } else if (isWanted(name) && entry.isSymbolicLink() && (await leadsBelow(name, root))) {
      yield { name }
    }
  }
}

async function leadsBelow(link: string, root: string): Promise<boolean> {
  try {
    const target = await realpath(link)
    return target.startsWith(root + sep) && (await stat(target)).isFile()
  } catch {
    return false
  }
}
