/** Findings that say the same: a catalog is often written by one program, and makes one mistake a thousand times. */
import type { Problem, Severity } from '../problem.ts'

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

/** The groups, worst and largest first; equal ones in the order of their first finding. */
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

/** At most that many findings, in their order: errors before warnings before infos. */
export function worst(problems: readonly Problem[], most: number): readonly Problem[] {
  if (problems.length <= most) return problems
  const kept = new Set(worstFirst(problems).slice(0, most))
  return problems.filter((problem) => kept.has(problem))
}

/** The findings, worst first; equal ones in their order. */
export function worstFirst(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((one, other) => ORDER[one.severity] - ORDER[other.severity])
}
