/** Collects the findings of a run: all are counted, and as many are kept as fit in memory. */

import { getHeapStatistics } from 'node:v8'
import type { Problem, Severity } from '../../lint/index.ts'
import { type Defined, isRefutable } from '../../lint/lint-run.ts'
import { type Pending, Repeats, type Summary, Totals, withoutRepeats } from '../../lint/reporters/report.ts'
import type { LintSettings } from './lint-run.ts'
import { hashOf, placeholderIn } from './linter.ts'

/** Limit of different findings that are collected before a list of documents ends. */
const MOST_REPEATS = 5000

/** A finding that can only be judged when all documents are known, and the number of its document or list. */
interface Late {
  readonly problem: Problem
  readonly block: number
}

/** Collects the findings of documents, which come in the order of the report, or in any order for a crawl. */
export class Collector {
  /** For a part of files: the findings that depend on documents of other parts. */
  readonly pending: Pending[] = []
  /** For a part of a crawl: the findings that documents of other parts may refute. */
  unsettled: readonly Problem[] = []
  readonly #settings: LintSettings
  readonly #findings: Findings
  readonly #isCrawl: boolean
  /** Findings in the current list of documents. */
  readonly #repeats = new Repeats()
  /** Findings about schemes that a parent document defines. */
  readonly #lent = new Repeats(byDocument)
  /** Findings that another document may refute; in a crawl with a baseline all, because the order of documents must not matter. */
  readonly #late: Late[] = []
  /** The definitions of `pending`. */
  readonly #definitions = new Set<string>()
  #list: object | undefined
  /** Number of documents and of lists of documents so far. */
  #block = 0

  constructor(settings: LintSettings, isCrawl: boolean) {
    this.#settings = settings
    this.#isCrawl = isCrawl
    this.#findings = new Findings(settings.room, isCrawl ? inOrder : undefined)
  }

  get found(): FoundProblems {
    return this.#findings.found()
  }

  /**
   * Adds the findings of a document, or of a part of a list of documents; returns those that are complete.
   *
   * @param definitions the schemes that conflicts of a part refer to
   */
  add(problems: readonly Problem[], list?: object, definitions: readonly Defined[] = []): readonly Problem[] {
    const before = list === this.#list ? [] : this.#endList()
    if (list === undefined || list !== this.#list) this.#block++
    this.#list = list
    const found = this.#news(problems.filter((problem) => !this.#waits(problem, definitions)))
    if (!list) return [...before, ...this.#report(found, this.#block)]
    this.#repeats.add(found)
    return this.#repeats.size > MOST_REPEATS ? [...before, ...this.#endList()] : before
  }

  /** Judges what needed all documents, and adds conflicts between them; returns what is complete now. */
  end(conflicts: readonly Problem[] = []): readonly Problem[] {
    const { run, baseline, shard } = this.#settings
    const reported = [...this.#endList()]
    const late = this.#late.filter(({ problem }) => run.settled([problem]).length > 0)
    const isSorted = this.#isCrawl && baseline !== undefined
    if (isSorted) late.sort((one, other) => inOrder(one.problem, other.problem))
    const groups = new Map<unknown, Problem[]>()
    for (const { problem, block } of late) {
      const key = isSorted ? problem.document : block
      groups.set(key, [...(groups.get(key) ?? []), problem])
    }
    if (this.#isCrawl && shard && !baseline) this.unsettled = [...groups.values()].flatMap(withoutRepeats).sort(inOrder)
    else for (const [key, problems] of groups) reported.push(...this.#report(this.#news(problems), Number(key) || 0))
    return [...reported, ...this.#keep(this.#news(conflicts)), ...this.#keep(this.#lent.take())]
  }

  /** Returns true for a finding that is kept for the end of the run, or for `merge`. */
  #waits(problem: Problem, definitions: readonly Defined[]): boolean {
    const { shard, baseline } = this.#settings
    if (shard && !this.#isCrawl) return this.#isPending(problem, definitions)
    if (!isRefutable(problem) && !(this.#isCrawl && baseline)) return false
    this.#late.push({ problem, block: this.#block })
    return true
  }

  #isPending(problem: Problem, definitions: readonly Defined[]): boolean {
    const recorded = definitions[placeholderIn(problem) ?? -1]
    if (!recorded && !isRefutable(problem)) return false
    const definition = recorded && { name: recorded.name, hash: hashOf(recorded), where: recorded.where }
    const key = definition && `${definition.hash} ${definition.name}`
    if (key !== undefined && this.#definitions.has(key)) return true
    if (key !== undefined) this.#definitions.add(key)
    const known = this.#news([problem]).length === 0
    if (definition || !known) this.pending.push({ block: this.#block, problem, ...(definition && { definition }), ...(known && { known }) })
    return true
  }

  #news(problems: readonly Problem[]): readonly Problem[] {
    return this.#settings.baseline?.news(problems) ?? problems
  }

  #endList(): readonly Problem[] {
    return this.#keep(this.#repeats.take(), this.#block)
  }

  #report(problems: readonly Problem[], block: number): readonly Problem[] {
    this.#lent.add(problems.filter(isLent))
    return this.#keep(withoutRepeats(problems.filter((problem) => !isLent(problem))), block)
  }

  #keep(problems: readonly Problem[], block = 0): readonly Problem[] {
    this.#findings.add(problems, block)
    return problems
  }
}

function isLent({ cause }: Problem): boolean {
  return cause?.document !== undefined
}

/** The kept findings of a run, and the totals of all. */
export interface FoundProblems {
  /** In the order of the report. */
  readonly problems: readonly Problem[]
  readonly totals: Omit<Summary, 'documents' | 'incomplete'>
  /** Findings that are counted and not in `problems`. */
  readonly unlisted: number
}

/** Limit of a report in characters of JSON: half of the longest string in V8. */
const MOST = 256 * 2 ** 20

/** Divisor of the heap size: findings as objects, and while printed, need several times their size as JSON. */
const SHARE = 16

/** Overhead of a finding in characters: its object, and its lines in an indented report. */
const OVERHEAD = 300

/** Returns the limit of kept findings in characters: with 4 GiB of heap about 400,000 findings. */
export function roomForFindings(): number {
  return Math.min(MOST, Math.floor(getHeapStatistics().heap_size_limit / SHARE))
}

type Order = (one: Problem, other: Problem) => number

interface Kept {
  readonly problem: Problem
  readonly at: number
  readonly block: number
  readonly size: number
}

/** Compares findings by document, the order of a crawl report. */
export function byDocument({ document: one = '' }: Pick<Problem, 'document'>, { document: other = '' }: Pick<Problem, 'document'>): number {
  return compare(one, other)
}

/** Compares findings by document, position, and then by all other fields, because several documents may share a name. */
export function inOrder(one: Problem, other: Problem): number {
  return byDocument(one, other) || byPosition(one, other) || byContent(one, other)
}

/** Compares findings of one document by line and column. */
export function byPosition(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

function byContent(one: Problem, other: Problem): number {
  return compare(one.code, other.code) || compare(JSON.stringify(one), JSON.stringify(other))
}

/** Compares findings of a document, so that the order of those in one place does not depend on when they were added. */
function byPlace(one: Problem, other: Problem): number {
  return byPosition(one, other) || (one.line === undefined ? 0 : byContent(one, other))
}

/** Compares texts by their UTF-16 units. */
export function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warn: 1, info: 2 }

/**
 * Counts findings and keeps the most severe ones. The selection does not depend on the order in which a crawl reads its documents.
 */
export class Findings {
  readonly #totals = new Totals()
  readonly #room: number
  readonly #order: Order
  #kept: Kept[] = []
  #size = 0

  /**
   * @param room limit in characters of JSON
   * @param order the order of documents; default: that in which their findings are added
   */
  constructor(room: number, order: Order = () => 0) {
    this.#room = room
    this.#order = order
  }

  /** @param block number of the document or list; its findings are listed together, by position */
  add(problems: readonly Problem[], block = 0): void {
    for (const problem of problems) {
      this.#totals.add(problem)
      if (this.#room === 0) continue
      const size = JSON.stringify(problem).length + OVERHEAD
      this.#kept.push({ problem, at: this.#totals.findings, block, size })
      this.#size += size
      // Cut at twice the limit, so that sorting is rare.
      if (this.#size > 2 * this.#room) this.#cut()
    }
  }

  /** Returns the findings so far. More may be added afterwards. */
  found(): FoundProblems {
    if (this.#size > this.#room) this.#cut()
    const problems = this.#kept.sort((one, other) => this.#compare(one, other)).map(({ problem }) => problem)
    return { problems, totals: this.#totals.summary(), unlisted: this.#totals.findings - problems.length }
  }

  #compare(one: Kept, other: Kept): number {
    return this.#order(one.problem, other.problem) || one.block - other.block || byPlace(one.problem, other.problem) || one.at - other.at
  }

  /** Removes the least severe findings beyond the limit. */
  #cut(): void {
    const worstFirst = this.#kept.sort(
      (one, other) => RANK[one.problem.severity] - RANK[other.problem.severity] || this.#compare(one, other),
    )
    let size = 0
    const end = worstFirst.findIndex((kept) => {
      if (size + kept.size > this.#room) return true
      size += kept.size
      return false
    })
    this.#kept = worstFirst.slice(0, end < 0 ? worstFirst.length : end)
    this.#size = size
  }
}
