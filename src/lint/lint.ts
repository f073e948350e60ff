/** Linting of parsed documents. */
import { kindOf, type StacDocument } from '../stac/document.ts'
import { isObject, own } from '../stac/json.ts'
import type { DocumentType } from '../stac/recognition.ts'
import { declarationsOf } from '../stac/version.ts'
import { withCause } from './cause.ts'
import type { Levels } from './levels.ts'
import { excessOf } from './limits.ts'
import { LintRun } from './lint-run.ts'
import { isSilent, type Part, partsOf } from './parts.ts'
import type { Preset, Problem } from './problem.ts'
import { readDocument } from './read-model.ts'
import { type Completion, type Finding, problemOf, Runner } from './runner.ts'
import { straysIn } from './strays.ts'
import { DEPTH_LIMIT, survey } from './survey.ts'

export interface LintOptions extends Completion {
  /** Default `recommended`. */
  readonly preset?: Preset
  /** Levels by rule id or code, laid over the preset. */
  readonly rules?: Levels
  /** Path or URL for the findings; not read. */
  readonly document?: string
  /** Documents that may lend their schemes, nearest first: Collection, Catalog, root. They are not linted. */
  readonly parents?: readonly StacDocument[]
  /** Retrieval URL of the document. */
  readonly url?: string
  /** The run that the document belongs to, for mistakes that are only seen in several documents. */
  readonly run?: LintRun
}

/**
 * Returns what is wrong with a parsed document, in the order in which it stands there. A FeatureCollection, a list of
 * Collections and an array are linted with all that is in them; pointers start at the root of what was given.
 *
 * Never throws for anything that `JSON.parse` returns.
 */
export function lint(document: unknown, options: LintOptions = {}): Problem[] {
  return inspect(document, options).problems.sort(byPosition)
}

/** Findings in no particular order, and what the walk over the whole value counted. */
export interface Inspection {
  readonly problems: Problem[]
  members: number
  strings: number
}

/** Lints without sorting; for callers that have the text too. */
export function inspect(document: unknown, options: LintOptions): Inspection {
  const inspection: Inspection = { problems: [], members: 0, strings: 0 }
  const runner = runnerFor(options)
  const parts = partsOf(document)
  const run = options.run ?? (parts.length > 1 ? new LintRun() : undefined)
  for (const part of parts) {
    for (const finding of inspectPart(part, runner, inspection, { ...options, run })) {
      inspection.problems.push(withCause(problemOf(finding, options, part.value, part.at), part))
    }
  }
  return inspection
}

function inspectPart(
  part: Part,
  runner: Runner,
  inspection: Inspection,
  { url, document: name, parents = [], run }: LintOptions,
): readonly Finding[] {
  const { value, at, depth, inside, wrapper, likely } = part
  const declarations = declarationsOf(value)
  const isDocument = isObject(value) && (kindOf(value) !== 'unknown' || likely !== undefined)
  // Most documents do not use the extension: they are only counted. What has another type for the rules is counted as it is written.
  const plain = isDocument && !likely && declarations.length > 0 ? undefined : survey(value, depth, inside)
  const isUsed = !plain || (plain.tooDeep === undefined && !isSilent(plain, declarations))
  const around = { at, depth, inside, url, name, wrapper, parents, preset: runner.preset, run, declarations }
  const reading = isDocument && isUsed ? readDocument(likely ? { ...value, type: likely } : value, around) : undefined
  const { members = 0, strings = 0, tooDeep } = plain ?? reading?.counted ?? {}
  inspection.members += members
  inspection.strings += strings
  if (tooDeep !== undefined) return runner.named('document-limit', at + tooDeep, 'depth', { limit: DEPTH_LIMIT })
  if (!isDocument) return runner.named('unknown-document', at, 'unknown')
  const mistyped = likely ? wrongType(value, at, likely, runner) : []
  if (!reading) return mistyped
  const model = reading.document
  const excess = excessOf(model)
  if (excess) return runner.named('document-limit', excess.pointer, excess.message, { limit: excess.limit })
  if (reading.hasStrays) model.strays = straysIn(model)
  return [...mistyped, ...runner.run(model)]
}

const KINDS: Readonly<Record<DocumentType, string>> = {
  Feature: 'an Item',
  Collection: 'a Collection',
  Catalog: 'a Catalog',
  FeatureCollection: 'a list of Items',
}

function wrongType(document: StacDocument, at: string, likely: DocumentType, runner: Runner): readonly Finding[] {
  const type = own(document, 'type')
  if (type === undefined) return runner.named('wrong-document-type', at, 'missing', { kind: KINDS[likely], likely })
  const shown = typeof type === 'string' ? `"${type}"` : 'not a string'
  return runner.named('wrong-document-type', `${at}/type`, 'wrong', { type: shown, kind: KINDS[likely], likely })
}

const runners = new WeakMap<Levels, Map<Preset, Runner>>()
const NO_LEVELS: Levels = {}

/** The runner of these options. Runners are kept as long as their table of levels, for they are made once and asked many times. */
export function runnerFor({ preset = 'recommended', rules = NO_LEVELS }: LintOptions): Runner {
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
