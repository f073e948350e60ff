/** Findings of a run: all of them are counted, and as many are kept as memory has room for. */
import { getHeapStatistics } from 'node:v8'
import type { Problem, Severity } from '../../lint/index.ts'
import { type Summary, Totals } from '../../lint/reporters/report.ts'

/** The findings of a run, as far as they were kept. */
export interface Found {
  /** In the order of the report. */
  readonly problems: readonly Problem[]
  readonly totals: Omit<Summary, 'documents' | 'incomplete'>
  /** Findings that are counted and not in `problems`. */
  readonly unlisted: number
}

/** Characters of JSON that a report has at most: V8 refuses a string of twice as many. */
const MOST = 256 * 2 ** 20

/** The share of the heap that findings may have as JSON. As objects, and while they are printed, they need several times as much. */
const SHARE = 16

/** What a finding needs besides its text: an object, and its lines in an indented report. */
const OVERHEAD = 300

/** Characters of findings that are kept; with 4 GiB of heap these are some 400,000 findings. */
export function roomForFindings(): number {
  return Math.min(MOST, Math.floor(getHeapStatistics().heap_size_limit / SHARE))
}

type Order = (one: Problem, other: Problem) => number

interface Kept {
  readonly problem: Problem
  readonly at: number
  readonly size: number
}

/** The order of documents in the report of a crawl, and of parts of one. */
export function byDocument({ document: one = '' }: Pick<Problem, 'document'>, { document: other = '' }: Pick<Problem, 'document'>): number {
  return compare(one, other)
}

/** The order of such a report: by document and position. Pages may share a name, so the rest decides as well. */
export function inOrder(one: Problem, other: Problem): number {
  return (
    byDocument(one, other) ||
    (one.line ?? Number.MAX_VALUE) - (other.line ?? Number.MAX_VALUE) ||
    (one.column ?? 0) - (other.column ?? 0) ||
    compare(one.rule, other.rule) ||
    compare(JSON.stringify(one), JSON.stringify(other))
  )
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warn: 1, info: 2 }

/**
 * Counts findings and keeps the first of them: errors before warnings before infos, whatever comes when. Which ones are kept depends
 * only on the findings of each document and on their order, so a crawl keeps the same in whatever order documents are read.
 */
export class Findings {
  readonly #totals = new Totals()
  readonly #room: number
  readonly #order: Order
  #kept: Kept[] = []
  #size = 0

  /**
   * @param room characters of JSON that are kept; 0 keeps nothing, `Infinity` everything
   * @param order the order of the report; default: that in which findings come, which also decides between equal ones
   */
  constructor(room: number, order: Order = () => 0) {
    this.#room = room
    this.#order = order
  }

  add(problems: readonly Problem[]): void {
    for (const problem of problems) {
      this.#totals.add(problem)
      if (this.#room === 0) continue
      const size = Number.isFinite(this.#room) ? JSON.stringify(problem).length + OVERHEAD : 0
      this.#kept.push({ problem, at: this.#totals.findings, size })
      this.#size += size
      // Twice the room, so that sorting is rare.
      if (this.#size > 2 * this.#room) this.#cut()
    }
  }

  /** Returns what there is. Findings may be added afterwards. */
  found(): Found {
    if (this.#size > this.#room) this.#cut()
    const problems = this.#kept.sort((one, other) => this.#compare(one, other)).map(({ problem }) => problem)
    return { problems, totals: this.#totals.summary(), unlisted: this.#totals.findings - problems.length }
  }

  #compare(one: Kept, other: Kept): number {
    return this.#order(one.problem, other.problem) || one.at - other.at
  }

  /** Drops the mildest of the last findings. */
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
