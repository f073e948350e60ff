/** The options of `lint` for rules, reports, fixes and file selection. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AuthError } from '../../errors.ts'
import { LEVELS, type Level, PRESETS, type Severity } from '../../lint/problem.ts'
import { FORMATS, type Format } from '../../lint/reporters/report.ts'
import { nearMiss } from '../../text/suggest.ts'
import { usageError } from '../exit-code.ts'
import { inOptionGroup, wholeFrom } from '../options.ts'
import type { GivenRules } from './lint-config.ts'

/** A format and its output file; without a file, stdout. */
export interface Destination {
  readonly format: Format
  readonly file?: string
}

export interface BaselineOptions {
  readonly baseline?: string
  readonly updateBaseline?: boolean
  readonly pruneBaseline?: boolean
  /** True if only some documents are linted, so missing findings are not fixed findings. */
  readonly isPart?: boolean
}

export interface ReportingOptions extends GivenRules, BaselineOptions, ReportOptions {
  /** Prints the configuration of this document instead. */
  readonly printConfig?: string
}

/** Options for the content, destination and exit code of a report. */
export interface ReportOptions {
  readonly format?: readonly Destination[]
  readonly json?: boolean
  readonly maxProblems?: number
  readonly maxWarnings?: number
  readonly failSeverity: Severity
  readonly quiet?: boolean
}

export interface FixingOptions {
  readonly fix?: boolean
  readonly fixSuggestions?: boolean
  readonly fixDryRun?: boolean
  readonly fixType?: readonly string[]
  readonly stdinFilename: string
}

/** Options for linting while documents are written. */
export interface EditingOptions {
  readonly watch?: boolean
  readonly lsp?: boolean
}

/** Adds the options of {@link EditingOptions}. */
export function withEditingOptions(command: Command): Command {
  return inOptionGroup(command, 'While you write:', (group) =>
    group
      .option('--watch', 'lint again after each change of the files, until Ctrl-C')
      .option('--lsp', 'serve an editor by the Language Server Protocol'),
  )
}

/** The options that select rules. */
export const RULE_OPTIONS: readonly string[] = ['preset', 'infos', 'rule', 'config', 'ignore', 'verbose']

/** The options of `--watch`, besides those. */
export const WATCH_OPTIONS: readonly string[] = [
  ...['failOnUnmatchedGlobs', 'gitignore', 'baseline'],
  ...['maxProblems', 'maxWarnings', 'failSeverity', 'quiet'],
]

/** Refuses options of the command line that are not in the list. Errors: `USAGE`. */
export function requireOnly(mode: string, allowed: readonly string[], command: Command): void {
  const other = command.options.find((option) => {
    const name = option.attributeName()
    return command.getOptionValueSource(name) === 'cli' && !allowed.includes(name)
  })
  if (other) throw usageError(`${mode} and ${other.long} exclude each other`)
}

/** Options for skipping files of folders and globs. */
export interface SelectionOptions {
  readonly failOnUnmatchedGlobs: boolean
  readonly ignore?: readonly string[]
  readonly gitignore: boolean
}

/** Adds the options of {@link SelectionOptions}. */
export function withSelectionOptions(command: Command): Command {
  return inOptionGroup(command, 'Files:', (group) =>
    group
      .option('--no-fail-on-unmatched-globs', 'allow globs that match no files')
      .option('--ignore <pattern>', 'skip files in folders and globs, as in .gitignore (repeatable)', addText)
      .option('--no-gitignore', 'also lint files listed in .gitignore'),
  )
}

function addText(text: string, texts: readonly string[] = []): readonly string[] {
  return [...texts, text]
}

/** Adds the options of {@link FixingOptions}. */
export function withFixingOptions(command: Command): Command {
  return inOptionGroup(command, 'Fixes:', (group) =>
    group
      .option('--fix', 'apply safe fixes, then report the remaining findings')
      .option('--fix-suggestions', 'also apply suggested fixes, which need a review')
      .option('--fix-dry-run', 'print the fixes as a patch without writing files')
      .option('--fix-type <rules>', 'fix only these rules, separated by commas (default: all)', (text: string) => text.split(','))
      .option('--stdin-filename <name>', 'set the name of stdin in findings', '-'),
  )
}

/** Adds the options of {@link ReportingOptions}. */
export function withReportingOptions(command: Command): Command {
  inOptionGroup(command, 'Rules:', (group) =>
    group
      .addOption(new Option('--preset <name>', 'select a rule preset (default: recommended)').choices(PRESETS))
      .option('--infos', 'also report findings of level info')
      .option('--rule <id=level>', 'set the level of a rule or code: off, info, warn, error (repeatable)', addLevel)
      .option('--config <file>', 'read preset, levels and overrides from this file')
      .option('--print-config <file>', 'print the level of each code for this document, and where it is set'),
  )
  withReportOptions(command)
  return inOptionGroup(command, 'Baseline:', (group) =>
    group
      .option('--baseline <file>', 'list only findings that are not in this baseline')
      .option('--update-baseline', 'write all findings to the baseline')
      .option('--prune-baseline', 'remove fixed findings from the baseline'),
  )
}

/** Adds the options of {@link ReportOptions}. */
export function withReportOptions(command: Command): Command {
  return inOptionGroup(command, 'Report:', (group) =>
    group
      .option('--format <format[=file]>', `write ${FORMATS.join(', ')} to stdout or a file (repeatable)`, addDestination)
      .option('--json', 'print JSON: --format json')
      .option('--max-problems <n>', 'show at most this many findings in pretty and concise (default: 100)', wholeFrom(0))
      .option('--max-warnings <n>', 'exit with code 1 if there are more warnings', wholeFrom(0))
      .addOption(
        new Option('--fail-severity <level>', 'exit with code 1 for findings of this level or higher')
          .choices(LEVELS.slice(1))
          .default('error'),
      )
      .option('--quiet', 'show errors only'),
  )
}

function addLevel(text: string, levels: Readonly<Record<string, Level>> = {}): Readonly<Record<string, Level>> {
  const [, id, level] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (id === undefined || !isLevel(level)) throw new InvalidArgumentError(`it must be ID=LEVEL, where LEVEL is one of ${LEVELS.join(', ')}`)
  return { ...levels, [id]: level }
}

function isLevel(text: string | undefined): text is Level {
  return (LEVELS as readonly (string | undefined)[]).includes(text)
}

function addDestination(text: string, destinations: readonly Destination[] = []): readonly Destination[] {
  const [, name = '', file] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
  const format = FORMATS.find((known) => known === name)
  if (!format || file === '') throw new InvalidArgumentError(`it must be one of ${FORMATS.join(', ')}, alone or as FORMAT=FILE`)
  return [...destinations, file === undefined || file === '-' ? { format } : { format, file }]
}

/** Returns the error for a rule that does not exist. */
export function unknownRule(id: string, known: readonly string[]): AuthError {
  const near = nearMiss(id, known)
  return usageError(`unknown rule "${id}"`, `${near === undefined ? '' : `did you mean "${near}"? `}stac-auth rules lists the rules`)
}

/** Checks the combination of options. Errors: `USAGE`. */
export function requireBaseline({ baseline, updateBaseline, pruneBaseline, isPart }: BaselineOptions): void {
  if (isPart && (updateBaseline || pruneBaseline))
    throw usageError('a baseline needs a run over all documents', 'lint without --changed, --staged and --shard')
  if (baseline === undefined && (updateBaseline || pruneBaseline)) throw usageError('no baseline is given: give --baseline FILE')
  if (updateBaseline && pruneBaseline)
    throw usageError('--update-baseline and --prune-baseline exclude each other', '--update-baseline also removes fixed findings')
}
