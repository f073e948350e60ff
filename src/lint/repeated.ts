/** Findings that say the same, told once: a catalog is often written by one program, which makes one mistake in every Item. */
import type { Cause, Place, Problem } from './problem.ts'

/** Places that a repeated finding lists; its `count` counts all. */
export const PLACES = 5

/**
 * Returns the findings of one document, or of one list of documents, with equal ones as one finding with `count` and `places`, in the
 * order of their first places. Findings are equal when rule, code, severity, message and cause are. What is already repeated is added up.
 */
export function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length < 2 && problems[0]?.cause === undefined) return problems
  const repeats = new Repeats()
  repeats.add(problems)
  return repeats.take()
}

type Order = (one: Pick<Problem, 'document'>, other: Pick<Problem, 'document'>) => number

/** Collects the findings of a list of documents that comes in parts; memory grows with what is different. */
export class Repeats {
  readonly #groups = new Map<string, Group>()
  readonly #order: Order | undefined

  /** @param order that of documents which come in any order; default: that in which findings come */
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
      else this.#groups.set(key, new Group(problem))
    }
  }

  /** Returns what was collected, and begins anew. */
  take(): readonly Problem[] {
    const groups = this.#order ? [...this.#groups].sort(([one], [other]) => (one < other ? -1 : 1)) : [...this.#groups]
    const problems = groups.map(([, group]) => group.problem())
    const isMoved = groups.some(([, group]) => group.isTold)
    this.#groups.clear()
    return isMoved && !this.#order ? problems.sort(byLine) : problems
  }
}

/** Equal findings. */
class Group {
  readonly #first: Problem
  #places: Place[] = []
  #count = 0
  /** The document that the first finding is about, as long as no other one has it too. */
  #only: string | undefined
  #fix: Problem['fix']

  constructor(first: Problem) {
    this.#first = first
    this.#fix = first.fix
    this.#only = documentOf(first)
    this.add(first)
  }

  /** True when the finding stands at its cause: what several documents lack is missing in what is around them. */
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

/** The finding where its mistake was made. */
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
 * Each scheme is a mistake of its own wherever its map stands; for an asset or a link it does not matter which one it is, and what a
 * message does not name is not a difference.
 */
function schemePart(pointer: string): string {
  return /\/auth:schemes\/.*$/s.exec(pointer)?.[0] ?? ''
}

/** The document inside of the cause's list that the finding is about. */
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
