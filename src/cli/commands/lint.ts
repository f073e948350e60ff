import { writeFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Level, Preset } from '../../lint/problem.ts'
import { json } from '../../lint/reporters/json.ts'
import { pretty } from '../../lint/reporters/pretty.ts'
import { type Report, reportOf as reportOfProblems } from '../../lint/reporters/report.ts'
import { writeFailure } from '../../node/system-error.ts'
import type { Context } from '../context.ts'
import { type CrawlOption, crawlSettings, requireCrawl, withCrawlOptions } from '../crawl/options.ts'
import { EXIT, exitCodeOf, exitOfSignal, worstExit } from '../exit-code.ts'
import { write } from '../io.ts'
import type { LintOutcome } from '../lint-run.ts'
import { openAuth } from '../open-auth.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'
import { isColoured } from '../style.ts'
import { usageError } from '../usage.ts'

const FORMATS = ['pretty', 'json'] as const
const LEVELS = ['off', 'info', 'warn', 'error']

interface LintOptions extends CredentialsOption, CrawlOption {
  readonly format?: readonly Destination[]
  readonly preset: Preset
  readonly rule?: Readonly<Record<string, Level>>
  readonly maxWarnings?: number
  readonly quiet?: boolean
  readonly stdinFilename: string
  readonly failOnUnmatchedGlobs: boolean
}

/** A format and the file it goes to; without one it goes to stdout. */
interface Destination {
  readonly format: (typeof FORMATS)[number]
  readonly file?: string
}

/** `lint [INPUT…]`: what is wrong with documents. */
export function addLint(program: Command, context: Context): void {
  const command = program
    .command('lint [inputs...]')
    .description('find what is wrong with files, folders, globs, addresses or standard input (-)')
  withCrawlOptions(withCredentialsOption(command))
    .addOption(new Option('--preset <name>', 'which rules are on').choices(['recommended', 'strict', 'schema']).default('recommended'))
    .option('--rule <id=level>', 'a level for one rule: off, info, warn or error (repeatable)', addLevel)
    .option('--format <format[=file]>', 'pretty (default) or json, to stdout or a file (repeatable)', addDestination)
    .option('--max-warnings <n>', 'more warnings than that end in exit code 1', wholeNumber)
    .option('--quiet', 'list errors only')
    .option('--no-fail-on-unmatched-globs', 'let a glob match nothing')
    .option('--stdin-filename <name>', 'what standard input is called in findings', '-')
    .action(context.run((inputs: string[], options: LintOptions) => lint(inputs, options, context)))
}

async function lint(inputs: readonly string[], options: LintOptions, context: Context): Promise<number> {
  if (inputs.length === 0) throw usageError('nothing to lint', 'give files, folders, addresses, or - for standard input')
  const { format: destinations = [{ format: 'pretty' }], rule: levels = {} } = options
  if (destinations.filter(({ file }) => file === undefined).length > 1)
    throw usageError('only one format can go to stdout', 'write --format json=FILE')
  const { requireRules } = await import('../lint-run.ts')
  requireRules(levels)
  requireCrawl(options)
  const outcome = await outcomeOf(inputs, options, context)
  if (outcome.documents === 0 && outcome.failures.length === 0) throw usageError(`nothing to lint: no documents in ${inputs.join(', ')}`)
  for (const destination of destinations) await publish(outcome, destination, options, context)
  await tell(outcome, context)
  return exitOf(outcome, options, context)
}

async function outcomeOf(inputs: readonly string[], options: LintOptions, context: Context): Promise<LintOutcome> {
  const { preset, rule: levels = {}, resume, failOnUnmatchedGlobs, stdinFilename: stdinName } = options
  const auth = openAuth(context, options, inputs)
  if (options.crawl) {
    const { crawlAll } = await import('../crawl/run.ts')
    return crawlAll(inputs, { preset, levels, settings: crawlSettings(options), ...(resume !== undefined && { resume }) }, context.io, auth)
  }
  const { lintAll } = await import('../lint-run.ts')
  return lintAll(inputs, { preset, levels, stdinName, mayMiss: !failOnUnmatchedGlobs }, context.io, auth)
}

/** Failures for people; all of them are in the report. */
const TOLD = 10

/** What was left out because the user said so is told first, for the last line is that of an error. */
async function tell({ failures }: LintOutcome, { diagnostics }: Context): Promise<void> {
  for (const { error, exit } of failures) if (exit === EXIT.done) diagnostics.warn({ code: error.code, message: error.message })
  const failed = failures.filter(({ exit }) => exit !== EXIT.done)
  for (const { error } of failed.slice(0, TOLD)) await diagnostics.error(error)
  if (failed.length > TOLD) await diagnostics.note(`… and ${failed.length - TOLD} more, listed in the report (--format json)`)
}

/** Errors always count; more warnings than allowed do as well. What could not be read outranks findings. */
function exitOf({ problems, failures }: LintOutcome, { maxWarnings = Number.POSITIVE_INFINITY }: LintOptions, { io }: Context): number {
  const warnings = problems.filter(({ severity }) => severity === 'warn').length
  const found = warnings > maxWarnings || problems.some(({ severity }) => severity === 'error')
  const codes = failures.map(({ error: { code }, exit }) => exit ?? (code === 'ABORTED' ? exitOfSignal(io.signal) : exitCodeOf(code)))
  return worstExit([...codes, found ? EXIT.findings : EXIT.done])
}

async function publish(
  outcome: LintOutcome,
  { format, file }: Destination,
  { quiet = false }: LintOptions,
  { io }: Context,
): Promise<void> {
  const report = reportOf(outcome, quiet)
  const color = file === undefined && isColoured(io, io.stdout)
  const text = format === 'json' ? json(report) : pretty(report, { color, texts: outcome.texts })
  if (file === undefined) await write(io.stdout, text)
  else await writeReport(file, text)
}

/** The report of a run. `quiet` lists errors only; the summary counts everything. */
function reportOf({ problems, documents, failures }: LintOutcome, quiet: boolean): Report {
  const incomplete = failures.map(({ name, error: { code } }) => ({ url: name, code }))
  const report = reportOfProblems(problems, documents, incomplete)
  return quiet ? { ...report, problems: problems.filter(({ severity }) => severity === 'error') } : report
}

/** A report of an earlier run is replaced. Errors: `FILE_ACCESS`. */
async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw writeFailure(error, `"${file}"`)
  }
}

function addLevel(text: string, levels: Readonly<Record<string, Level>> = {}): Readonly<Record<string, Level>> {
  const [, id, level] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (id === undefined || !isLevel(level))
    throw new InvalidArgumentError(`It must be ID=LEVEL, where LEVEL is one of ${LEVELS.join(', ')}.`)
  return { ...levels, [id]: level }
}

function isLevel(text: string | undefined): text is Level {
  return LEVELS.includes(text ?? '')
}

function addDestination(text: string, destinations: readonly Destination[] = []): readonly Destination[] {
  const [, name = '', file] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
  const format = FORMATS.find((known) => known === name)
  if (!format || file === '') throw new InvalidArgumentError(`Formats are ${FORMATS.join(' and ')}, each alone or as FORMAT=FILE.`)
  return [...destinations, file === undefined ? { format } : { format, file }]
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
