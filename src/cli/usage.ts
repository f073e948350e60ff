/** Usage errors of the command line. */
import type { CommanderError } from 'commander'
import { ConfigurationError } from '../errors.ts'

const SECRET_OPTION =
  /^-+(?:.*[-_])?(?:token|password|passwd|secret|key|credential|bearer|user|username|header|api-?key|auth(?:orization)?)s?$/i

const WHERE_SECRETS_GO =
  'secrets are not accepted on the command line, where other processes can read them: configure their source in the credential file ' +
  '({ "env": "NAME" }, { "file": "~/path" } or { "keyring": "account" }), or set STAC_AUTH_TOKEN and STAC_AUTH_TOKEN_FOR'

/** Returns a usage error, exit code 2. */
export function usageError(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError('USAGE', message, hint === undefined ? {} : { hint })
}

/** Converts an error of the argument parser. An unknown option is reported without its value, which may be a secret. */
export function usageErrorOf(error: CommanderError, help: string): ConfigurationError {
  const [, flag] = /unknown option '(--[^'=]*|-[^-])/.exec(error.message) ?? []
  if (error.code === 'commander.unknownOption' && flag !== undefined) {
    return usageError(`unknown option ${flag}`, SECRET_OPTION.test(flag) ? WHERE_SECRETS_GO : `see ${help}`)
  }
  if (error.code === 'commander.excessArguments' && /'(?:authorize|explain|fetch|list)'/.test(error.message)) {
    return usageError(firstLine(error), `select one asset with --asset KEY; see ${help}`)
  }
  if (error.code === 'commander.help') return usageError('no command is given', `see ${help}`)
  return usageError(firstLine(error), `see ${help}`)
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
