import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import {
  type AssetOptions,
  type ByAddressOption,
  type CredentialsOption,
  duration,
  inOptionGroup,
  partOf,
  signatureSeconds,
  wholeFrom,
  withAssetOptions,
  withByAddressOption,
  withCredentialsOption,
} from '../options.ts'

export interface AuthorizeAllCommandOptions extends CredentialsOption, ByAddressOption, AssetOptions {
  readonly reveal?: boolean
  readonly expires?: number
  readonly minValidity?: number
  readonly unordered?: boolean
  readonly concurrency?: number
  readonly shard?: { readonly index: number; readonly of: number }
}

const NOTE = `
Each input line is a document, or a target: an object with href, auth:refs and auth:schemes.
Each output line is a request with the id of its document and its asset, or has "error".`

/** `authorize-all [INPUT…]`: prints the authorized requests of many assets as NDJSON. */
export function addAuthorizeAll(program: Command, context: Context): void {
  const command = program
    .command('authorize-all [inputs...]')
    .description('print the authorized requests of documents or targets as NDJSON (default: from stdin)')
  withByAddressOption(withCredentialsOption(command))
  inOptionGroup(command, 'Assets:', (group) => withAssetOptions(group, 'authorize'))
    .option('--reveal', 'show secrets')
    .addOption(new Option('--expires <seconds>', 'presign the URLs of s3 schemes for this time').argParser(signatureSeconds))
    .option('--min-validity <time>', 'replace tokens and signed URLs that end sooner: 90s, 30m, 2h', duration)
    .option('--unordered', 'print each request as soon as it is known')
    .option('--concurrency <n>', 'authorize this many targets at a time (default: 64)', wholeFrom(1))
    .option('--shard <i/n>', 'process the i-th of n parts of the documents', partOf)
    .addHelpText('after', NOTE)
    .action(
      context.run(async (names: string[], options: AuthorizeAllCommandOptions) => {
        const { authorizeInputs } = await import('../download/authorize-inputs.ts')
        return authorizeInputs(names.length === 0 ? ['-'] : names, options, context)
      }),
    )
}
