/** What all commands below `time` have in common. */
import { type Command, Option } from 'commander'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'

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
