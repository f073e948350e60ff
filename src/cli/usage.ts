/** Usage errors of the command line. */
import type { Command, CommanderError } from 'commander'
import { ConfigurationError } from '../errors.ts'
import { nearMiss } from '../text/suggest.ts'

const SECRET_OPTION =
  /^-+(?:.*[-_])?(?:token|password|passwd|secret|key|credential|bearer|user|username|header|api-?key|auth(?:orization)?)s?$/i

const WHERE_SECRETS_GO =
  'secrets are not accepted on the command line, where other processes can read them: configure their source in the credential file ' +
  '({ "env": "NAME" }, { "file": "~/path" } or { "keyring": "account" }), or set STAC_AUTH_TOKEN and STAC_AUTH_TOKEN_FOR'

/** Returns a usage error, exit code 2. */
export function usageError(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError('USAGE', message, hint === undefined ? {} : { hint })
}

/**
 * Converts an error of the argument parser while it read this command, and suggests what was meant. An unknown option is reported without
 * its value, which may be a secret.
 */
export function usageErrorOf(error: CommanderError, command: Command, help: string): ConfigurationError {
  const [, flag] = /unknown option '(--[^'=]*|-[^-])/.exec(error.message) ?? []
  if (error.code === 'commander.unknownOption' && flag !== undefined) {
    if (SECRET_OPTION.test(flag)) return usageError(`unknown option ${flag}`, WHERE_SECRETS_GO)
    return usageError(`unknown option ${flag}`, seeWith(flag, longOptions(command), help))
  }
  const [, name] = /^error: unknown command '([^']*)'/.exec(error.message) ?? []
  if (error.code === 'commander.unknownCommand' && name !== undefined) {
    return usageError(firstLine(error), seeWith(name, [...command.commands.map((known) => known.name()), 'help'], help))
  }
  const [, given, choices] = /argument '([^']*)' is invalid\. Allowed choices are (.*)\.$/.exec(firstLine(error)) ?? []
  if (given !== undefined && choices !== undefined) return usageError(firstLine(error), seeWith(given, choices.split(', '), help))
  if (error.code === 'commander.excessArguments' && /'(?:authorize|explain|fetch|list)'/.test(error.message)) {
    return usageError(firstLine(error), `select one asset with --asset KEY; see ${help}`)
  }
  if (error.code === 'commander.help') return usageError('no command is given', `see ${help}`)
  return usageError(firstLine(error), `see ${help}`)
}

function seeWith(word: string, candidates: readonly string[], help: string): string {
  const near = nearMiss(word, candidates)
  return near === undefined ? `see ${help}` : `did you mean "${near}"? See ${help}`
}

function longOptions(command: Command): string[] {
  return ['--help', ...command.options.flatMap(({ long }) => long ?? [])]
}

function firstLine({ message }: CommanderError): string {
  return message.replace(/^error: /, '').split('\n', 1)[0] ?? ''
}

/** Returns true if the arguments ask for JSON, before they are parsed, so that usage errors are JSON too. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const options = end < 0 ? argv : argv.slice(0, end)
  return options.some((option, index) => {
    if (option === '--json' || option === '--as=json' || option === '--format=json') return true
    return (option === '--as' || option === '--format') && options[index + 1] === 'json'
  })
}
