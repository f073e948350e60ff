/** Matches paths with `.gitignore` patterns (gitignore(5)), except for slashes between brackets. */
import { relative, sep } from 'node:path'

/** The rules of one file, or of the command line. */
export interface IgnoreRules {
  /** Absolute path of the folder they apply to. */
  readonly folder: string
  readonly rules: readonly Rule[]
}

interface Rule {
  /** True for `!`: files that earlier rules skip are included again. */
  readonly isException: boolean
  readonly foldersOnly: boolean
  /** Matched with the whole path below the folder; a pattern without a slash is matched with the name alone. */
  readonly isPath: boolean
  readonly segments: readonly Segment[]
}

/** `**`, or the tokens for one name; undefined for an invalid pattern, which matches nothing. */
type Segment = typeof ANY_DEPTH | readonly Token[] | undefined

/** `*`, or a test of one character. */
type Token = typeof ANY_TEXT | ((character: string) => boolean)

const ANY_DEPTH = Symbol('**')
const ANY_TEXT = Symbol('*')

/** Parses patterns, one per line. Comments, blank lines and a byte order mark are ignored. */
export function ignoreRules(folder: string, text: string): IgnoreRules {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  return { folder, rules: lines.flatMap((line) => (line === '' || line.startsWith('#') ? [] : (ruleOf(line) ?? []))) }
}

/** Returns true if the last matching rule skips the path. Files in a skipped folder must not be tested. */
export function isIgnored(all: readonly IgnoreRules[], path: string, isFolder: boolean): boolean {
  for (const { folder, rules } of all.toReversed()) {
    const names = relative(folder, path).split(sep)
    const rule = rules.findLast((one) => (isFolder || !one.foldersOnly) && fits(one, names))
    if (rule) return !rule.isException
  }
  return false
}

function ruleOf(line: string): Rule | undefined {
  const isException = line.startsWith('!')
  const pattern = trimmed(isException ? line.slice(1) : line)
  const foldersOnly = pattern.endsWith('/')
  const body = foldersOnly ? pattern.slice(0, -1) : pattern
  const isPath = body.includes('/')
  // A slash separates also behind a backslash.
  const names = (body.startsWith('/') ? body.slice(1) : body).replace(/\\([\\/])/g, (both, next) => (next === '/' ? '/' : both)).split('/')
  if (body === '' || body === '/') return undefined
  return { isException, foldersOnly, isPath, segments: names.map((name) => (isPath && /^\*{2,}$/.test(name) ? ANY_DEPTH : tokensOf(name))) }
}

/** Removes trailing spaces that are not escaped. */
function trimmed(line: string): string {
  return line.replace(/((?:\\.|[^\\])*?) *$/s, '$1')
}

function tokensOf(name: string): readonly Token[] | undefined {
  const characters = [...name]
  const tokens: Token[] = []
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string
    if (character === '*') tokens.push(ANY_TEXT)
    else if (character === '?') tokens.push(() => true)
    else if (character === '[') {
      const range = rangeOf(characters, at + 1)
      if (!range) return undefined
      tokens.push(range.token)
      at = range.end
    } else {
      const literal = character === '\\' ? characters[++at] : character
      if (literal === undefined) return undefined
      tokens.push((other) => other === literal)
    }
  }
  return tokens
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  digit: /\d/,
  lower: /[a-z]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[\da-f]/i,
}

/** Parses a bracket expression; undefined if it is not closed. */
function rangeOf(characters: readonly string[], from: number): { readonly token: Token; readonly end: number } | undefined {
  const isNegated = characters[from] === '!' || characters[from] === '^'
  const tests: ((character: string) => boolean)[] = []
  const first = isNegated ? from + 1 : from
  for (let at = first; at < characters.length; at++) {
    const character = characters[at] as string
    if (character === ']' && at > first) return { token: (other) => tests.some((test) => test(other)) !== isNegated, end: at }
    const [, name = ''] = /^\[:(\w+):\]/.exec(characters.slice(at, at + 12).join('')) ?? []
    const known = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined
    if (known) {
      tests.push((other) => known.test(other))
      at += name.length + 3
      continue
    }
    const low = character === '\\' ? characters[++at] : character
    if (low === undefined) return undefined
    if (characters[at + 1] !== '-' || characters[at + 2] === ']' || characters[at + 2] === undefined) tests.push((other) => other === low)
    else {
      at += characters[at + 2] === '\\' ? 3 : 2
      const high = characters[at]
      if (high === undefined) return undefined
      tests.push((other) => low <= other && other <= high)
    }
  }
  return undefined
}

function fits({ isPath, segments }: Rule, names: readonly string[]): boolean {
  return isPath ? pathFits(segments, names) : nameFits(segments[0], names.at(-1) ?? '')
}

/** Matches a path; `**` stands for any number of folders, at the end for everything below. */
function pathFits(segments: readonly Segment[], names: readonly string[]): boolean {
  /** The positions in `segments` that match the names so far. */
  let reached = new Set([0])
  const spread = (positions: Set<number>) => {
    for (const at of positions) if (segments[at] === ANY_DEPTH && at < segments.length - 1) positions.add(at + 1)
    return positions
  }
  for (const name of names) {
    const next = new Set<number>()
    for (const at of spread(reached)) {
      if (at === segments.length) continue
      if (segments[at] === ANY_DEPTH) {
        next.add(at)
        if (at === segments.length - 1) next.add(at + 1)
      } else if (nameFits(segments[at], name)) next.add(at + 1)
    }
    reached = next
  }
  return reached.has(segments.length)
}

/** Matches a name; backtracks to the last `*` only, so the time is at most the product of both lengths. */
function nameFits(segment: Segment, name: string): boolean {
  if (segment === undefined || segment === ANY_DEPTH) return false
  const characters = [...name]
  let star = -1
  let mark = 0
  let at = 0
  for (let index = 0; index < characters.length; ) {
    const token = segment[at]
    if (token === ANY_TEXT) {
      star = at++
      mark = index
    } else if (token?.(characters[index] as string)) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++mark
    } else return false
  }
  return segment.slice(at).every((token) => token === ANY_TEXT)
}
