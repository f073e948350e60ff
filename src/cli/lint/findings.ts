/** The findings of a run: all are counted, and as many are kept as fit in memory. */
import { getHeapStatistics } from 'node:v8'
import type { Problem, Severity } from '../../lint/index.ts'
import { type Summary, Totals } from '../../lint/reporters/report.ts'

/** The kept findings of a run, and the totals of all. */
export interface Found {
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

/** Compares findings by document and position, then by all other fields, because pages may share a name. */
export function inOrder(one: Problem, other: Problem): number {
  return (
    byDocument(one, other) ||
    (one.line ?? Number.MAX_VALUE) - (other.line ?? Number.MAX_VALUE) ||
    (one.column ?? 0) - (other.column ?? 0) ||
    compare(one.rule, other.rule) ||
    compare(JSON.stringify(one), JSON.stringify(other))
  )
}

function byPosition(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

function compare(one: string, other: string): number {
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
   * @param room limit in characters of JSON; 0 keeps nothing, `Infinity` everything
   * @param order the order of the report; default: the order in which findings are added, which also decides between equal ones
   */
  constructor(room: number, order: Order = () => 0) {
    this.#room = room
    this.#order = order
  }

  /** @param block number of what was read as one, whose findings stand together in the order of their positions */
  add(problems: readonly Problem[], block = 0): void {
    for (const problem of problems) {
      this.#totals.add(problem)
      if (this.#room === 0) continue
      const size = Number.isFinite(this.#room) ? JSON.stringify(problem).length + OVERHEAD : 0
      this.#kept.push({ problem, at: this.#totals.findings, block, size })
      this.#size += size
      // Cut at twice the limit, so that sorting is rare.
      if (this.#size > 2 * this.#room) this.#cut()
    }
  }

  /** Returns the findings so far. More may be added afterwards. */
  found(): Found {
    if (this.#size > this.#room) this.#cut()
    const problems = this.#kept.sort((one, other) => this.#compare(one, other)).map(({ problem }) => problem)
    return { problems, totals: this.#totals.summary(), unlisted: this.#totals.findings - problems.length }
  }

  #compare(one: Kept, other: Kept): number {
    return this.#order(one.problem, other.problem) || one.block - other.block || byPosition(one.problem, other.problem) || one.at - other.at
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
