import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import type { AuthError } from '../../errors.ts'
import { plural } from '../../lint/reporters/report.ts'
import type { Context } from '../context.ts'
import { EXIT, usageError } from '../exit-code.ts'
import type { Selection } from '../inputs/input-files.ts'
import { write } from '../io.ts'
import type { RunBaseline } from '../lint/lint-baseline.ts'
import type { ChangedInputs, ChangedOptions } from '../lint/lint-changed.ts'
import {
  type BaselineOptions,
  type Destination,
  type EditingOptions,
  type FixingOptions,
  type ReportingOptions,
  RULE_OPTIONS,
  requireBaseline,
  requireOnly,
  type SelectionOptions,
  WATCH_OPTIONS,
  withEditingOptions,
  withFixingOptions,
  withReportingOptions,
  withSelectionOptions,
} from '../lint/lint-options.ts'
import type { LineReports } from '../lint/lint-report.ts'
import type { LintOutcome, LintSettings } from '../lint/lint-run.ts'
import type { Linter } from '../lint/linter.ts'
import { openAuth } from '../open-auth.ts'
import { type CrawlOption, type CredentialsOption, noInputs, requireCrawl, withCrawlOptions, withCredentialsOption } from '../options.ts'
import type { QueueOption } from '../queue/address.ts'

interface LintOptions
  extends CredentialsOption,
    ReportingOptions,
    FixingOptions,
    SelectionOptions,
    CrawlOption,
    ChangedOptions,
    EditingOptions {
  readonly queue?: QueueOption
  readonly online?: boolean
}

/** `lint [INPUT…]`: reports mistakes in documents. */
export function addLint(program: Command, context: Context): void {
  const command = program.command('lint [inputs...]').description('check documents from files, folders, globs, URLs or stdin (-)')
  withSelectionOptions(withCrawlOptions(withFixingOptions(withReportingOptions(withEditingOptions(withCredentialsOption(command))))))
    .option('--changed [revision]', 'lint only new files and files changed since this revision (default: HEAD)')
    .option('--staged', 'lint only staged files, with their staged content')
    .option('--online', 'also check with anonymous requests the login endpoints and S3 buckets of schemes')
    .option('--queue [url]', 'lint with the workers of this Redis queue (default: STAC_AUTH_QUEUE)')
    .action(context.run((inputs: string[], options: LintOptions) => modeOf(options, command)(inputs, options, context)))
}

type Mode = (inputs: readonly string[], options: LintOptions, context: Context) => Promise<number>

/** Returns what runs until it is ended, or the linter. Errors: `USAGE` for options that it does not have. */
function modeOf(options: LintOptions, command: Command): Mode {
  if (options.watch) {
    requireOnly('--watch', [...RULE_OPTIONS, ...WATCH_OPTIONS, 'watch'], command)
    return async (...given) => (await import('../lint/watch.ts')).watch(...given)
  }
  const { printConfig: document } = options
  if (document !== undefined) {
    requireOnly('--print-config', [...RULE_OPTIONS, 'printConfig'], command)
    return async (inputs, _options, { io }) => {
      if (inputs.length > 0) throw usageError('--print-config takes no inputs besides its document')
      const { printedConfig } = await import('../lint/lint-config.ts')
      await write(io.stdout, await printedConfig(document, options, io))
      return EXIT.done
    }
  }
  if (!options.lsp) return lint
  requireOnly('--lsp', [...RULE_OPTIONS, 'lsp'], command)
  return async (inputs, _options, { io }) => {
    if (inputs.length > 0) throw usageError('--lsp takes no inputs', 'the editor sends the documents')
    const { serve } = await import('../lint/lsp/server.ts')
    return serve(options, io)
  }
}

async function lint(given: readonly string[], options: LintOptions, context: Context): Promise<number> {
  const isPart = isChanged(options) || options.shard !== undefined
  requireBaseline({ ...options, isPart })
  requireCrawl(options)
  const { names: found, read } = await inputsOf(given, options, context)
  const [{ destinationsOf, exitOf, publish, reportOfRun, tell, tellWhyFailed, wantsFingerprints }, { requireRules, settingsOf }, fixes] =
    await Promise.all([import('../lint/lint-report.ts'), import('../lint/lint-run.ts'), fixesOf(options)])
  const fixSettings = fixes?.fixSettingsOf(found, options)
  const destinations = destinationsOf(options, fixSettings?.taken, [...found, options.config, options.baseline])
  requireRules([...Object.keys(options.rule ?? {}), ...(options.fixType ?? [])])
  // `merge` may write the parts of a crawl in a format with fingerprints.
  const fingerprints = options.baseline !== undefined || options.shard !== undefined || wantsFingerprints(destinations)
  const known = await settingsOf(options, fingerprints, context.io)
  const inputs = isChanged(options) ? await withoutIgnored(found, given, known.selection) : found
  const output = fixSettings?.taken === undefined ? 'stdout' : 'stderr'
  const baseline = await baselineOf({ ...options, isPart }, context)
  const lines = await linesOf(destinations, options, context, output)
  try {
    const isShown = isShownBy(options)
    const settings = {
      ...known,
      ...(isShown && { isShown }),
      ...(read && { read }),
      ...(baseline && { baseline: baseline.comparison }),
      ...lines?.settings,
    }
    const fixedInputs = fixSettings && (await fixes?.fixInputs(inputs, fixSettings, settings, context, openAuth(context, options, inputs)))
    const reading = { ...context, io: { ...context.io, ...(fixedInputs && { stdin: fixedInputs.stdin }) } }
    const outcome = await elsewhere(inputs, options, settings, context, (all) => outcomeOf(inputs, options, all, reading))
    if (outcome.documents === 0 && outcome.failures.length === 0 && !isPart) throw await nothingToLint(inputs, outcome, known.selection)
    const fresh = baseline ? await baseline.settle(outcome, context) : outcome.found
    const report = reportOfRun(outcome, fresh, context, options.shard)
    await publish({ ...outcome, report, lines: lines?.reports }, destinations, options, context, output)
    const failures = [...(fixedInputs?.failures ?? []), ...outcome.failures]
    await tellWhyFailed(report.summary, options, context)
    await tell(failures, context)
    return exitOf(failures, report.summary, options, context)
  } finally {
    await lines?.reports.discard()
  }
}

/** Returns which findings the reports of a whole run list, if not all. `merge` may list what a shard keeps for it. */
function isShownBy({ quiet, updateBaseline, shard }: LintOptions): LintSettings['isShown'] {
  if (shard) return undefined
  if (updateBaseline) return () => false
  return quiet ? ({ severity }) => severity === 'error' : undefined
}

/** Loads what applies fixes, if the options ask for it. */
async function fixesOf({ fix, fixSuggestions, fixDryRun, fixType }: FixingOptions) {
  if (!fix && !fixSuggestions && !fixDryRun && fixType === undefined) return undefined
  const { fixInputs, fixSettingsOf } = await import('../lint/lint-fix.ts')
  return { fixInputs, fixSettingsOf }
}

/** Opens the baseline; its module is only loaded with `--baseline`. */
async function baselineOf(options: BaselineOptions, context: Context): Promise<RunBaseline | undefined> {
  return options.baseline === undefined ? undefined : (await import('../lint/lint-baseline.ts')).RunBaseline.open(options, context)
}

/**
 * Opens the reports that can be written while documents are linted. With `--update-baseline` and `--crawl` there are none: findings are
 * selected or sorted at the end.
 */
async function linesOf(
  destinations: readonly Destination[],
  options: LintOptions,
  context: Context,
  output: 'stdout' | 'stderr',
): Promise<{ readonly reports: LineReports; readonly settings: Partial<LintSettings> } | undefined> {
  if (options.crawl || options.updateBaseline || options.shard) return undefined
  const { LineReports: Reports } = await import('../lint/lint-report.ts')
  const reports = await Reports.of(destinations, options, context, output)
  const isEnough = destinations.every((destination) => reports.to(destination))
  return { reports, settings: { list: (problems) => reports.add(problems), ...(isEnough && { room: 0 }) } }
}

/** Returns the inputs, or the changed files among them, which may be none. */
async function inputsOf(given: readonly string[], options: LintOptions, context: Context): Promise<ChangedInputs> {
  if (!isChanged(options)) {
    if (given.length === 0) throw noInputs('lint', options)
    return { names: given }
  }
  const { changedInputs, requireChanged } = await import('../lint/lint-changed.ts')
  requireChanged(given, options)
  return changedInputs(given, options, context.io.signal)
}

/** Returns the changed files without those that the configuration ignores. */
async function withoutIgnored(names: readonly string[], given: readonly string[], { ignores = [] }: Selection): Promise<readonly string[]> {
  const { skippedBy } = await import('../inputs/input-files.ts')
  const isSkipped = await skippedBy({ ignores })
  return names.filter((name) => given.includes(name) || !isSkipped(name))
}

/** Returns the error of a run without a document: the inputs were empty files, or files were skipped, perhaps by mistake. */
async function nothingToLint(inputs: readonly string[], outcome: LintOutcome, selection: Selection): Promise<AuthError> {
  const names = inputs.map((name) => `"${name}"`).join(', ')
  const areFiles = await Promise.all(
    inputs.map((name) =>
      stat(name).then(
        (stats) => stats.isFile(),
        () => false,
      ),
    ),
  )
  if (outcome.skipped > 0 || areFiles.includes(false))
    return usageError(`nothing to lint: no documents in ${names}`, whyNothing(outcome, selection))
  const what = inputs.length === 1 ? 'it has' : 'they have'
  return usageError(`nothing to lint: ${names} could be read, but ${what} no rows`, 'check the program that wrote the rows')
}

/** Returns a hint on files that may have been skipped by mistake. */
function whyNothing({ skipped }: LintOutcome, { gitignore, ignore = [] }: Selection): string {
  const own = ignore.length > 0 ? ', as are those that --ignore names' : ''
  const hidden = `files that end in .json, .geojson, .ndjson or .jsonl are read, and Parquet files that are named or matched by a glob; folders whose names start with a dot${gitignore ? ' and files listed in .gitignore (see --no-gitignore)' : ''} are skipped${own}`
  return skipped > 0 ? `${plural(skipped, 'file')} skipped as not STAC; give the path of a file to lint it anyway` : hidden
}

function isChanged({ changed, staged }: LintOptions): boolean {
  return changed !== undefined || staged === true
}

/** Lints with the workers of a queue and with online checks, where the options ask for them. */
async function elsewhere<T>(
  inputs: readonly string[],
  { queue, online, crawl }: LintOptions,
  settings: LintSettings,
  context: Context,
  run: (settings: LintSettings) => Promise<T>,
): Promise<T> {
  if (queue === undefined && !online) return run(settings)
  const { localLinter } = await import('../lint/linter.ts')
  const inner =
    queue === undefined
      ? localLinter(settings, crawl || settings.shard ? undefined : settings.run)
      : await queueOf(queue, settings, context)
  const linter = online ? (await import('../lint/online/online-linter.ts')).onlineLinter(inner, inputs, settings, context) : inner
  try {
    return await run({ ...settings, linter })
  } finally {
    await linter.close()
  }
}

async function queueOf(queue: QueueOption, { complete }: LintSettings, context: Context): Promise<Linter> {
  const [{ queueAddress }, { queueLinter }] = await Promise.all([import('../queue/address.ts'), import('../lint/queue-linter.ts')])
  return queueLinter(queueAddress(queue, context), complete !== undefined, context)
}

/** Lints the inputs, or with `--crawl` all documents that they link to. */
async function outcomeOf(inputs: readonly string[], options: LintOptions, settings: LintSettings, context: Context): Promise<LintOutcome> {
  const auth = openAuth(context, options, inputs)
  if (options.crawl) {
    const { crawlAll } = await import('../crawl/run.ts')
    return crawlAll(inputs, options, settings, context, auth)
  }
  const { lintAll } = await import('../lint/lint-run.ts')
  return lintAll(inputs, settings, context.io, auth)
}
