/** The options of `lint` that say which rules are on, how findings are shown and what makes them count. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { LEVELS, type Level, PRESETS, type Severity } from '../../lint/problem.ts'
import { FORMATS, type Format } from '../../lint/reporters/index.ts'
import type { BaselineOptions } from './lint-baseline.ts'
import type { GivenRules } from './lint-config.ts'

/** A format and the file it goes to; without one it goes to stdout. */
export interface Destination {
  readonly format: Format
  readonly file?: string
}

export interface ReportingOptions extends GivenRules, BaselineOptions, ReportOptions {}

/** What a report shows, where it goes, and what in it counts. */
export interface ReportOptions {
  readonly format?: readonly Destination[]
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

/** What is left out of folders and globs. */
export interface SelectionOptions {
  readonly failOnUnmatchedGlobs: boolean
  readonly ignore?: readonly string[]
  readonly gitignore: boolean
}

/** Adds the options of {@link SelectionOptions}. */
export function withSelectionOptions(command: Command): Command {
  return command
    .option('--no-fail-on-unmatched-globs', 'let a glob match nothing')
    .option('--ignore <pattern>', 'leave out files of folders and globs, as a line of .gitignore would (repeatable)', addText)
    .option('--no-gitignore', 'also lint what .gitignore files leave out')
}

function addText(text: string, texts: readonly string[] = []): readonly string[] {
  return [...texts, text]
}

/** Adds the options of {@link FixingOptions}. */
export function withFixingOptions(command: Command): Command {
  return command
    .option('--fix', 'mend files where the meaning stays the same, then lint')
    .option('--fix-suggestions', 'also apply fixes that need a look')
    .option('--fix-dry-run', 'show as a patch what would be mended; nothing is written')
    .option('--fix-type <rules>', 'rules that are mended, separated by commas (default: all)', (text: string) => text.split(','))
    .option('--stdin-filename <name>', 'what standard input is called in findings', '-')
}

/** Adds the options of {@link ReportingOptions}. */
export function withReportingOptions(command: Command): Command {
  const given = command
    .addOption(new Option('--preset <name>', 'which rules are on (default: recommended)').choices(PRESETS))
    .option('--infos', 'also report what only informs; the preset strict does')
    .option('--rule <id=level>', 'a level for a rule or one of its codes: off, info, warn or error (repeatable)', addLevel)
    .option('--config <file>', 'preset, levels and overrides; only read when it is named')
  return withReportOptions(given)
    .option('--baseline <file>', 'count the findings in it, list the others')
    .option('--update-baseline', 'write all findings into the baseline')
    .option('--prune-baseline', 'take out of the baseline what is no longer found')
}

/** Adds the options of {@link ReportOptions}. */
export function withReportOptions(command: Command): Command {
  return command
    .option('--format <format[=file]>', `${FORMATS.join(', ')}; to stdout or a file (repeatable)`, addDestination)
    .option('--max-problems <n>', 'findings shown by pretty and concise (default: 100)', wholeNumber)
    .option('--max-warnings <n>', 'more warnings than that end in exit code 1', wholeNumber)
    .addOption(new Option('--fail-severity <level>', 'findings from there on end in exit code 1').choices(LEVELS.slice(1)).default('error'))
    .option('--quiet', 'list errors only')
}

function addLevel(text: string, levels: Readonly<Record<string, Level>> = {}): Readonly<Record<string, Level>> {
  const [, id, level] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (id === undefined || !isLevel(level))
    throw new InvalidArgumentError(`It must be ID=LEVEL, where LEVEL is one of ${LEVELS.join(', ')}.`)
  return { ...levels, [id]: level }
}

function isLevel(text: string | undefined): text is Level {
  return (LEVELS as readonly (string | undefined)[]).includes(text)
}

function addDestination(text: string, destinations: readonly Destination[] = []): readonly Destination[] {
  const [, name = '', file] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
  const format = FORMATS.find((known) => known === name)
  if (!format || file === '') throw new InvalidArgumentError(`Formats are ${FORMATS.join(', ')}, each alone or as FORMAT=FILE.`)
  return [...destinations, file === undefined ? { format } : { format, file }]
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
