import { realpath } from 'node:fs/promises'
import type { Command } from 'commander'
import { AuthError, type ErrorCode } from '../../errors.ts'
import type { Incomplete, Report } from '../../lint/reporters/report.ts'
import type { Context } from '../context.ts'
import type { Failure } from '../exit-code.ts'
import { EXIT, usageError } from '../exit-code.ts'
import { type ReportOptions, withReportOptions } from '../lint/lint-options.ts'

/** `merge REPORT…`: merges the reports of several shards into one. */
export function addMerge(program: Command, context: Context): void {
  const command = program.command('merge [reports...]').description('merge json or ndjson lint reports into one (- for stdin)')
  withReportOptions(command).action(context.run((reports: string[], options: ReportOptions) => merge(reports, options, context)))
}

async function merge(names: readonly string[], options: ReportOptions, context: Context): Promise<number> {
  if (names.length === 0) throw usageError('nothing to merge', 'give reports that lint wrote with --format json=FILE or ndjson=FILE')
  const [
    { destinationsOf, exitOf, publish, tell, tellWhyFailed, wantsFingerprints },
    { readReport },
    { mergeReports, namesIn },
    { NAMES },
    { roomForFindings },
  ] = await Promise.all([
    import('../lint/lint-report.ts'),
    import('../lint/read-report.ts'),
    import('../lint/merge-reports.ts'),
    import('../lint/lint-run.ts'),
    import('../lint/collector.ts'),
  ])
  const destinations = destinationsOf(options, undefined, names)
  await requireDifferent(names)
  const reports: Report[] = []
  for (const name of names) reports.push(await readReport(name, context.io))
  requireAllShards(reports)
  const report = mergeReports(reports, roomForFindings(), wantsFingerprints(destinations))
  await publish({ report, texts: new Map(), names: namesIn(reports).slice(0, NAMES) }, destinations, options, context, 'stdout')
  const failures = report.summary.incomplete.map(failureOf)
  await tellWhyFailed(report.summary, options, context)
  await tell(failures, context)
  return exitOf(failures, report.summary, options, context)
}

/** Refuses a report that is given twice: its findings would be counted twice. */
async function requireDifferent(names: readonly string[]): Promise<void> {
  const files = await Promise.all(names.map((name) => realpath(name).catch(() => name)))
  const again = files.findIndex((file, index) => files.indexOf(file) < index)
  if (again >= 0) throw usageError(`"${names[again]}" is given twice`)
}

/** Refuses reports that are not all shards of one run: without the findings of a shard that failed, a build would succeed. */
function requireAllShards(reports: readonly Report[]): void {
  const shards = reports.flatMap(({ shard }) => (shard ? [shard] : []))
  const of = shards[0]?.of
  if (of === undefined) return
  const other = shards.find((shard) => shard.of !== of)
  if (other) throw usageError(`the reports are of different runs: one has ${of} shards, another has ${other.of}`, ALL_SHARDS)
  const indexes = new Set<number>()
  for (const { index } of shards) {
    if (indexes.has(index)) throw usageError(`the report of shard ${index}/${of} is given twice`, ALL_SHARDS)
    indexes.add(index)
  }
  let missing = 1
  while (indexes.has(missing)) missing++
  if (missing <= of) throw usageError(`the report of shard ${missing}/${of} is missing`, ALL_SHARDS)
}

const ALL_SHARDS = 'give one report for each shard of one run; if a shard wrote none, run it again'

function failureOf({ url, code, message, hint, exit }: Incomplete): Failure {
  const known = message ?? (exit === EXIT.done ? `${url}: skipped as requested` : `${url}: could not be read`)
  // A report of another version may contain an unknown code, which is kept.
  const error = new AuthError(code as ErrorCode, known, hint === undefined ? {} : { hint })
  return { name: url, error, ...(exit !== undefined && { exit }) }
}
