import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { FetchOptions } from '../download/fetch.ts'
import { WEEK_SECONDS, wholeFrom, withQuietOption, withTargetRequestOptions } from '../options.ts'
import { withOrderOptions } from '../orders.ts'

/** `fetch (DOC --asset K | URL) [-o FILE]`: sends the authorized request and writes the body to stdout or a new file. */
export function addFetch(program: Command, context: Context): void {
  const command = program
    .command('fetch <document-or-url>')
    .description('send the authorized request and write the body to stdout or a file')
  withOrderOptions(withQuietOption(withTargetRequestOptions(command)))
    .option('-o, --output <file>', 'write to this new file, or into this folder (default: -, stdout)')
    .option('--force', 'replace the file of --output once the body is complete')
    .option('--accept-html', 'accept an HTML page where another media type is expected')
    .option('--trust-server', 'keep a file that differs in size, checksum or format from its document')
    .option('--wait <seconds>', 'wait this long for a file that the server is preparing (default: 600)', wholeFrom(0, WEEK_SECONDS))
    .action(
      context.run(async (name: string, options: FetchOptions) => (await import('../download/fetch.ts')).fetchOne(name, options, context)),
    )
}
