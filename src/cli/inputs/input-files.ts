/** Expands the inputs of `lint` and `download`: folders and globs become files, without those that patterns of `.gitignore` name (gitignore(5)). */

import type { Dirent, Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path'
import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { isAddress } from '../../http/url.ts'
import { readFailure, readRegularFile } from '../../node/base/index.ts'
import { usageError } from '../exit-code.ts'

/** An input to lint, or its error. */
export type LintInput = InputFile | { readonly name: string; readonly error: AuthError }

/** An input to lint. */
export interface InputFile {
  readonly name: string
  /** True for a file found in a folder or by a glob, which need not be a STAC document. */
  readonly isListed?: boolean
}

/** Which files of folders and globs are skipped; named files are always read. */
export interface Selection {
  /** True when a glob may match nothing. */
  readonly mayMiss?: boolean
  /** Patterns as in a `.gitignore` file of the working directory; they override those of all files. */
  readonly ignore?: readonly string[]
  /** Patterns as in a `.gitignore` file of a folder; they override those of all files, and `ignore` overrides them. */
  readonly ignores?: readonly { readonly folder: string; readonly patterns: readonly string[] }[]
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
 * below the same folder. A file or folder that is named twice, is in another folder that is named, or is matched by several globs, is read
 * once. A glob without matches is a `USAGE` error, unless `mayMiss`.
 */
export async function* lintInputs(inputs: readonly string[], selection: Selection = {}): AsyncGenerator<LintInput> {
  let since = performance.now()
  const isAlone = inputs.length === 1
  const named = new Set(inputs.map((name) => resolve(name)))
  const seen = new Set<string>()
  for (const name of new Set(inputs)) {
    for await (const input of filesOf(name, selection)) {
      const path = isAddress(name) ? name : resolve(input.name)
      // A file that is named is not one of a folder or glob, which need not be a document.
      if (!isAlone && (seen.has(path) || (input.name !== name && named.has(path)))) continue
      if (!isAlone) seen.add(path)
      yield input
      // Small files are linted synchronously, so signals are only handled when the loop yields.
      if (performance.now() - since < YIELD_AFTER) continue
      await yieldToEvents()
      since = performance.now()
    }
  }
}

/** Milliseconds after which the event loop runs. */
const YIELD_AFTER = 50

async function* filesOf(name: string, selection: Selection): AsyncGenerator<LintInput> {
  if (name === '-' || isAddress(name)) yield { name }
  else if (isGlob(name) && !(await exists(name))) yield* filesMatching(name, selection)
  else yield* filesAt(name, selection)
}

/** Returns true for a name with glob characters, or one that is negated. */
export function isGlob(name: string): boolean {
  return /[*?[\]{}]|[!@+]\(|^!/.test(name)
}

/** Returns true for an existing path, which may contain glob characters. */
export function exists(name: string): Promise<boolean> {
  return stat(name).then(
    () => true,
    () => false,
  )
}

async function* filesMatching(glob: string, selection: Selection): AsyncGenerator<LintInput> {
  const { folder, matches } = await fileGlob(glob)
  let found = 0
  if (await exists(folder)) {
    const root = await realpath(folder)
    const walk = { root, isWanted: matches, ...(await rulesFor(root, selection, TOOLS)) }
    for await (const input of filesBelow(folder, root, walk)) {
      found++
      yield input
    }
  }
  if (found === 0 && !selection.mayMiss) yield { name: glob, error: usageError(`no file matches ${glob}`, whyNone(glob)) }
}

/**
 * Returns the folder that a glob starts in, and its test of a path. On Windows both may have backslashes: shells there expand no globs,
 * and complete names with backslashes.
 */
export async function fileGlob(
  glob: string,
  separator: string = sep,
): Promise<{ readonly folder: string; readonly matches: (path: string) => boolean }> {
  const { default: picomatch } = await import('picomatch')
  const slashes = (path: string) => (separator === '\\' ? path.replaceAll('\\', '/') : path)
  const pattern = slashes(glob)
  const { base, prefix } = picomatch.scan(pattern)
  const isMatch = picomatch(pattern.replace(/^\.\//, ''))
  return { folder: `${prefix}${base}` || '.', matches: (path) => isMatch(slashes(path)) }
}

/** Returns the hint for a glob that matches nothing. */
export function whyNone(glob: string): string {
  return glob.startsWith('!') ? `to skip files, use --ignore '${glob.slice(1)}'` : 'use --no-fail-on-unmatched-globs to allow this'
}

async function* filesAt(name: string, selection: Selection): AsyncGenerator<LintInput> {
  try {
    const stats = await stat(name)
    if (stats.isDirectory()) {
      const root = await realpath(name)
      yield* filesBelow(name, root, { root, isWanted: isDocument, ...(await rulesFor(root, selection, `${TOOLS}\n${HIDDEN}`)) })
    } else if (stats.isFile()) yield { name, ...(selection.areListed && { isListed: true }) }
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
  return (path) => isSkipped(path, folder, [...above, ...given])
}

/** Returns a test whether patterns of the user skip a file in folders. */
export async function skippedBy(selection: Pick<Selection, 'ignore' | 'ignores'>): Promise<(name: string) => boolean> {
  const here = await realpath('.')
  const { given } = await rulesFor(here, { ...selection, gitignore: false }, '')
  return (name) => isSkipped(resolve(name), parse(resolve(name)).root, given)
}

/** True for a file that is skipped, or below a skipped folder. */
function isSkipped(path: string, folder: string, rules: readonly IgnoreRules[]): boolean {
  const names = relative(folder, path).split(sep)
  return names.some((_, index) => isIgnored(rules, join(folder, ...names.slice(0, index + 1)), index < names.length - 1))
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
    else if (item.isFile() || (item.isSymbolicLink() && (await leadsBelow(name, root)))) yield { name, isListed: true }
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
  { ignore = [], ignores = [], gitignore = true }: Selection,
  always: string,
): Promise<Omit<Walk, 'root' | 'isWanted'>> {
  const above = [ignoreRules(root, always), ...(gitignore ? await gitignoresAbove(root) : [])]
  const here = await realpath('.')
  const base = root === here || root.startsWith(here + sep) ? here : root
  const own = ignore.length > 0 ? [ignoreRules(base, ignore.join('\n'))] : []
  const configured = await Promise.all(
    ignores.map(async ({ folder, patterns }) => ignoreRules(await realpath(folder).catch(() => folder), patterns.join('\n'))),
  )
  return { above, given: [...configured, ...own], gitignore }
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

/** The rules of one file, or of the command line. */
interface IgnoreRules {
  /** Absolute path of the folder they apply to. */
  readonly folder: string
  readonly patterns: readonly IgnorePattern[]
}

interface IgnorePattern {
  /** True for `!`: files that earlier patterns skip are included again. */
  readonly isException: boolean
  readonly foldersOnly: boolean
  /** Matched with the whole path below the folder; a pattern without a slash is matched with the name alone. */
  readonly isPath: boolean
  readonly regexp: RegExp
}

/** Parses patterns, one per line. Comments, blank lines, invalid patterns and a byte order mark are ignored. */
export function ignoreRules(folder: string, text: string): IgnoreRules {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  return { folder, patterns: lines.flatMap((line) => (line === '' || line.startsWith('#') ? [] : (patternOf(line) ?? []))) }
}

/** Returns true if the last matching pattern skips the path. Files in a skipped folder must not be tested. */
export function isIgnored(all: readonly IgnoreRules[], path: string, isFolder: boolean): boolean {
  for (const { folder, patterns } of all.toReversed()) {
    const below = relative(folder, path)
    const names = below.split(sep)
    if (names[0] === '..' || isAbsolute(below)) continue
    const matches = ({ foldersOnly, isPath, regexp }: IgnorePattern) =>
      (isFolder || !foldersOnly) && regexp.test(isPath ? names.join('/') : (names.at(-1) ?? ''))
    const last = patterns.findLast(matches)
    if (last) return !last.isException
  }
  return false
}

function patternOf(line: string): IgnorePattern | undefined {
  const isException = line.startsWith('!')
  // Trailing spaces are removed unless they are escaped.
  const pattern = (isException ? line.slice(1) : line).replace(/((?:\\.|[^\\])*?) *$/s, '$1')
  const foldersOnly = pattern.endsWith('/')
  const body = foldersOnly ? pattern.slice(0, -1) : pattern
  if (body === '' || body === '/') return undefined
  const isPath = body.includes('/')
  // A slash separates also behind a backslash.
  const path = body.replace(/^\//, '').replace(/\\([\\/])/g, (both, next) => (next === '/' ? '/' : both))
  const source = isPath ? pathSource(path.split('/')) : nameSource(path, 0)
  return source === undefined ? undefined : { isException, foldersOnly, isPath, regexp: new RegExp(`^${source}$`, 'su') }
}

/**
 * Returns an expression that takes no match back: patterns of others must not take forever. What is between two asterisks has a fixed
 * length, so that its first match is as good as any other.
 */
function atomic(source: string, name: string): string {
  return `(?=(?<${name}>${source}))\\k<${name}>`
}

/** Returns the expression for a path; `**` stands for any number of folders, at the end for everything below. Undefined if it is invalid. */
function pathSource(names: readonly string[]): string | undefined {
  const runs: string[][] = [[]]
  for (const [index, name] of names.entries()) {
    const source = /^\*{2,}$/.test(name) ? ANY_DEPTH : nameSource(name, index)
    if (source === undefined) return undefined
    if (source !== ANY_DEPTH) runs.at(-1)?.push(source)
    else if (runs.length === 1 || runs.at(-1)?.length !== 0) runs.push([])
  }
  const last = runs.length > 1 ? (runs.pop() ?? []) : undefined
  if (!last) return runs[0]?.join('/')
  const folders = runs.map((run) => run.map((source) => `${source}/`).join(''))
  const [first = '', ...others] = folders
  const inner = others.map((source, index) => atomic(`(?:[^/]+/)*?${source}`, `p${index}`))
  return [first, ...inner, last.length === 0 ? '.+' : `(?:[^/]+/)*${last.join('/')}`].join('')
}

const ANY_DEPTH = '**'

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  blank: ' \\t',
  digit: '0-9',
  lower: 'a-z',
  space: '\\s',
  upper: 'A-Z',
  xdigit: '0-9a-fA-F',
}

/** A part of a bracket expression, and one of a name: asterisks, a bracket expression, or one character. */
const CLASS = String.raw`\[:(?:${Object.keys(CLASSES).join('|')}):\]`
const MEMBER = String.raw`${CLASS}|\\.|[^\]\\]`
const TOKEN = new RegExp(
  String.raw`(?<stars>\*+)|\[(?<not>[!^]?)(?<members>(?:\]|${MEMBER})(?:${MEMBER})*)\]|\\(?<escaped>.)|[^[\\]`,
  'gsuy',
)

const CLASS_MEMBER = new RegExp(String.raw`${CLASS}|\\?(.)(?:-\\?(.))?`, 'gsu')

/** Returns the expression for one name; undefined for an invalid pattern. */
function nameSource(name: string, id: number): string | undefined {
  const tokens = [...name.matchAll(TOKEN)]
  if (tokens.map(([text]) => text).join('') !== name) return undefined
  const parts = ['']
  for (const { 0: text, groups: { stars, not, members, escaped = text } = {} } of tokens) {
    if (stars) parts.push('')
    else parts.push((parts.pop() ?? '') + (members ? classSource(members, not !== '') : text === '?' ? '[^/]' : literal(escaped)))
  }
  const last = parts.length > 1 ? `[^/]*${parts.pop()}` : ''
  const [first = '', ...others] = parts
  return [first, ...others.map((part, index) => atomic(`[^/]*?${part}`, `n${id}_${index}`)), last].join('')
}

function classSource(members: string, isNegated: boolean): string {
  const source = members.replace(CLASS_MEMBER, (text: string, low: string | undefined, high = low) => {
    if (low === undefined) return CLASSES[text.slice(2, -2)] ?? ''
    return low <= high ? `${literal(low)}-${literal(high)}` : ''
  })
  return `(?!/)[${isNegated ? '^' : ''}${source}]`
}

function literal(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`
}
