/** The baseline file of `lint`: what is known is counted, not shown. */
import { ConfigurationError } from '../errors.ts'
import { type Baseline, baselineOf, compare, isBaseline, pruned } from '../lint/baseline.ts'
import type { Problem } from '../lint/index.ts'
import { forJson } from '../text/sanitize.ts'
import type { Context } from './context.ts'
import type { Found } from './findings.ts'
import type { LintOutcome } from './lint-run.ts'
import { readInput } from './read-bytes.ts'
import { replaceFile, seenFile } from './replace-file.ts'
import { usageError } from './usage.ts'

export interface BaselineOptions {
  readonly baseline?: string
  readonly updateBaseline?: boolean
  readonly pruneBaseline?: boolean
  /** True when only a part of the documents is looked at: what is not found there is not gone. */
  readonly isPart?: boolean
}

/** The findings that a report lists, and how many the baseline holds. */
export interface Fresh extends Partial<Omit<Found, 'problems'>> {
  readonly problems: readonly Problem[]
  readonly baselined?: number
}

/** Refuses options that need each other. Errors: `USAGE`. */
export function requireBaseline({ baseline, updateBaseline, pruneBaseline, isPart }: BaselineOptions): void {
  if (isPart && (updateBaseline || pruneBaseline))
    throw usageError('a baseline is written by a run over everything', 'lint without --changed, --staged and --shard')
  if (baseline === undefined && (updateBaseline || pruneBaseline)) throw usageError('which baseline? Give --baseline FILE')
  if (updateBaseline && pruneBaseline)
    throw usageError('--update-baseline and --prune-baseline exclude each other', 'an update prunes as well')
}

/**
 * Holds the findings of a run against the baseline, and writes it anew when that is asked for. A run that could not read
 * everything writes nothing: what it did not see is not gone.
 *
 * Errors: `CONFIG_INVALID` for a file that is no baseline, `FILE_ACCESS`, those of `replaceFile`.
 */
export async function withBaseline(outcome: LintOutcome, options: BaselineOptions, context: Context): Promise<Fresh> {
  const { baseline: file, updateBaseline = false, pruneBaseline = false, isPart = false } = options
  const { found, failures } = outcome
  if (file === undefined) return found
  const { problems } = found
  const seen = await seenFile(file)
  const before = updateBaseline && (failures.length === 0 || !seen) ? undefined : await readBaseline(file, context)
  const writes = updateBaseline || pruneBaseline
  if (writes && failures.length > 0) await context.diagnostics.note(`"${file}" is left as it is: not everything could be read`)
  else if (updateBaseline) await replaceFile(file, textOf(baselineOf(problems)), seen)
  else if (pruneBaseline && before) await replaceFile(file, textOf(pruned(before, problems)), seen)
  const { news, known, gone } = compare(
    problems,
    updateBaseline && failures.length === 0 ? baselineOf(problems) : (before ?? baselineOf([])),
  )
  if (gone.length > 0 && failures.length === 0 && !pruneBaseline && !isPart) await context.diagnostics.note(goneText(gone, file))
  return { problems: news, baselined: known }
}

async function readBaseline(file: string, { io }: Context): Promise<Baseline> {
  const baseline = parsed(new TextDecoder().decode(await readInput(file, io)))
  if (isBaseline(baseline)) return baseline
  throw new ConfigurationError('CONFIG_INVALID', `"${file}" is no baseline of version 1`, { hint: '--update-baseline writes it anew' })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function textOf(baseline: Baseline): string {
  return `${forJson(baseline, 2)}\n`
}

const SHOWN = 10

function goneText(gone: readonly string[], file: string): string {
  const lines = gone.slice(0, SHOWN).map((name) => `  ${name}`)
  const more = gone.length > SHOWN ? [`  … and ${gone.length - SHOWN} more`] : []
  return [`no longer found, --prune-baseline takes them out of "${file}":`, ...lines, ...more].join('\n')
}
