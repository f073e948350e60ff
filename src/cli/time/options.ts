/** What all commands below `time` have in common. */
import { type Command, Option } from 'commander'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'
import { usageError } from '../usage.ts'

export interface TimeOptions extends CredentialsOption {
  readonly baseUrl?: string
  readonly apiVersion?: string
  readonly userAgent?: string
  readonly authHeader?: 'authorization' | 'x-api-token'
  readonly allowInsecure?: boolean
  readonly json?: boolean
}

/** Adds them to a command. */
export function withTimeOptions(command: Command): Command {
  return withCredentialsOption(command)
    .option('--base-url <url>', 'the service, such as https://host.example/api/v1 (default: STAC_AUTH_TIME_URL)')
    .option('--api-version <segment>', 'last segment of that address (default: v1)')
    .option('--user-agent <text>', 'the User-Agent that made the token (default: STAC_AUTH_TIME_USER_AGENT)')
    .addOption(new Option('--auth-header <name>', 'where STAC_AUTH_TIME_TOKEN goes').choices(['authorization', 'x-api-token']))
    .option('--allow-insecure', 'http: to a service on this very machine, for tests')
    .option('--json', 'print what the service answered, without its envelope')
}

/** What the arguments say about the fields of a record. */
export interface FieldOptions {
  readonly name?: string
  readonly set?: readonly string[]
}

/** The fields to write, as text. Errors: `USAGE` for none, for one that is given twice, and for what is no field. */
export function writtenFields({ name, set = [] }: FieldOptions): Readonly<Record<string, string>> {
  const pairs = set.map((text): [string, string] => {
    const equals = text.indexOf('=')
    if (equals < 1) throw usageError('--set wants FIELD=VALUE')
    return [text.slice(0, equals), text.slice(equals + 1)]
  })
  if (name !== undefined) pairs.unshift(['name', name])
  if (pairs.length === 0) throw usageError('what is to be written? Give --name NAME or --set FIELD=VALUE')
  const twice = pairs.find(([field], index) => pairs.findIndex(([other]) => other === field) < index)
  if (twice) throw usageError(`the field ${JSON.stringify(twice[0])} is given twice`)
  return Object.fromEntries(pairs)
}
