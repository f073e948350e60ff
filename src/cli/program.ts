/** The commands and the parser of their arguments. */
import { Command, CommanderError } from 'commander'
import { type ConfigurationError, isAuthError } from '../errors.ts'
import { nearMiss } from '../text/suggest.ts'
import type { Context } from './context.ts'
import { EXIT, EXIT_CODES, usageError } from './exit-code.ts'
import { type Diagnostics, ENVIRONMENT, type Io, version, wantsJson } from './io.ts'
import { refuseRepeats } from './options.ts'
import { isDocumentName } from './read-document.ts'

/** Adds a command with its options to the program; `argv` are all arguments as they were given. */
type AddCommand = (program: Command, context: Context, argv: readonly string[]) => void

/** The commands in the order of the help text. A module is loaded when its command is named, or for help about all of them. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  explain: async () => (await import('./commands/explain.ts')).addExplain,
  authorize: async () => (await import('./commands/authorize.ts')).addAuthorize,
  'authorize-all': async () => (await import('./commands/authorize.ts')).addAuthorizeAll,
  fetch: async () => (await import('./commands/fetch.ts')).addFetch,
  download: async () => (await import('./commands/download.ts')).addDownload,
  verify: async () => (await import('./commands/verify.ts')).addVerify,
  list: async () => (await import('./commands/list.ts')).addList,
  gateway: async () => (await import('./commands/gateway.ts')).addGateway,
  run: async () => (await import('./commands/run.ts')).addRun,
  setup: async () => (await import('./commands/setup.ts')).addSetup,
  providers: async () => (await import('./commands/providers.ts')).addProviders,
  login: async () => (await import('./commands/login.ts')).addLogin,
  logout: async () => (await import('./commands/login.ts')).addLogout,
  status: async () => (await import('./commands/login.ts')).addStatus,
  credentials: async () => (await import('./commands/credentials.ts')).addCredentials,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  lint: async () => (await import('./commands/lint.ts')).addLint,
  merge: async () => (await import('./commands/merge.ts')).addMerge,
  rules: async () => (await import('./commands/rules.ts')).addRules,
  worker: async () => (await import('./commands/queue.ts')).addWorker,
  queue: async () => (await import('./commands/queue.ts')).addQueue,
  translate: async () => (await import('./commands/translate.ts')).addTranslate,
  time: async () => (await import('./commands/time.ts')).addTime,
  completion: async () => (await import('./commands/completion.ts')).addCompletion,
}

/** Headings of the help text. Commands that are not named here are under the first one. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Protected assets:': ['explain', 'authorize', 'fetch', 'download', 'verify', 'list', 'gateway', 'run'],
  'Credentials:': ['setup', 'providers', 'login', 'logout', 'status', 'credentials', 'doctor'],
  'Checks of documents:': ['lint', 'merge', 'rules'],
  'Work on several machines:': ['queue'],
  'Services:': ['translate', 'time'],
  'Help:': ['completion', 'help'],
}

const HELP = new Set(['help', '--help', '-h'])

const AFTER_HELP = `
Exit codes:
${EXIT_CODES.map(([code, meaning]) => `  ${String(code).padEnd(5)}${meaning}`).join('\n')}

Environment:
${ENVIRONMENT.map(([name, meaning]) => `  ${name.padEnd(23)}${meaning}`).join('\n')}

Credentials are read from the first of:
  --credentials FILE
  STAC_AUTH_CREDENTIALS
  stac-auth/credentials.json in the user's configuration folder (~/.config, %APPDATA%)
and from STAC_AUTH_TOKEN with STAC_AUTH_TOKEN_FOR; never from the current directory.`

/** Parses the arguments, runs the command and returns its exit code. Errors: `USAGE` and those of the command. */
export async function runProgram(argv: readonly string[], io: Io, diagnostics: Diagnostics): Promise<number> {
  let exitCode: number = EXIT.done
  let isVerbose = !/^(?:|0|false)$/.test(io.env.STAC_AUTH_DEBUG ?? '')
  const context: Context = {
    io,
    diagnostics,
    get requestLog() {
      return isVerbose ? (wantsJson(argv) ? 'json' : 'text') : undefined
    },
    run:
      (action) =>
      async (...given) => {
        exitCode = await action(...given).catch(async (error: unknown) => {
          if (!isAuthError(error)) throw error
          const { withSetupHint } = await import('./setup-hint.ts')
          throw withSetupHint(error, documentsIn(given, argv).filter(isDocumentName))
        })
      },
  }
  const program = await programOf(argv, context, () => {
    isVerbose = true
  })
  const words = helpAtItsCommand(program, argv)
  try {
    await program.parseAsync([...words], { from: 'user' })
    return exitCode
  } catch (error) {
    // The parser prints help and version, then throws.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    const { command, help } = namedCommand(program, words)
    if (error instanceof CommanderError) throw usageErrorOf(error, command, help, words)
    if (isAuthError(error) && error.code === 'USAGE' && error.hint === undefined) throw usageError(error.message, `see ${help}`)
    throw error
  }
}

/** Returns `credentials add --help` for `help credentials add`: the parser reads one name after `help`. */
function helpAtItsCommand(program: Command, argv: readonly string[]): readonly string[] {
  const [first, name = '', below = ''] = argv
  const command = program.commands.find((known) => known.name() === name)
  if (first !== 'help' || command === undefined) return argv
  if (command.commands.some((known) => known.name() === below)) return [name, below, '--help']
  // What is no subcommand is refused by the command itself, unless it takes arguments: there it is one.
  const isRefused = command.commands.length > 0 && command.registeredArguments.length === 0 && /^[^-]/.test(below)
  return isRefused ? [name, first, below] : argv
}

/** Returns the documents among the arguments of an action, of which the last one is its command; those of `run` end where its program begins. */
function documentsIn(given: readonly unknown[], argv: readonly string[]): readonly string[] {
  const [argument] = (given.at(-1) as Command).registeredArguments
  // Others are credential files, ids, texts or reports.
  if (!/^(?:document|inputs$|arguments$)/.test(argument?.name() ?? '')) return []
  const end = argv.indexOf('--')
  const words = [given[0]].flat().filter((word) => typeof word === 'string')
  return argv[0] === 'run' && end >= 0 ? words.slice(0, words.length - (argv.length - end - 1)) : words
}

/** Adds `--verbose` to all commands that run, also to one with subcommands that takes arguments itself. */
function withVerbose(command: Command, given: () => void): void {
  for (const below of command.commands) withVerbose(below, given)
  if (command.commands.length === 0 || command.registeredArguments.length > 0)
    command.option('-v, --verbose', 'log each request to stderr, without secrets').on('option:verbose', given)
}

/** Returns the command in the arguments, and the command line that shows its help. */
function namedCommand(program: Command, argv: readonly string[]): { readonly command: Command; readonly help: string } {
  let command = program
  const names = [program.name()]
  for (const word of argv) {
    const next = command.commands.find((known) => known.name() === word)
    if (!next) break
    names.push(next.name())
    command = next
  }
  return { command, help: command === program ? `${program.name()} help` : `${names.join(' ')} --help` }
}

async function programOf(argv: readonly string[], context: Context, verbose = () => {}): Promise<Command> {
  const { stdout } = context.io
  const program = new Command('stac-auth')
    .description('Send authorized requests for STAC assets and links, and lint their authentication metadata')
    .version(version())
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: () => undefined,
      outputError: () => undefined,
      getErrHasColors: () => false,
    })
    .showSuggestionAfterError(false)
  const named = argv.find((argument) => !argument.startsWith('-')) ?? ''
  const load = Object.hasOwn(COMMANDS, named) ? [COMMANDS[named]] : Object.values(COMMANDS)
  for (const add of await Promise.all(load.map((command) => command?.()))) add?.(program, context, argv)
  withVerbose(program, verbose)
  refuseRepeats(program)
  if (argv.some((argument) => HELP.has(argument))) (await import('./help/examples.ts')).addExamples(program)
  const [first = ''] = Object.keys(GROUPS)
  for (const command of program.commands) command.helpGroup(headingOf(command.name()) ?? first)
  program.commandsGroup(headingOf('help') ?? first).helpCommand(true)
  return program
}

/** Returns the program with every command, for its manual pages. */
export function wholeProgram(context: Context): Promise<Command> {
  return programOf([], context)
}

function headingOf(command: string): string | undefined {
  return Object.keys(GROUPS).find((heading) => GROUPS[heading]?.includes(command))
}

const SECRET_OPTION =
  /^-+(?:.*[-_])?(?:token|password|passwd|secret|key|credential|bearer|user|username|header|api-?key|auth(?:orization)?)s?$/i

const WHERE_SECRETS_GO =
  'secrets are not accepted on the command line, where other processes can read them: configure their source in the credential file ' +
  '({ "env": "NAME" }, { "file": "~/path" } or { "keyring": "account" }), or set STAC_AUTH_TOKEN and STAC_AUTH_TOKEN_FOR'

/** What other programs call our commands. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  validate: 'lint',
  check: 'lint',
  get: 'fetch',
  curl: 'fetch',
  sign: 'authorize',
  init: 'setup',
  configure: 'setup',
  serve: 'gateway',
  proxy: 'gateway',
  exec: 'run',
  ls: 'list',
}

/**
 * Converts an error of the argument parser while it read this command, and suggests what was meant. An unknown option is reported without
 * its value, which may be a secret.
 */
function usageErrorOf(error: CommanderError, command: Command, help: string, argv: readonly string[]): ConfigurationError {
  const [, flag] = /^error: unknown option '(--[^'=]*|-[^-])/.exec(error.message) ?? []
  if (flag !== undefined) return usageError(`unknown option ${flag}`, optionHint(flag, error.message, command, help))
  const [, name] = /^error: unknown command '([^']*)'/.exec(error.message) ?? []
  if (name !== undefined) return unknownCommand(name, command, help)
  const message = parserMessage(error)
  const [, given, choices] = /^invalid value "(.*)" for \S+: it must be one of (.*)$/s.exec(message) ?? []
  if (given !== undefined && choices !== undefined) return usageError(message, hintFor(nearMiss(given, choices.split(', ')), help))
  if (error.code === 'commander.excessArguments' && /^(?:authorize|explain|fetch|list)$/.test(command.name()))
    return usageError(message, `select one asset with --asset KEY; see ${help}`)
  if (error.code !== 'commander.help') return usageError(message, `see ${help}`)
  const asked = argv[argv.indexOf('help') + 1]
  if (argv.includes('help') && asked !== undefined) return unknownCommand(asked, command, help)
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name())
  const begin = command.parent
    ? `the commands are ${names.filter((one) => one !== 'help').join(', ')}; see `
    : 'to begin: stac-auth setup DOC, with the path or URL of a STAC document; all commands: '
  return usageError('no command is given', `${begin}${help}`)
}

const OPTION = "option '[^']*?(--[\\w-]+)[^']*'"

/** Messages of the parser, and ours. */
const PARSER_MESSAGES: readonly (readonly [theirs: RegExp, ours: string])[] = [
  [new RegExp(`^${OPTION} argument '(.*)' is invalid\\. (.*)$`, 's'), 'invalid value "$2" for $1: $3'],
  [/^command-argument value '(.*)' is invalid for argument '(.*?)'\. (.*)$/s, 'invalid value "$1" for $2: $3'],
  [/: Allowed choices are (.*)\.$/, ': it must be one of $1'],
  [new RegExp(`^${OPTION} argument missing$`), '$1 needs a value'],
  [new RegExp(`^required ${OPTION} not specified$`), '$1 is missing'],
  [new RegExp(`^${OPTION} cannot be used with ${OPTION}$`), '$1 and $2 exclude each other'],
  [/^missing required argument '(.*)'$/, 'the argument "$1" is missing'],
  [/^too many arguments(?: for '(.*)')?\. Expected (.*)\.$/, 'too many arguments: expected $2'],
]

function parserMessage({ message }: CommanderError): string {
  return PARSER_MESSAGES.reduce((text, [theirs, ours]) => text.replace(theirs, ours), message.replace(/^error: /, ''))
}

function unknownCommand(name: string, command: Command, help: string): ConfigurationError {
  const known = [...command.commands.map((one) => one.name()), 'help']
  const ours = Object.hasOwn(ELSEWHERE, name) && known.includes(ELSEWHERE[name] ?? '') ? ELSEWHERE[name] : nearMiss(name, known)
  return usageError(`unknown command "${name}"`, hintFor(ours, help))
}

function optionHint(flag: string, message: string, command: Command, help: string): string {
  const known = ['--help', ...command.options.flatMap(({ long }) => long ?? [])]
  if (/^--credentials?$/.test(flag)) {
    if (known.includes('--credentials'))
      return 'the file is --credentials FILE; among its credentials, the scheme and sendTo decide, then "preferred" of the file'
    return command.commands.length > 0 ? `give it after the subcommand; see ${help}` : `see ${help}`
  }
  if (SECRET_OPTION.test(flag)) return WHERE_SECRETS_GO
  if (/\.(?:(?:geo|nd)?jsonl?|gz|parquet)'/i.test(message)) return `write ./ before the name of a file that begins with a dash; see ${help}`
  const [longer, ...others] = known.filter((option) => option.startsWith(flag))
  return hintFor(others.length === 0 && longer ? longer : nearMiss(flag, known), help)
}

function hintFor(near: string | undefined, help: string): string {
  return near === undefined ? `see ${help}` : `did you mean "${near}"? See ${help}`
}
