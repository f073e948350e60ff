/** The options of all `time` commands. */
import { type Command, Option } from 'commander'
import { usageError } from '../exit-code.ts'
import { type CredentialsOption, inOptionGroup, withCredentialsOption } from '../options.ts'

export interface TimeOptions extends CredentialsOption {
  readonly baseUrl?: string
  readonly apiVersion?: string
  readonly userAgent?: string
  readonly authHeader?: 'authorization' | 'x-api-token'
  readonly allowInsecure?: boolean
  readonly json?: boolean
}

/** Adds the options of {@link TimeOptions}. */
export function withTimeOptions(command: Command): Command {
  withCredentialsOption(command)
  return inOptionGroup(command, 'Service:', (group) =>
    group
      .option('--base-url <url>', 'set the URL, such as https://host.example/api/v1 (default: STAC_AUTH_TIME_URL)')
      .option('--api-version <segment>', 'set the last path segment of the URL (default: v1)')
      .option('--user-agent <text>', 'send the User-Agent that created the token (default: STAC_AUTH_TIME_USER_AGENT)')
      .addOption(new Option('--auth-header <name>', 'send STAC_AUTH_TIME_TOKEN in this header').choices(['authorization', 'x-api-token']))
      .option('--allow-insecure', 'allow http: to a service on this machine, for tests'),
  ).option('--json', 'print the response as JSON, without its envelope')
}

/** Options for the fields of a record. */
export interface FieldOptions {
  readonly name?: string
  readonly set?: readonly string[]
}

/** Returns the fields to write. Errors: `USAGE` for none, a repeated or a malformed field. */
export function writtenFields({ name, set = [] }: FieldOptions): Readonly<Record<string, string>> {
  const pairs = set.map((text): [string, string] => {
    const equals = text.indexOf('=')
    if (equals < 1) throw usageError('--set must be FIELD=VALUE')
    return [text.slice(0, equals), text.slice(equals + 1)]
  })
  if (name !== undefined) pairs.unshift(['name', name])
  if (pairs.length === 0) throw usageError('no field is given: give --name NAME or --set FIELD=VALUE')
  const twice = pairs.find(([field], index) => pairs.findIndex(([other]) => other === field) < index)
  if (twice) throw usageError(`the field ${JSON.stringify(twice[0])} is given twice`)
  return Object.fromEntries(pairs)
}
