/** Lints text: finds what a parser hides, and adds lines and columns. */
import { DOCUMENT_LIMITS, kindOf, pointer } from '../stac/document.ts'
import { scan } from '../stac/json-text.ts'
import { inspect, isLonger, type LintOptions, runnerFor } from './lint.ts'
import { locate, type Position, positionAt } from './locate.ts'
import type { Problem } from './problem.ts'
import { FINDING_LIMIT, problemOf } from './runner.ts'

const MiB = 2 ** 20

export interface TextOptions extends LintOptions {
  /** Line of a file on which the text begins, from 1: for files with a document on each line. */
  readonly line?: number
}

/**
 * Returns the findings of a JSON text with lines and columns, in the order of their positions. Bytes must be UTF-8; a byte order mark
 * is skipped. A text that is not JSON, too large or too deep gives one finding. Never throws.
 */
export function lintText(source: string | Uint8Array, options: TextOptions = {}): Problem[] {
  const text = decode(source)
  if (text === undefined) return alone('not-json', 'encoding', options, { line: 1, column: 1, endLine: 1, endColumn: 1 })
  if (isLonger(text, DOCUMENT_LIMITS.other)) return alone('document-limit', 'bytes', options, undefined, DOCUMENT_LIMITS.other / MiB)
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return notJson(text, options)
  }
  if (kindOf(document) === 'item' && isLonger(text, DOCUMENT_LIMITS.item))
    return alone('document-limit', 'bytes', options, undefined, DOCUMENT_LIMITS.item / MiB)
  const { problems, members, strings } = inspect(document, options)
  const tooDeep = problems.some(({ code }) => code === 'document-limit')
  if (!tooDeep && hasDuplicateKeys(text, members, strings)) problems.push(...repeated(text, document, options))
  return problems.length === 0 ? problems : placed(problems, text, options)
}

/** Keeps nothing from one text to the next. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

function decode(source: string | Uint8Array): string | undefined {
  if (typeof source === 'string') return source.charCodeAt(0) === 0xfeff ? source.slice(1) : source
  try {
    return UTF_8.decode(source)
  } catch {
    return undefined
  }
}

/** The message of the parser quotes the text, which may be a page with secrets, so only the position is reported. */
function notJson(text: string, options: TextOptions): Problem[] {
  const offset = scan(text) ?? text.length
  const message = offset >= text.length ? 'end' : isLines(text) ? 'lines' : 'syntax'
  return alone('not-json', message, options, positionAt(text, offset), new TextEncoder().encode(text.slice(0, offset)).length)
}

/** True when each of the first two lines is JSON by itself. */
function isLines(text: string): boolean {
  const lines = text.split('\n', 2)
  return lines.length > 1 && lines.every((line) => line.trim() !== '' && scan(line) === undefined)
}

function alone(code: string, message: string, options: TextOptions, position?: Position, limit = 0): Problem[] {
  const [finding] = runnerFor(options).named(code, '', message, { limit, offset: limit })
  return finding ? [{ ...problemOf(finding, options), ...(position && moved(position, options)) }] : []
}

function repeated(text: string, document: unknown, options: TextOptions): readonly Problem[] {
  const runner = runnerFor(options)
  return duplicateKeys(text)
    .slice(0, FINDING_LIMIT)
    .flatMap(({ pointer, name }) => runner.named('duplicate-key', pointer, 'repeated', { name }))
    .map((finding) => problemOf(finding, options, document))
}

function placed(problems: readonly Problem[], text: string, options: TextOptions): Problem[] {
  const positions = locate(
    text,
    problems.flatMap(({ pointer, cause }) => (cause ? [pointer, cause.pointer] : [pointer])),
  )
  const at = <P extends { readonly pointer: string }>(place: P): P => {
    const position = positions.get(place.pointer)
    return position ? { ...place, ...moved(position, options) } : place
  }
  return problems
    .map((problem) => at(problem.cause ? { ...problem, cause: at(problem.cause) } : problem))
    .sort(
      (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0) || (one.code < other.code ? -1 : 1),
    )
}

function moved({ line, column, endLine, endColumn }: Position, { line: first = 1 }: TextOptions): Position {
  return { line: line + first - 1, column, endLine: endLine + first - 1, endColumn }
}

/** A repeated name; `pointer` is that of its value. */
interface DuplicateKey {
  readonly pointer: string
  readonly name: string
}

/**
 * True when the JSON text holds a name twice. Each of the `members` members and `strings` string values of the parsed document has come
 * from two quotes; a name that was overwritten leaves more.
 */
export function hasDuplicateKeys(text: string, members: number, strings: number): boolean {
  return quotesIn(text) - escapedQuotesIn(text) !== 2 * (members + strings)
}

/** Every name that is repeated, once each. The text must be JSON. */
export function duplicateKeys(text: string): readonly DuplicateKey[] {
  const seen: Set<string>[] = []
  const found = new Map<string, DuplicateKey>()
  let before = 0
  scan(text, {
    member(path) {
      const depth = path.length
      if (depth > before) seen[depth] = new Set()
      before = depth
      const name = String(path[depth - 1])
      const names = (seen[depth] ??= new Set())
      if (names.has(name)) found.set(pointer('', ...path), { pointer: pointer('', ...path), name })
      names.add(name)
    },
    value(path) {
      before = Math.min(before, path.length)
    },
  })
  return [...found.values()]
}

/** Room for 64 KiB of UTF-8, in which a quote is always one byte; overwritten by each call. */
const bytes = new Uint8Array(0x10000)

/** The same bytes by four. */
const words = new Uint32Array(bytes.buffer)

const encoder = new TextEncoder()

/** Number of quotes in a text. A search for each of them takes three times as long. */
function quotesIn(text: string): number {
  let quotes = 0
  for (let rest = text; ; ) {
    const { read, written } = encoder.encodeInto(rest, bytes)
    const count = (written + 3) >> 2
    bytes.fill(0, written, count * 4)
    quotes += quotesInWords(count)
    if (read >= rest.length) return quotes
    rest = rest.slice(read)
  }
}

/** Counts in the four bytes of a word at once: each keeps a count of its own, and is emptied before it overflows. */
function quotesInWords(count: number): number {
  let quotes = 0
  for (let index = 0; index < count; ) {
    let lanes = 0
    for (const end = Math.min(count, index + 255); index < end; index++) {
      const difference = (words[index] as number) ^ 0x22222222
      // The highest bit of each byte that is zero, and of no other.
      const zeros = ~(((difference & 0x7f7f7f7f) + 0x7f7f7f7f) | difference) & 0x80808080
      lanes = (lanes + (zeros >>> 7)) | 0
    }
    quotes += (lanes & 255) + ((lanes >>> 8) & 255) + ((lanes >>> 16) & 255) + (lanes >>> 24)
  }
  return quotes
}

function escapedQuotesIn(text: string): number {
  if (!text.includes('\\')) return 0
  let quotes = 0
  for (const [escaped] of text.matchAll(/\\./g)) if (escaped === '\\"') quotes++
  return quotes
}
