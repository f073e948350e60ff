/** Lints parsed documents, and texts: with lines and columns, and with findings that a parser hides, such as repeated names. */

import {
  pointer as append,
  DOCUMENT_LIMITS,
  type DocumentType,
  declarationsOf,
  isObject,
  kindOf,
  own,
  type StacDocument,
  schemePlaces,
} from '../stac/document.ts'
import { duplicateKeys, scan } from '../stac/json-text.ts'
import type { Levels } from './config.ts'
import { LintRun } from './lint-run.ts'
import { type LintDocument, outerRefs } from './model.ts'
import { locate, type Position, positionAt, valueAt } from './pointer.ts'
import type { Cause, Preset, Problem } from './problem.ts'
import { readDocument } from './read-model.ts'
import { type Completion, FINDING_LIMIT, type Finding, problemOf, Runner } from './runner.ts'
import { DEPTH_LIMIT, isSilent, type Part, partsOf, survey } from './survey.ts'

/** Options of `lint`. */
export interface LintOptions extends Completion {
  /** Default `recommended`. */
  readonly preset?: Preset
  /** Levels by rule id or code, which replace those of the preset. */
  readonly rules?: Levels
  /** Path or URL for the findings; not read. */
  readonly document?: string
  /** Documents whose schemes may be used, nearest first: Collection, Catalog, root. They are not linted. */
  readonly parents?: readonly StacDocument[]
  /** Retrieval URL of the document. */
  readonly url?: string
  /** The run that the document belongs to, for findings that involve several documents. */
  readonly run?: LintRun
  /** True to report nothing about a document that neither uses nor declares the extension, unless it cannot be read. Default false. */
  readonly skipUnused?: boolean
}

/**
 * Returns the findings of a parsed document, in the order of their positions. A FeatureCollection, a list of
 * Collections and an array are linted with all that is in them; pointers start at the root of what was given.
 *
 * Never throws for anything that `JSON.parse` returns.
 *
 * @example for (const { severity, code, pointer, message } of lint(item)) console.log(severity, code, pointer, message)
 */
export function lint(document: unknown, options: LintOptions = {}): Problem[] {
  return inspect(document, options).problems.sort(byPosition)
}

/** Findings in no particular order, and the counts of the walk over the whole value. */
export interface Inspection {
  readonly problems: Problem[]
  members: number
  strings: number
  /** True when a document in it uses or declares the extension, also in a wrong way. */
  isUsed: boolean
}

/** Lints without sorting; for callers that have the text too. */
function inspect(document: unknown, options: TextOptions): Inspection {
  const inspection: Inspection = { problems: [], members: 0, strings: 0, isUsed: false }
  const runner = runnerFor(options)
  const parts = partsOf(document)
  const run = options.run ?? (parts.length > 1 ? new LintRun() : undefined)
  for (const part of parts) {
    for (const finding of inspectPart(part, runner, inspection, run, options)) {
      inspection.problems.push(withCause(problemOf(finding, options, part.value, part.at), part))
    }
  }
  // A run of the caller may have more documents.
  return run && !options.run ? { ...inspection, problems: [...run.settled(inspection.problems)] } : inspection
}

function inspectPart(
  part: Part,
  runner: Runner,
  inspection: Inspection,
  run: LintRun | undefined,
  { url, document: name, parents = [], skipUnused = false, line }: TextOptions,
): readonly Finding[] {
  const { value, at, depth, inside, wrapper, likely } = part
  const declarations = declarationsOf(value)
  const isDocument = isObject(value) && (kindOf(value) !== 'unknown' || likely !== undefined)
  // Most documents do not use the extension: they are only counted. Documents with a corrected `type` are counted as written.
  const plain = isDocument && !likely && declarations.length > 0 ? undefined : survey(value, part)
  const isUsed = !plain || !isSilent(plain, declarations)
  const around = { at, depth, inside, wrapper, url, name, parents, preset: runner.preset, run, declarations }
  const reading =
    isDocument && isUsed && plain?.tooDeep === undefined ? readDocument(likely ? { ...value, type: likely } : value, around) : undefined
  const { members = 0, strings = 0, tooDeep } = plain ?? reading?.counted ?? {}
  inspection.members += members
  inspection.strings += strings
  inspection.isUsed ||= isUsed
  if (tooDeep !== undefined) return runner.named('document-limit', tooDeep, 'depth', { limit: DEPTH_LIMIT })
  // Other files may be anything, but a line of NDJSON is an object.
  const mayBeForeign = skipUnused && !isUsed && (isObject(value) || line === undefined)
  if (!isDocument) return mayBeForeign ? [] : noDocument(value, at, runner)
  const mistyped = likely ? wrongType(value, at, likely, runner) : []
  if (!reading) return mistyped
  const model = reading.document
  run?.addOuterRefs(outerRefs(model))
  const excess = excessOf(model)
  if (excess) return runner.named('document-limit', excess.pointer, excess.message, { limit: excess.limit })
  const found = runner.run(model)
  return mistyped.length > 0 ? [...mistyped, ...found] : found
}

const KINDS: Readonly<Record<DocumentType, string>> = {
  Feature: 'an Item',
  Collection: 'a Collection',
  Catalog: 'a Catalog',
  FeatureCollection: 'a list of Items',
}

function noDocument(value: unknown, at: string, runner: Runner): readonly Finding[] {
  if (at === '' && Array.isArray(value)) return runner.named('empty-list', at, 'empty')
  return runner.named('unknown-document', at, 'unknown', { found: typeIn(value) })
}

function typeIn(value: unknown): string {
  if (!isObject(value)) return 'it is not an object'
  return Object.hasOwn(value, 'type') ? `its type is ${quoted(value.type)}` : 'it has no type'
}

function quoted(type: unknown): string {
  return typeof type === 'string' ? `"${type}"` : 'not a string'
}

function wrongType(document: StacDocument, at: string, likely: DocumentType, runner: Runner): readonly Finding[] {
  const type = own(document, 'type')
  if (type === undefined) return runner.named('wrong-document-type', at, 'missing', { kind: KINDS[likely], likely })
  return runner.named('wrong-document-type', `${at}/type`, 'wrong', { type: quoted(type), kind: KINDS[likely], likely })
}

const runners = new WeakMap<Levels, Map<Preset, Runner>>()

const NO_LEVELS: Levels = {}

/** Returns the runner of these options. Runners are cached as long as their table of levels exists. */
function runnerFor({ preset = 'recommended', rules = NO_LEVELS }: LintOptions): Runner {
  const known = runners.get(rules) ?? new Map<Preset, Runner>()
  runners.set(rules, known)
  const runner = known.get(preset) ?? new Runner(preset, rules)
  known.set(preset, runner)
  return runner
}

function byPosition(one: Problem, other: Problem): number {
  return comparePointers(one.pointer, other.pointer) || one.code.localeCompare(other.code)
}

function comparePointers(one: string, other: string): number {
  const left = one.split('/')
  const right = other.split('/')
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [a = '', b = ''] = [left[index], right[index]]
    if (a === b) continue
    const numbers = Number(a) - Number(b)
    return Number.isNaN(numbers) ? (a < b ? -1 : 1) : numbers
  }
  return left.length - right.length
}

/** The limit that is exceeded, and its place. */
interface Excess {
  readonly pointer: string
  readonly message: 'schemes' | 'links'
  readonly limit: number
}

/** Returns the first limit on a number that the document exceeds, or undefined. */
function excessOf({ map, object, at }: LintDocument): Excess | undefined {
  if (map && isObject(map.value) && Object.keys(map.value).length > DOCUMENT_LIMITS.schemes)
    return { pointer: map.pointer, message: 'schemes', limit: DOCUMENT_LIMITS.schemes }
  const links = own(object, 'links')
  return Array.isArray(links) && links.length > DOCUMENT_LIMITS.links
    ? { pointer: `${at}/links`, message: 'links', limit: DOCUMENT_LIMITS.links }
    : undefined
}

/** True when the text is longer in UTF-8 bytes than the limit. */
function isLonger(text: string, limit: number): boolean {
  // A UTF-16 unit takes one to three bytes, so most texts need not be encoded.
  if (text.length > limit) return true
  return text.length * 3 > limit && new TextEncoder().encode(text).length > limit
}

/** Returns the names that the documents in a parsed value refer to and do not define. */
export function outerRefsIn(document: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { value, likely, ...around } of partsOf(document)) {
    if (!isObject(value)) continue
    const declarations = declarationsOf(value)
    const { document: model } = readDocument(likely ? { ...value, type: likely } : value, {
      ...around,
      parents: [],
      preset: 'recommended',
      declarations,
    })
    for (const name of outerRefs(model)) names.add(name)
  }
  return names
}

/** Codes of findings about schemes that a document does not define, by whether its wrapper lacks or defines them. */
const SCHEMES: Readonly<Record<string, 'lacks' | 'lends' | undefined>> = {
  'missing-schemes': 'lacks',
  'dangling-ref': 'lacks',
  'scheme-outside-document': 'lends',
}

/** Adds the cause to a finding about a wrapper or a document in it: what the wrapper lacks, or defines for its documents. */
function withCause(problem: Problem, part: Part): Problem {
  const kind = SCHEMES[problem.code]
  const cause = kind && (part.wrapper || part.inside) ? causeOf(problem, kind, part) : undefined
  return cause ? { ...problem, cause } : problem
}

function causeOf(problem: Problem, kind: 'lacks' | 'lends', { wrapper, value, at }: Part): Cause | undefined {
  const around = wrapper ? at.replace(/\/[^/]*\/[^/]*$/, '') : at
  const maps = schemePlaces(wrapper ?? (value as StacDocument))
  if (kind === 'lacks') {
    // A document with schemes of its own lacks one of them itself.
    const isComplete = wrapper !== undefined && isObject(value) && schemePlaces(value).length > 0
    return isComplete ? undefined : { pointer: around + (maps[0]?.pointer ?? '') }
  }
  const ref = String(valueAt(value, problem.pointer.slice(at.length)))
  const map = maps.find(({ schemes }) => own(schemes, ref) !== undefined)
  return map && { pointer: append(around + map.pointer, ref) }
}

/** Options of `lintText`. */
export interface TextOptions extends LintOptions {
  /** Line of a file on which the text begins, from 1: for files with a document on each line. */
  readonly line?: number
  /** Returns true for a finding whose line and column will be shown; the others have none. Default: all. */
  readonly isShown?: (problem: Problem) => boolean
}

/**
 * Returns the findings of a JSON text with lines and columns, in the order of their positions. Bytes must be UTF-8; a byte order mark
 * is skipped. A text that is not JSON, too large or too deep gives one finding. Never throws.
 *
 * @example for (const { line, column, message } of lintText(text, { document: 'item.json' })) console.log(`${line}:${column} ${message}`)
 */
export function lintText(source: string | Uint8Array, options: TextOptions = {}): Problem[] {
  const read = parseText(source, options)
  return 'text' in read ? lintParsed(read, options) : read.problems
}

/** A JSON text and its value. */
export interface ParsedText {
  readonly text: string
  readonly document: unknown
}

/** Parses a text as `lintText` does. A text that is not JSON or too large has one finding, or none if its rule is off. */
export function parseText(source: string | Uint8Array, options: TextOptions): ParsedText | { readonly problems: Problem[] } {
  const text = decode(source)
  if (text === undefined) return { problems: alone('not-json', 'encoding', options, { line: 1, column: 1, endLine: 1, endColumn: 1 }) }
  if (isLonger(text, DOCUMENT_LIMITS.other)) return { problems: tooLarge(DOCUMENT_LIMITS.other, options) }
  try {
    const document: unknown = JSON.parse(text)
    const isTooLarge = kindOf(document) === 'item' && isLonger(text, DOCUMENT_LIMITS.item)
    return isTooLarge ? { problems: tooLarge(DOCUMENT_LIMITS.item, options) } : { text, document }
  } catch {
    return { problems: notJson(text, options) }
  }
}

/** Returns the findings of a parsed text, as `lintText` does. */
export function lintParsed({ text, document }: ParsedText, options: TextOptions): Problem[] {
  const { problems, members, strings, isUsed } = inspect(document, options)
  const tooDeep = problems.some(({ code }) => code === 'document-limit')
  if (!tooDeep && (isUsed || !options.skipUnused) && hasDuplicateKeys(text, members, strings))
    problems.push(...repeated(text, document, options))
  return placed(problems, text, options)
}

const MiB = 2 ** 20

function tooLarge(limit: number, options: TextOptions): Problem[] {
  return alone('document-limit', 'bytes', options, undefined, limit / MiB)
}

/** Reused for all texts: without streaming, it keeps no state between calls. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

function decode(source: string | Uint8Array): string | undefined {
  if (typeof source === 'string') return source.charCodeAt(0) === 0xfeff ? source.slice(1) : source
  try {
    return UTF_8.decode(source)
  } catch {
    return undefined
  }
}

/** Returns the finding `not-json`. The parser's message quotes the text, which may contain secrets, so only the position is reported. */
function notJson(text: string, options: TextOptions): Problem[] {
  const offset = scan(text) ?? text.length
  const message =
    offset >= text.length ? 'end' : isLines(text) ? 'lines' : (otherFormat(text) ?? (isNoNumber(text, offset) ? 'number' : 'syntax'))
  return alone('not-json', message, options, positionAt(text, offset), new TextEncoder().encode(text.slice(0, offset)).length)
}

/** True for what Python writes for a number without a value. */
function isNoNumber(text: string, offset: number): boolean {
  return /^-?(?:NaN|Infinity)\b/.test(text.slice(offset, offset + 10))
}

/** Returns the message for a text that does not even start as JSON does. */
function otherFormat(text: string): string | undefined {
  if (/^\s*</.test(text)) return 'markup'
  return /^\s*[[{"]/.test(text) ? undefined : 'start'
}

/** True if each of the first lines is a JSON text (NDJSON). */
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

/** Returns the findings with their positions, in order; the text is searched only when one of them is shown. */
function placed(problems: Problem[], text: string, options: TextOptions): Problem[] {
  const shown = options.isShown ? problems.filter(options.isShown) : problems
  if (shown.length === 0) return problems
  const positions = locate(
    text,
    shown.flatMap(({ pointer, cause }) => (cause ? [pointer, cause.pointer] : [pointer])),
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

/**
 * True when an object of the JSON text has a name twice. Each of the `members` members and `strings` string values of the parsed document
 * accounts for two quotes; an overwritten name leaves more.
 */
export function hasDuplicateKeys(text: string, members: number, strings: number): boolean {
  return quotesIn(text) - escapedQuotesIn(text) !== 2 * (members + strings)
}

/** A buffer for 64 KiB of UTF-8, in which a quote is always one byte; overwritten by each call. */
const bytes = new Uint8Array(0x10000)

/** The same bytes in words of four. */
const words = new Uint32Array(bytes.buffer)

const encoder = new TextEncoder()

/** Counts the quotes in a text. Searching for each of them takes more than twice as long. */
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

/** Counts quotes in all four bytes of a word at once: each byte has its own counter, which is emptied before it overflows. */
function quotesInWords(count: number): number {
  let quotes = 0
  for (let index = 0; index < count; ) {
    let lanes = 0
    for (const end = Math.min(count, index + 255); index < end; index++) {
      const difference = (words[index] as number) ^ 0x22222222
      // Sets the highest bit of each byte that is zero, and no other bit.
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
