import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type DownloadCommandOptions, withDownloadOptions } from '../download/options.ts'
import { usageError } from '../usage.ts'

const EXAMPLES = `
Examples:
  stac-auth download item.json -d data
  stac-auth download 'items/*.json' -d data --role data --type image/tiff --dry-run
  stac-auth download 'https://api.example/search?limit=50' --crawl -d data --asset B04

stac-auth explain DOC says which credential is used for what, and why not the others.`

/** `download DOC… [-d DIR]`: the assets of documents as files, verified, and taken up again where a run was stopped. */
export function addDownload(program: Command, context: Context): void {
  const command = program
    .command('download [inputs...]')
    .description('fetch the assets of files, folders, globs, addresses or standard input (-) into a folder; a second run goes on')
  withDownloadOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(
      context.run(async (names: string[], options: DownloadCommandOptions) => {
        if (names.length === 0) throw usageError('nothing to download', 'give files, folders, addresses, or - for standard input')
        const { downloadAll } = await import('../download/run.ts')
        return downloadAll(names, options, context)
      }),
    )
}
