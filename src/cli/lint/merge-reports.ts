import { withFingerprint } from '../../lint/baseline.ts'
import type { Problem } from '../../lint/index.ts'
import { OuterRefs } from '../../lint/lint-run.ts'
import { type FileShard, type Incomplete, Repeats, type Report, type Summary, Totals } from '../../lint/reporters/report.ts'
import { byDocument, compare, Findings, inOrder } from './collector.ts'
import { Definitions, settledOf } from './lint-shard.ts'

/**
 * Merges the reports of shards into the report of a single run, independent of their order: equal findings and failures count once,
 * findings with the same cause are added up, the schemes of all shards are compared, and a scheme is unused if no shard refers to it.
 *
 * @param room limit of the kept findings in characters of JSON
 * @param fingerprints whether findings keep their fingerprints
 */
export function mergeReports(reports: readonly Report[], room: number, fingerprints: boolean): Report {
  const summaries = reports.map(({ summary }) => summary)
  const isJudged = summaries.some(({ baselined }) => baselined !== undefined)
  const listed = new Totals()
  for (const report of reports) for (const problem of report.problems) listed.add(problem)
  const files = reports.flatMap(({ shard }) => (shard?.files ? [shard.files] : []))
  const numberOf = numbersIn(files)
  const findings = new Findings(room, files.length > 0 ? (one, other) => numberOf(one.document) - numberOf(other.document) : inOrder)
  const add = (added: readonly Problem[]) => findings.add(fingerprints || isJudged ? added : added.map(withoutFingerprint))
  // With a baseline, each shard has compared its own schemes.
  const compared = isJudged ? [] : reports.flatMap(({ shard }) => (shard ? [shard] : []))
  const found = inAnyPart(reports, isJudged)
  add(found.filter((problem) => !isLent(problem)))
  const definitions = new Definitions()
  for (const shard of compared) for (const definition of shard.definitions) definitions.add(definition)
  add(definitions.problems(withFingerprint))
  const outerRefs = new OuterRefs()
  for (const { shard } of reports) outerRefs.add(shard?.outerRefs ?? [])
  const unsettled = reports.map((report) => ({ ...report, problems: report.shard?.unsettled ?? [] }))
  add(inAnyPart(unsettled, isJudged).filter((problem) => !outerRefs.refutes(problem)))
  add(settledOf(files, outerRefs))
  const lent = new Repeats(byDocument)
  for (const problem of found) if (isLent(problem)) lent.add([{ ...problem, cause: placeOf(problem) }])
  add(lent.take())
  const { problems, totals, unlisted } = findings.found()
  return { version: 1, problems, summary: summaryOf(summaries, [listed.summary(), totals], unlisted, numberOf) }
}

/** Returns the document names in the reports of shards. */
export function namesIn(reports: readonly Report[]): readonly string[] {
  const numberOf = numbersIn(reports.flatMap(({ shard }) => (shard?.files ? [shard.files] : [])))
  return reports.flatMap(({ shard }) => shard?.names ?? []).sort((one, other) => numberOf(one) - numberOf(other) || compare(one, other))
}

/** Returns a function that returns the position of an input on the command line: 0 for a crawl. */
function numbersIn(files: readonly FileShard[]): (document: string | undefined) => number {
  const numbers = new Map(files.flatMap(({ inputs }) => Object.entries(inputs)))
  return (document = '') => numbers.get(document) ?? 0
}

/** Returns the findings of all shards; findings of one shard that another one repeats are dropped. */
function inAnyPart(reports: readonly Report[], isJudged: boolean): readonly Problem[] {
  const seen = new Set<string>()
  return reports.flatMap(({ problems, shard }) => {
    const own = shard && !isJudged ? problems.filter(({ code }) => code !== 'conflicting-scheme') : problems
    const fresh = own.filter((problem) => !seen.has(keyOf(problem)))
    for (const problem of own) seen.add(keyOf(problem))
    return fresh
  })
}

/** Returns true for a finding at a scheme of a parent; each shard has some of its places. */
function isLent({ places = [] }: Problem): boolean {
  return places.some(({ document }) => document !== undefined)
}

function placeOf({ document = '', id, pointer }: Problem) {
  return { document, ...(id !== undefined && { id }), pointer }
}

function withoutFingerprint({ fingerprint: _, ...problem }: Problem): Problem {
  return problem
}

function keyOf(problem: Problem): string {
  return JSON.stringify(Object.entries(withoutFingerprint(problem)).sort(([one], [other]) => (one < other ? -1 : 1)))
}

type Counts = ReturnType<Totals['summary']>

/** Sums the counts of findings that the shards do not list, and adds those of the merged list. */
function summaryOf(
  parts: readonly Summary[],
  [listed, totals]: readonly [Counts, Counts],
  cut: number,
  numberOf: (document: string) => number,
): Summary {
  const sum = (count: (part: Summary) => number) => parts.reduce((total, part) => total + count(part), 0)
  const of = (name: keyof Counts) => sum((part) => part[name] ?? 0) - (listed[name] ?? 0) + (totals[name] ?? 0)
  const placesOf = ({
    errors: errorCount,
    warnings: warningCount,
    infos: infoCount,
    places: total = errorCount + warningCount + infoCount,
  }: Counts) => total
  const [errors, warnings, infos, fixable, suggestions] = [of('errors'), of('warnings'), of('infos'), of('fixable'), of('suggestions')]
  const places = sum(placesOf) - placesOf(listed) + placesOf(totals)
  const baselined = parts.some((part) => part.baselined !== undefined) && { baselined: sum((part) => part.baselined ?? 0) }
  const unlisted = sum((part) => part.unlisted ?? 0) + cut
  const skipped = sum((part) => part.skipped ?? 0)
  return {
    documents: sum(({ documents }) => documents),
    errors,
    warnings,
    infos,
    ...(places > errors + warnings + infos && { places }),
    ...(fixable > 0 && { fixable }),
    ...(suggestions > 0 && { suggestions }),
    ...baselined,
    ...(unlisted > 0 && { unlisted }),
    ...(skipped > 0 && { skipped }),
    incomplete: incompleteOf(
      parts.flatMap(({ incomplete }) => incomplete),
      numberOf,
    ),
  }
}

/** Merges failures: unread documents first, then requested limits. A failure in one shard stays a failure. */
function incompleteOf(all: readonly Incomplete[], numberOf: (document: string) => number): readonly Incomplete[] {
  const limitsFirst = [...all].sort((one, other) => Number(other.exit === 0) - Number(one.exit === 0))
  const once = new Map(limitsFirst.map((left) => [`${left.url} ${left.code}`, left]))
  return [...once.values()].sort(
    (one, other) =>
      Number(one.exit === 0) - Number(other.exit === 0) || numberOf(one.url) - numberOf(other.url) || compare(one.url, other.url),
  )
}
