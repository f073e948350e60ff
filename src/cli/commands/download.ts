import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type DownloadCommandOptions, withDownloadOptions } from '../download/options.ts'
import { usageError } from '../exit-code.ts'

const NOTE = `
A second run resumes incomplete files. stac-auth explain DOC shows which credential each asset would use.`

/** `download DOC… [-d DIR]`: downloads and verifies assets; a second run resumes. */
export function addDownload(program: Command, context: Context): void {
  const command = program
    .command('download [inputs...]')
    .description('download assets of documents from files, folders, globs, URLs or stdin (-)')
  withDownloadOptions(command)
    .addHelpText('after', NOTE)
    .action(
      context.run(async (names: string[], options: DownloadCommandOptions) => {
        if (names.length === 0) throw usageError('nothing to download', 'give files, folders, URLs, or - for stdin')
        const { downloadAll } = await import('../download/run.ts')
        return downloadAll(names, options, context)
      }),
    )
}
