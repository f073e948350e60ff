import type { Problem } from '../../lint/index.ts'
import type { Incomplete, Report, Summary } from '../../lint/reporters/report.ts'

/**
 * The reports of several parts as the report that one run would have given: findings in the order of their documents, what
 * several parts have found or could not read only once, and the counts of the rest.
 */
export function mergeReports(reports: readonly Report[]): Report {
  const seen = new Set<string>()
  const again: Problem[] = []
  const problems = reports
    .flatMap(({ problems: found }) => {
      // One run may say the same twice, two runs may not.
      const fresh = found.filter((problem) => !seen.has(keyOf(problem)))
      again.push(...found.filter((problem) => seen.has(keyOf(problem))))
      for (const problem of found) seen.add(keyOf(problem))
      return fresh
    })
    .sort((one, other) => order(one.document, other.document))
  return {
    version: 1,
    problems,
    summary: summaryOf(
      reports.map(({ summary }) => summary),
      again,
    ),
  }
}

/** A fingerprint is told only where a format asks for it. */
function keyOf({ fingerprint: _, ...problem }: Problem): string {
  return JSON.stringify(Object.entries(problem).sort(([one], [other]) => order(one, other)))
}

function summaryOf(parts: readonly Summary[], again: readonly Problem[]): Summary {
  const sum = (count: (part: Summary) => number) => parts.reduce((total, part) => total + count(part), 0)
  const repeated = (severity: string) => again.filter((problem) => problem.severity === severity).length
  const baselined = parts.some((part) => part.baselined !== undefined) && { baselined: sum((part) => part.baselined ?? 0) }
  const unlisted = parts.some((part) => part.unlisted !== undefined) && { unlisted: sum((part) => part.unlisted ?? 0) }
  const skipped = parts.some((part) => part.skipped !== undefined) && { skipped: sum((part) => part.skipped ?? 0) }
  return {
    documents: sum(({ documents }) => documents),
    errors: sum(({ errors }) => errors) - repeated('error'),
    warnings: sum(({ warnings }) => warnings) - repeated('warn'),
    infos: sum(({ infos }) => infos) - repeated('info'),
    ...baselined,
    ...unlisted,
    ...skipped,
    incomplete: incompleteOf(parts.flatMap(({ incomplete }) => incomplete)),
  }
}

/** What could not be read comes first, then the limits that the user set. What was a failure in one part stays one. */
function incompleteOf(all: readonly Incomplete[]): readonly Incomplete[] {
  const limitsFirst = [...all].sort((one, other) => Number(other.exit === 0) - Number(one.exit === 0))
  const once = new Map(limitsFirst.map((left) => [`${left.url} ${left.code}`, left]))
  return [...once.values()].sort((one, other) => Number(one.exit === 0) - Number(other.exit === 0) || order(one.url, other.url))
}

function order(one = '', other = ''): number {
  return one < other ? -1 : Number(one > other)
}
