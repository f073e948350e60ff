/** Applies automatic fixes to a text; every other character stays unchanged. */
import { applyEdits, type Edit, JsonText } from '../../stac/json-text.ts'
import { type LintOptions, lintText } from '../lint.ts'
import { namesOf, valueAt } from '../pointer.ts'
import type { Problem } from '../problem.ts'
import type { FindingContext } from '../runner.ts'
import type { FixPlace } from './fixes.ts'
import { fixes, isRemovable, mayBeUsed, type UsedElsewhere } from './fixes.ts'

/** Options of `fixText`. */
export interface FixOptions extends Omit<LintOptions, 'complete' | 'run'> {
  /** True to apply suggestions too, which need a review; default: safe fixes only. */
  readonly suggestions?: boolean
  /** Rules, or codes of their cases, whose findings are fixed; default all. */
  readonly only?: readonly string[]
  /**
   * Returns true when other documents use a scheme of this one, which is then not removed. Default: all schemes of a document with links
   * to documents below it are used.
   */
  readonly usedElsewhere?: UsedElsewhere
}

/** A text after its fixes. */
export interface Fixed {
  /** The text after all fixes. */
  readonly text: string
  /** The fixed findings, in the order of their fixes; positions are those of the text before its round. */
  readonly fixed: readonly Problem[]
}

/** Maximum number of rounds: a fix may make another one possible. */
const ROUNDS = 10

/**
 * Applies fixes until none is left. Fixes that touch each other are applied one after the other; a fix after which
 * the document has more errors than before is undone. A text that is not JSON, or too large, is returned unchanged.
 *
 * Errors: `TypeError` for bytes or a parsed document.
 *
 * @example const { text, fixed } = fixText(before)
 */
export function fixText(source: string, options: FixOptions = {}): Fixed {
  if (typeof source !== 'string') throw new TypeError("fixText needs the JSON text as a string: readFileSync(path, 'utf8')")
  const mark = source.charCodeAt(0) === 0xfeff ? source.slice(0, 1) : ''
  let text = source.slice(mark.length)
  const fixed: Problem[] = []
  const refused = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const found = candidates(text, options).filter(({ problem }) => !refused.has(keyOf(problem)))
    const others = found.filter(({ problem }) => !LAST.has(problem.code))
    const chosen = apart(others.length > 0 ? others : found)
    if (chosen.length === 0) break
    const applied = withoutHarm(text, chosen, options)
    // It may be harmless after another fix.
    if (applied.done.length > 0) refused.clear()
    else for (const { problem } of chosen) refused.add(keyOf(problem))
    fixed.push(...applied.done)
    text = applied.text
  }
  return { text: mark + text, fixed }
}

/** Fixed last: a scheme may be used after a reference was fixed. */
const LAST = new Set(['unused-scheme'])

/** A finding and the edits that fix it. */
export interface Candidate {
  readonly problem: Problem
  readonly edits: readonly Edit[]
}

/**
 * Returns the fixes of the findings that are `wanted`, for an editor: each is applied alone, and adds no error. A byte order mark is not part
 * of the text.
 */
export function fixesIn(text: string, options: FixOptions, wanted: (problem: Problem) => boolean): readonly Candidate[] {
  const found = candidates(text, options).filter(({ problem }) => wanted(problem))
  const errors = found.length > 0 ? errorsIn(text, options) : 0
  return found.filter((candidate) => errorsIn(apply(text, [candidate]), options) <= errors)
}

/** Returns the findings that have a fix, in the order of their places. */
function candidates(text: string, options: FixOptions): readonly Candidate[] {
  const { suggestions = false, only, usedElsewhere = mayBeUsed } = options
  const abouts = new Map<string, FindingContext>()
  const complete = (problem: Problem, about: FindingContext) => {
    abouts.set(keyOf(problem), about)
    return problem
  }
  const all = lintText(text, { ...options, complete })
  const problems = all.filter(
    ({ rule, code, fix }) =>
      (fix === 'safe' || (suggestions && fix === 'suggestion')) && (!only || only.includes(rule) || only.includes(code)),
  )
  if (problems.length === 0) return []
  // A second byte order mark is not JSON, so nothing is fixed.
  if (text.charCodeAt(0) === 0xfeff) return []
  const root: unknown = JSON.parse(text)
  const json = new JsonText(text)
  return problems.flatMap((problem) => {
    const about = abouts.get(keyOf(problem))
    const isUsed = () => !isRemovable(problem, all) || usedElsewhere(namesOf(problem.pointer).at(-1) ?? '', about?.document)
    if (problem.code === 'unused-scheme' && isUsed()) return []
    const place: FixPlace | undefined = about && { ...about, pointer: problem.pointer, value: valueAt(root, problem.pointer), root }
    const edits = place && fixes[problem.code]?.(json, place)
    return edits && edits.length > 0 ? [{ problem, edits }] : []
  })
}

/** Returns the first of fixes that overlap or touch; the others are left to the next round. */
function apart(found: readonly Candidate[]): readonly Candidate[] {
  const taken: Edit[] = []
  return found.filter(({ edits }) => {
    if (edits.some((edit) => taken.some((other) => edit.start <= other.end && other.start <= edit.end))) return false
    taken.push(...edits)
    return true
  })
}

/** Applies all fixes at once if each fixed error reduces the number of errors; otherwise one by one, without those that add errors. */
function withoutHarm(text: string, chosen: readonly Candidate[], options: FixOptions): { text: string; done: readonly Problem[] } {
  const fixed = chosen.filter(({ problem }) => problem.severity === 'error').length
  let errors = errorsIn(text, options)
  const all = apply(text, chosen)
  if (errorsIn(all, options) <= errors - fixed) return { text: all, done: chosen.map(({ problem }) => problem) }
  const kept: Candidate[] = []
  for (const candidate of chosen) {
    const left = errorsIn(apply(text, [...kept, candidate]), options)
    if (left > errors) continue
    errors = left
    kept.push(candidate)
  }
  return { text: apply(text, kept), done: kept.map(({ problem }) => problem) }
}

/** Returns the number of errors of a text; infinite if it is not JSON. */
function errorsIn(text: string, options: FixOptions): number {
  const problems = lintText(text, options)
  return problems.some(({ code }) => code === 'not-json')
    ? Number.POSITIVE_INFINITY
    : problems.filter(({ severity }) => severity === 'error').length
}

function apply(text: string, chosen: readonly Candidate[]): string {
  return applyEdits(
    text,
    chosen.flatMap((candidate) => candidate.edits),
  )
}

function keyOf({ code, pointer }: Problem): string {
  return `${code} ${pointer}`
}
