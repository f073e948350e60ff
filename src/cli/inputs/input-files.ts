/** Expands the INPUT arguments of `lint`: folders and globs become files. */
import type { Dirent, Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { readRegularFile } from '../../node/files.ts'
import { readFailure } from '../../node/system-error.ts'
import { usageError } from '../exit-code.ts'
import { type IgnoreRules, ignoreRules, isIgnored } from './ignore-rules.ts'

/** An input to lint, or its error. */
export type LintInput = Found | { readonly name: string; readonly error: AuthError }

/** An input to lint. */
export interface Found {
  readonly name: string
  /** True if the file is known to be a regular file. */
  readonly isRegular?: boolean
  /** True for a file found in a folder or by a glob, which need not be a STAC document. */
  readonly isListed?: boolean
}

/** Which files of folders and globs are skipped; named files are always read. */
export interface Selection {
  /** True when a glob may match nothing. */
  readonly mayMiss?: boolean
  /** Patterns as in a `.gitignore` file of the working directory; they override those of all files. */
  readonly ignore?: readonly string[]
  /** False to read files that `.gitignore` files list. Default true. */
  readonly gitignore?: boolean
  /** True for inputs that the user did not name, such as changed files. */
  readonly areListed?: boolean
}

/** File names that are read from folders. Parquet files may contain other data, so they must be named or matched by a glob. */
const DOCUMENTS = /\.(?:(?:geo)?json|ndjson|(?:geo)?jsonl)(?:\.gz)?$/i

/** Skipped folders as patterns; a glob may include hidden folders. */
const TOOLS = 'node_modules/\n.git/'
const HIDDEN = '.*/'

/**
 * Yields files, URLs and `-` unchanged; for a folder all files below it with the extension of a document, for a glob all matching
 * files, both sorted by name and without the files that the {@link Selection} skips. Symbolic links are only followed to files
 * below the same folder. A glob without matches is a `USAGE` error, unless `mayMiss`.
 */
export async function* lintInputs(inputs: readonly string[], selection: Selection = {}): AsyncGenerator<LintInput> {
  let since = performance.now()
  for await (const input of named(inputs, selection)) {
    yield input
    // Small files are linted synchronously, so signals are only handled when the loop yields.
    if (performance.now() - since < YIELD_AFTER) continue
    await yieldToEvents()
    since = performance.now()
  }
}

/** Milliseconds after which the event loop runs. */
const YIELD_AFTER = 50

async function* named(inputs: readonly string[], selection: Selection): AsyncGenerator<LintInput> {
  for (const name of inputs) {
    if (name === '-' || isAddress(name)) yield { name }
    else if (isGlob(name) && !(await exists(name))) yield* filesMatching(name, selection)
    else yield* filesOf(name, selection)
  }
}

/** Returns true for a name with glob characters. */
export function isGlob(name: string): boolean {
  return /[*?[\]{}]|[!@+]\(/.test(name)
}

/** Returns true for an existing path, which may contain glob characters. */
function exists(name: string): Promise<boolean> {
  return stat(name).then(
    () => true,
    () => false,
  )
}

async function* filesMatching(glob: string, selection: Selection): AsyncGenerator<LintInput> {
  const { default: picomatch } = await import('picomatch')
  const { base, prefix } = picomatch.scan(glob)
  const folder = `${prefix}${base}` || '.'
  const matches = picomatch(glob.replace(/^\.\//, ''))
  let found = 0
  if (await exists(folder)) {
    const root = await realpath(folder)
    const walk = { root, isWanted: (name: string) => matches(name), ...(await rulesFor(root, selection, TOOLS)) }
    for await (const input of filesBelow(folder, root, walk)) {
      found++
      yield input
    }
  }
  if (found === 0 && !selection.mayMiss)
    yield { name: glob, error: usageError(`no file matches ${glob}`, 'use --no-fail-on-unmatched-globs to allow this') }
}

async function* filesOf(name: string, selection: Selection): AsyncGenerator<LintInput> {
  try {
    const stats = await stat(name)
    if (stats.isDirectory()) {
      const root = await realpath(name)
      yield* filesBelow(name, root, { root, isWanted: isDocument, ...(await rulesFor(root, selection, `${TOOLS}\n${HIDDEN}`)) })
    } else if (stats.isFile()) yield { name, isRegular: true, ...(selection.areListed && { isListed: true }) }
    else yield { name, error: notAFile(name, stats) }
  } catch (error) {
    yield { name, error: readFailure(error, name) }
  }
}

/** Returns the error for pipes, sockets and devices, which are not opened because a read may block forever. */
function notAFile(name: string, stats: Stats): IntegrityError {
  const kind = stats.isFIFO() ? 'a named pipe' : stats.isSocket() ? 'a socket' : 'a device'
  const hint = 'send its content to stdin: stac-auth lint -'
  return new IntegrityError('FILE_ACCESS', `cannot read "${name}": it is ${kind}, not a file`, { hint })
}

/** Returns true for a file that is read when its folder is an input. */
export function isDocument(name: string): boolean {
  return DOCUMENTS.test(name)
}

/** Returns a test whether an absolute path below a folder is skipped; `.gitignore` files are not read. */
export async function leftOutBelow(folder: string, selection: Selection): Promise<(path: string) => boolean> {
  const { above, given } = await rulesFor(folder, { ...selection, gitignore: false }, `${TOOLS}\n${HIDDEN}`)
  return (path) => {
    const names = relative(folder, path).split(sep)
    return names.some((_, index) => isIgnored([...above, ...given], join(folder, ...names.slice(0, index + 1)), index < names.length - 1))
  }
}

interface Walk {
  readonly root: string
  readonly isWanted: (name: string) => boolean
  /** Rules of the program and of `.gitignore` files, lowest precedence first. */
  readonly above: readonly IgnoreRules[]
  /** Rules of the user. */
  readonly given: readonly IgnoreRules[]
  readonly gitignore: boolean
}

async function* filesBelow(folder: string, real: string, walk: Walk): AsyncGenerator<LintInput> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => readFailure(error, folder))
  if (isAuthError(entries)) return yield { name: folder, error: entries }
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  const { isWanted, root, given, gitignore } = walk
  const hasRules = gitignore && entries.some((item) => item.name === GITIGNORE)
  const above = hasRules ? [...walk.above, await gitignoreOf(real)] : walk.above
  const isLeftOut = (item: Dirent) => isIgnored([...above, ...given], join(real, item.name), item.isDirectory())
  for (const item of entries) {
    const name = join(folder, item.name)
    if (item.isDirectory()) {
      if (!isLeftOut(item)) yield* filesBelow(name, join(real, item.name), { ...walk, above })
    } else if (!isWanted(name) || isLeftOut(item)) continue
    else if (item.isFile()) yield { name, isRegular: true, isListed: true }
    else if (item.isSymbolicLink() && (await leadsBelow(name, root))) yield { name, isListed: true }
  }
}

const GITIGNORE = '.gitignore'

/** Size limit of a `.gitignore` file in bytes. */
const MOST_RULES = 2 ** 20

/** Reads a `.gitignore` file; an unreadable file has no rules. */
async function gitignoreOf(folder: string): Promise<IgnoreRules> {
  const reading = await readRegularFile(join(folder, GITIGNORE), MOST_RULES)
  return ignoreRules(folder, 'bytes' in reading ? new TextDecoder().decode(reading.bytes) : '')
}

/** Returns the rules for a folder: defaults, the `.gitignore` files above it in its repository, and those of the user. */
async function rulesFor(
  root: string,
  { ignore = [], gitignore = true }: Selection,
  always: string,
): Promise<Omit<Walk, 'root' | 'isWanted'>> {
  const above = [ignoreRules(root, always), ...(gitignore ? await gitignoresAbove(root) : [])]
  const here = await realpath('.')
  const base = root === here || root.startsWith(here + sep) ? here : root
  return { above, given: ignore.length > 0 ? [ignoreRules(base, ignore.join('\n'))] : [], gitignore }
}

async function gitignoresAbove(root: string): Promise<readonly IgnoreRules[]> {
  const folders: string[] = []
  for (let folder = root; ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return Promise.all(folders.map(gitignoreOf))
    if (dirname(folder) === folder) return []
    folders.unshift(dirname(folder))
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
