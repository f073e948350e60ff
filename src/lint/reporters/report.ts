/** The outcome of a run for reporters: findings (equal ones merged) and totals; and the formats of reports. */

import { forJson, forLine } from '../../text/sanitize.ts'
import type { Cause, Level, Place, Problem, Severity } from '../problem.ts'

/** A document that could not be linted, with the code of the error. */
export interface Incomplete {
  /** Path or URL of the document. */
  readonly url: string
  /** Code of the error. */
  readonly code: string
  /** The error and its hint in words: for people, not stable. */
  readonly message?: string
  /** What to do about it. */
  readonly hint?: string
  /** The exit code, where it differs from that of the error code: 0 for a limit that the user set. */
  readonly exit?: number
}

/** The versioned report of a run, as `--format json` prints it and schemas/report.json describes it. */
export interface Report {
  /** Version of this format. */
  readonly version: 1
  /** The findings. */
  readonly problems: readonly Problem[]
  /** Their totals. */
  readonly summary: Summary
  /** Facts about a part of a crawl that `merge` needs. */
  readonly shard?: Shard
}

/** Facts about a part of a crawl besides its findings. */
export interface Shard {
  readonly index: number
  readonly of: number
  /** Names of the first documents, with or without findings. */
  readonly names: readonly string[]
  /** Schemes, which are compared with those of the other parts. */
  readonly definitions: readonly ShardDefinition[]
  /** Names that the documents of the part refer to and do not define. */
  readonly outerRefs: readonly string[]
  /** Findings that documents of the other parts may refute. They are not in the report of the part. */
  readonly unsettled: readonly Problem[]
  /** Present for a part of files instead of a crawl, which has no `definitions` and `unsettled`. */
  readonly files?: FileShard
}

/** Facts about a part of files. */
export interface FileShard {
  /** The numbers of the inputs in the order of the command line, for those in the report. */
  readonly inputs: Readonly<Record<string, number>>
  /** Findings that depend on the documents of the other parts. They are not in the report of the part. */
  readonly pending: readonly Pending[]
}

/** A finding that depends on the documents of the other parts. */
export interface Pending {
  /** Number of the document or list, within the part. */
  readonly block: number
  /** The finding; `\u0001` and a number are a placeholder for the other document of a conflict. */
  readonly problem: Problem
  /** For a conflict: the definition, a hash of its meaning, and the name of its document in messages about others. */
  readonly definition?: { readonly name: string; readonly hash: string; readonly where: string }
  /** True if it is in the baseline. */
  readonly known?: true
}

/** One definition of the name of a scheme, at its first position. */
export interface ShardDefinition {
  readonly name: string
  /** Hash of the definition: equal for definitions with the same meaning. */
  readonly hash: string
  readonly document: string
  readonly id?: string
  readonly pointer: string
  /** The severity when another document defines the name differently. */
  readonly level: Level
}

/** Totals of a run; they include findings that a report does not list. */
export interface Summary {
  /** Documents that were read. */
  readonly documents: number
  /** Findings; one that was found in several places counts once. */
  readonly errors: number
  /** Findings of severity `warn`. */
  readonly warnings: number
  /** Findings of severity `info`. */
  readonly infos: number
  /** Places of all findings; absent when each has one. */
  readonly places?: number
  /** Findings that `--fix` repairs; absent when there are none. */
  readonly fixable?: number
  /** Findings that only `--fix-suggestions` repairs; absent when there are none. */
  readonly suggestions?: number
  /** Findings that are in the baseline: counted only here. */
  readonly baselined?: number
  /** Findings that are counted but not listed, to limit memory; absent for 0. */
  readonly unlisted?: number
  /** Files of folders that are not STAC documents; absent when there are none. */
  readonly skipped?: number
  /** Documents that could not be read, and limits that were reached. */
  readonly incomplete: readonly Incomplete[]
}

/** Settings of a reporter besides the report. */
export interface ReportOptions {
  /** True to print colours; default false. */
  readonly color?: boolean
  /** Texts by document name, for code frames and byte columns. */
  readonly texts?: ReadonlyMap<string, string>
  /** Findings shown for people; totals count all. Default 100. */
  readonly limit?: number
  /** Names of the first documents that were read, with or without findings. */
  readonly names?: readonly string[]
  /** Version of the program, for formats that contain it. */
  readonly version?: string
  /** Findings of this severity and higher fail, for formats of test results; default `error`. */
  readonly failSeverity?: Severity
}

/** Returns a report as text, with a line feed at its end. Text of documents is escaped for programs that read the format. */
export type Reporter = (report: Report, options?: ReportOptions) => string

/** Writes a report line by line, as findings arrive. */
export interface LineReporter {
  /** Returns the line of a finding, with its line feed; empty for one that is only counted. */
  line(problem: Problem): string
  /** Returns the text after the last finding. */
  end(report: Omit<Report, 'problems'>): string
}

/**
 * Returns the report of findings in `documents` documents, in their order; equal findings of one input become one finding.
 *
 * @example const report = reportOf(lint(item), 1)
 */
export function reportOf(found: readonly Problem[], documents: number, incomplete: readonly Incomplete[] = []): Report {
  const read = new Map<string | undefined, Problem[]>()
  for (const problem of found) {
    const others = read.get(problem.document)
    if (others) others.push(problem)
    else read.set(problem.document, [problem])
  }
  const problems = [...read.values()].flatMap(withoutRepeats)
  const counted = new Totals()
  for (const problem of problems) counted.add(problem)
  return { version: 1, problems, summary: { documents, ...counted.summary(), incomplete } }
}

/** Counts findings. */
export class Totals {
  findings = 0
  readonly #counts = { error: 0, warn: 0, info: 0 }
  readonly #fixes = { safe: 0, suggestion: 0 }
  #places = 0

  add({ severity, fix, count = 1 }: Problem): void {
    this.findings++
    this.#counts[severity]++
    this.#places += count
    if (fix) this.#fixes[fix]++
  }

  summary(): Omit<Summary, 'documents' | 'incomplete'> {
    const { error: errors, warn: warnings, info: infos } = this.#counts
    const { safe: fixable, suggestion: suggestions } = this.#fixes
    const places = this.#places > this.findings && { places: this.#places }
    return { errors, warnings, infos, ...places, ...(fixable > 0 && { fixable }), ...(suggestions > 0 && { suggestions }) }
  }
}

/** Returns the totals of a run in one line. */
export function totals({ documents, errors, warnings, infos, incomplete, ...more }: Summary): string {
  const { places = 0, baselined = 0, unlisted = 0, skipped = 0, fixable = 0, suggestions = 0 } = more
  const unread = unreadOf(incomplete).length
  const counts = [
    plural(errors, 'error'),
    plural(warnings, 'warning'),
    `${plural(infos, 'info')}${places > 0 ? ` in ${places} places` : ''}`,
  ]
  const rest = [
    baselined > 0 && `${baselined} in the baseline`,
    unlisted > 0 && `${unlisted} findings not listed`,
    unread > 0 && `${unread} not read`,
    unread < incomplete.length && `${plural(incomplete.length - unread, 'limit')} applied`,
    fixable > 0 && `${fixable} fixable with --fix`,
    suggestions > 0 && `${suggestions} ${fixable > 0 ? 'more ' : ''}with --fix-suggestions`.replace(/^(\d+) with/, '$1 fixable with'),
  ]
  const skips = skipped > 0 ? `; ${plural(skipped, 'file')} skipped as no STAC document${skipped === 1 ? '' : 's'}` : ''
  return `${plural(documents, 'document')}: ${[...counts, ...rest.filter((part) => part !== false)].join(', ')}${skips}`
}

/** Returns what could not be read, without the limits that the user set: they have exit code 0. */
export function unreadOf(incomplete: readonly Incomplete[]): readonly Incomplete[] {
  return incomplete.filter(({ exit }) => exit !== 0)
}

/** Returns what could not be read and has no finding: a crawl has a finding for each document that it could not read, with its code. */
export function unreadBesides({ problems, summary }: Report): readonly Incomplete[] {
  const found = new Set(problems.flatMap((problem) => (problem.rule === 'unreachable' ? codesIn(problem) : [])))
  return unreadOf(summary.incomplete).filter(({ url, code }) => !found.has(`${code} ${url}`))
}

/** Returns the codes in the message of a finding, each with its document. */
function codesIn({ document, message }: Problem): readonly string[] {
  return [...message.matchAll(/\(([A-Z][A-Z\d_]*)\)/g)].map(([, code]) => `${code} ${document}`)
}

/** Returns a number with its noun. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** Findings with the same code and message. */
export interface Group {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  /** Places of all of them. */
  readonly count: number
  /** The first of them, at most {@link SHOWN}, each from another document. */
  readonly first: readonly Problem[]
}

const SHOWN = 3

const ORDER: Readonly<Record<Severity, number>> = { error: 0, warn: 1, info: 2 }

/** Returns the groups, most severe and largest first; equal ones in the order of their first finding. */
export function groupsOf(problems: readonly Problem[]): readonly Group[] {
  const groups = new Map<string, { code: string; severity: Severity; message: string; count: number; first: Problem[] }>()
  for (const problem of problems) {
    const { code, severity, message } = problem
    const key = JSON.stringify([code, severity, message])
    const group = groups.get(key) ?? { code, severity, message, count: 0, first: [] }
    groups.set(key, group)
    group.count += problem.count ?? 1
    const another = group.first.every(({ document, id }) => document !== problem.document || id !== problem.id)
    if (another && group.first.length < SHOWN) group.first.push(problem)
  }
  return [...groups.values()].sort((one, other) => ORDER[one.severity] - ORDER[other.severity] || other.count - one.count)
}

/** Returns at most that many findings in their original order: first errors are kept, then warnings, then infos. */
export function worst(problems: readonly Problem[], most: number): readonly Problem[] {
  if (problems.length <= most) return problems
  const kept = new Set(worstFirst(problems).slice(0, most))
  return problems.filter((problem) => kept.has(problem))
}

/** Returns the findings, most severe first; equally severe ones in their order. */
export function worstFirst(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((one, other) => ORDER[one.severity] - ORDER[other.severity])
}

/** `##[…]`, `##vso[…]` and `##teamcity[…]` are commands to build services anywhere in a line. */
const COMMAND = /##(?=\w*\[)/g

/** Escapes text as one line that is safe for terminals and build services: control characters, and the start of commands. */
export function escapeLine(text: string): string {
  return forLine(text)
    .replace(COMMAND, '#\\u{23}')
    .replace(/^(\s*):(?=:)/, '$1\\u{3a}')
}

/** Returns JSON that is safe for build services: starts of commands and Unicode line separators are escaped. */
export function escapeJson(value: unknown, indent?: number): string {
  return forJson(value, indent)
    .replace(COMMAND, '#\\u0023')
    .replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`)
}

/** Maximum number of places that a repeated finding lists; its `count` counts all. */
export const PLACES = 5

/**
 * Returns the findings of one document, or of one list of documents, with equal ones as one finding with `count` and `places`, in the
 * order of their first places. Findings are equal when rule, code, severity, message and cause are. Counts of merged findings are added.
 */
export function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length < 2 && problems[0]?.cause === undefined) return problems
  const repeats = new Repeats()
  repeats.add(problems)
  return repeats.take()
}

type Order = (one: Pick<Problem, 'document'>, other: Pick<Problem, 'document'>) => number

/** Collects the findings of documents that arrive in parts; memory grows with the number of different findings. */
export class Repeats {
  readonly #groups = new Map<string, RepeatedFinding>()
  readonly #order: Order | undefined

  /** @param order of documents that arrive in any order; default: the order of the findings */
  constructor(order?: Order) {
    this.#order = order
  }

  get size(): number {
    return this.#groups.size
  }

  add(problems: readonly Problem[]): void {
    for (const problem of problems) {
      const key = keyOf(problem)
      const group = this.#groups.get(key)
      if (group) group.add(problem, this.#order)
      else this.#groups.set(key, new RepeatedFinding(problem))
    }
  }

  /** Returns the collected findings, and starts an empty collection. */
  take(): readonly Problem[] {
    const groups = this.#order ? [...this.#groups].sort(([one], [other]) => (one < other ? -1 : 1)) : [...this.#groups]
    const problems = groups.map(([, group]) => group.problem())
    const isMoved = groups.some(([, group]) => group.isTold)
    this.#groups.clear()
    return isMoved && !this.#order ? problems.sort(byLine) : problems
  }
}

/** Equal findings. */
class RepeatedFinding {
  readonly #first: Problem
  #places: Place[] = []
  #count = 0
  /** The document of the first finding; undefined once another document has the same finding. */
  #only: string | undefined
  #fix: Problem['fix']

  constructor(first: Problem) {
    this.#first = first
    this.#fix = first.fix
    this.#only = documentOf(first)
    this.add(first)
  }

  /** True when the finding is reported at its cause: when several documents lack a scheme, their wrapper or parent lacks it. */
  get isTold(): boolean {
    return this.#first.cause !== undefined && (this.#only === undefined || this.#first.cause.document !== undefined)
  }

  add(problem: Problem, order?: Order): void {
    this.#count += problem.count ?? 1
    if (documentOf(problem) !== this.#only) this.#only = undefined
    if (problem.fix === undefined || this.#fix === undefined) this.#fix = undefined
    else if (problem.fix === 'suggestion') this.#fix = 'suggestion'
    const places = problem.places ?? [placeOf(problem)]
    if (!order) this.#places.push(...places.slice(0, PLACES - this.#places.length))
    else this.#places = [...this.#places, ...places].sort(order).slice(0, PLACES)
  }

  problem(): Problem {
    const { cause, count: _count, places: _places, ...first } = this.#first
    const { fix: _fix, ...unfixed } = first
    const fix = this.#fix && { fix: this.#fix }
    const repeated = { count: this.#count, places: this.#places }
    if (cause && this.isTold) return { ...toldAt(cause, first), ...fix, ...repeated }
    // The order of the members does not depend on the findings around this one.
    return { ...(fix ? { ...first, ...fix } : unfixed), ...(this.#count > 1 && repeated) }
  }
}

/** Returns the finding at the place of its cause. */
function toldAt(cause: Cause, { rule, code, severity, message, document, fingerprint }: Problem): Problem {
  const told = { ...(document !== undefined && { document }), ...cause }
  const name = `${code} ${told.id ?? told.document ?? ''} ${told.pointer}`
  return { rule, code, severity, message, ...told, ...(fingerprint !== undefined && { fingerprint: name }) }
}

function keyOf({ rule, code, severity, message, document = '', pointer, cause }: Problem): string {
  const told = cause && `${cause.document ?? document}#${cause.pointer}`
  return JSON.stringify([rule, code, severity, message, told ?? schemePart(pointer)])
}

/**
 * Returns the part of a pointer that distinguishes findings: from `auth:schemes` on, wherever that map is. Findings about assets or links
 * with the same message are equal.
 */
function schemePart(pointer: string): string {
  return /\/auth:schemes\/.*$/s.exec(pointer)?.[0] ?? ''
}

/** Returns the document of the finding, within the list that the cause is in. */
function documentOf({ document = '', pointer, cause }: Problem): string {
  if (!cause) return ''
  const around = cause.pointer.replace(/\/auth:schemes.*$/s, '')
  return `${document}#${pointer.slice(around.length).split('/', 3).join('/')}`
}

function placeOf({ document, id, pointer, line, column, cause }: Problem): Place {
  return {
    ...(cause?.document !== undefined && document !== undefined && { document }),
    ...(id !== undefined && { id }),
    pointer,
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  }
}

function byLine(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

/** Maximum number of other places that are shown. */
const OTHERS_SHOWN = 3

/**
 * Returns the message with the `id` of a document whose name does not identify it, the number of places, and the first ones other than the
 * finding's own.
 */
export function messageOf({ message, count = 1, places = [], ...own }: Problem): string {
  const others = places.filter((place) => place.document !== undefined || place.pointer !== own.pointer)
  const shown = others
    .slice(0, OTHERS_SHOWN)
    .map((place) => placeText({ ...place, document: place.document ?? own.document }, place.document))
    .join(', ')
  const identified = message + idOf(own)
  if (count === 1) return shown === '' ? identified : `${identified} (in ${shown})`
  if (others.length === places.length) return `${identified} (in ${count} places, first ${shown})`
  return `${identified} (and ${count - 1} more ${count === 2 ? 'place' : 'places'}, first ${shown})`
}

/** Returns a place as text: its document if that is another one, with line and column or else its pointer. */
function placeText(place: Located, other = ''): string {
  const { pointer, line, column } = place
  if (line !== undefined) return `${other}${other && ':'}${line}:${column ?? 1}${idOf(place)}`
  return `${other === '' ? pointer : `${other}#${pointer}`}${idOf(place)}`
}

/** A place with the document that it is in. */
type Located = Omit<Place, 'document'> & { readonly document?: string | undefined }

/** Maximum length of an `id` that is shown. */
const LONGEST_ID = 200

/** Returns ` (id "…")` for a document from a URL or in a list, whose name changes or is shared; empty for a file of one document. */
export function idOf({ id, document = '', pointer }: Located): string {
  const isShared = document.includes('://') || /^\/(?:(?:features|collections|children)\/)?\d+(?:\/|$)/.test(pointer)
  if (id === undefined || !isShared) return ''
  return ` (id "${id.length > LONGEST_ID ? `${id.slice(0, LONGEST_ID)}…` : id}")`
}

/** The formats; each is loaded on first use. */
const REPORTERS = {
  pretty: async () => (await import('./pretty.ts')).pretty,
  concise: async () => (await import('./concise.ts')).concise,
  json: async () => (await import('./json.ts')).json,
  ndjson: async () => (await import('./ndjson.ts')).ndjson,
  sarif: async () => (await import('./sarif.ts')).sarif,
  junit: async () => (await import('./junit.ts')).junit,
  github: async () => (await import('./github.ts')).github,
  gitlab: async () => (await import('./gitlab.ts')).gitlab,
  markdown: async () => (await import('./markdown.ts')).markdown,
  rdjson: async () => (await import('./rdjson.ts')).rdjson,
} satisfies Readonly<Record<string, () => Promise<Reporter>>>

/** The formats of reports. */
export type Format = keyof typeof REPORTERS

/** The names of the formats; the first is for people. */
export const FORMATS = Object.keys(REPORTERS) as readonly Format[]

/**
 * Returns the reporter of a format that is written line by line, which shows people at most `most` findings; undefined for other formats.
 *
 * @example const reporter = await lineReporterOf('ndjson', 100)
 */
export async function lineReporterOf(format: Format, most?: number): Promise<LineReporter | undefined> {
  if (format === 'ndjson') return (await import('./ndjson.ts')).ndjsonLines
  if (format === 'concise') return (await import('./concise.ts')).conciseLines(most)
  return undefined
}

/**
 * Returns the reporter of a format.
 *
 * @example const text = (await reporterOf('sarif'))(report)
 */
export function reporterOf(format: Format): Promise<Reporter> {
  if (!FORMATS.includes(format)) throw new TypeError(`unknown format ${format}; formats: ${FORMATS.join(', ')}`)
  return REPORTERS[format]()
}
