/** The INPUT arguments of `lint`, folders opened. */
import type { Dirent, Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { readRegularFile } from '../../node/regular-file.ts'
import { readFailure } from '../../node/system-error.ts'
import { type IgnoreRules, ignoreRules, isIgnored } from '../inputs/ignore-rules.ts'
import { isAddress } from '../read-document.ts'
import { usageError } from '../usage.ts'

/** One thing to lint, or why it cannot be. */
export type LintInput = Found | { readonly name: string; readonly error: AuthError }

/** Something to lint. */
export interface Found {
  readonly name: string
  /** True for what its folder says is a regular file; otherwise it may be one too. */
  readonly isRegular?: boolean
  /** True for what a folder or a glob has led to: it need not be a document. */
  readonly isListed?: boolean
}

/** What is left out of folders and globs; files that are named are read in any case. */
export interface Selection {
  /** True when a glob may match nothing. */
  readonly mayMiss?: boolean
  /** Patterns as in a `.gitignore` file of the working directory; they go before those of all files. */
  readonly ignore?: readonly string[]
  /** False to read what `.gitignore` files leave out. Default true. */
  readonly gitignore?: boolean
  /** True for inputs that nobody has named, such as what has changed. */
  readonly areListed?: boolean
}

/** What an input that is a folder stands for. Parquet files may hold anything, so they are named one by one or by a glob. */
const DOCUMENTS = /\.(?:(?:geo)?json|ndjson|(?:geo)?jsonl)(?:\.gz)?$/i

/** Folders that hold no documents of a catalog's author, as patterns; a glob says itself which dot folders it means. */
const TOOLS = 'node_modules/\n.git/'
const HIDDEN = '.*/'

/**
 * Files, addresses and `-` as they are; for a folder every file below it whose name ends like that of a document, for a glob
 * every file that matches, both in the order of their names, without what a {@link Selection} leaves out. Symbolic links count only
 * when they lead to a file below the same folder. A glob that matches nothing is a `USAGE` error, unless `mayMiss`.
 */
export async function* lintInputs(inputs: readonly string[], selection: Selection = {}): AsyncGenerator<LintInput> {
  let since = performance.now()
  for await (const input of named(inputs, selection)) {
    yield input
    // Small files are read and judged without waiting for anything, so a signal would not be noticed before the last one.
    if (performance.now() - since < TURN) continue
    await turn()
    since = performance.now()
  }
}

/** Milliseconds after which what waits gets its turn. */
const TURN = 50

async function* named(inputs: readonly string[], selection: Selection): AsyncGenerator<LintInput> {
  for (const name of inputs) {
    if (name === '-' || isAddress(name)) yield { name }
    else if (isGlob(name) && !(await exists(name))) yield* filesMatching(name, selection)
    else yield* filesOf(name, selection)
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
    yield { name: glob, error: usageError(`no file matches ${glob}`, '--no-fail-on-unmatched-globs lets that pass') }
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

/** Says of paths below a folder, as absolute ones, whether a folder as an input would leave them out; `.gitignore` is not asked. */
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
  /** What is left out by files above and by the program itself, the weakest first. */
  readonly above: readonly IgnoreRules[]
  /** What the user leaves out. */
  readonly given: readonly IgnoreRules[]
  readonly gitignore: boolean
}

async function* filesBelow(folder: string, real: string, walk: Walk): AsyncGenerator<LintInput> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => readFailure(error, folder))
  if (isAuthError(entries)) return yield { name: folder, error: entries }
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  const { isWanted, root, given, gitignore } = walk
  const hasRules = gitignore && entries.some((entry) => entry.name === GITIGNORE)
  const above = hasRules ? [...walk.above, await gitignoreOf(real)] : walk.above
  const isLeftOut = (entry: Dirent) => isIgnored([...above, ...given], join(real, entry.name), entry.isDirectory())
  for (const entry of entries) {
    const name = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!isLeftOut(entry)) yield* filesBelow(name, join(real, entry.name), { ...walk, above })
    } else if (!isWanted(name) || isLeftOut(entry)) continue
    else if (entry.isFile()) yield { name, isRegular: true, isListed: true }
    else if (entry.isSymbolicLink() && (await leadsBelow(name, root))) yield { name, isListed: true }
  }
}

const GITIGNORE = '.gitignore'

/** Nobody writes a longer one. */
const MOST_RULES = 2 ** 20

/** One that cannot be read leaves nothing out. */
async function gitignoreOf(folder: string): Promise<IgnoreRules> {
  const reading = await readRegularFile(join(folder, GITIGNORE), MOST_RULES)
  return ignoreRules(folder, 'bytes' in reading ? new TextDecoder().decode(reading.bytes) : '')
}

/** What is left out of a folder from the beginning: by default, by the `.gitignore` files above it in its repository, by the user. */
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
