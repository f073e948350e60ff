import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type DownloadCommandOptions, withDownloadOptions } from '../download/options.ts'
import { usageError } from '../usage.ts'

/** `download DOC… [-d DIR]`: the assets of documents as files, verified, and taken up again where a run was stopped. */
export function addDownload(program: Command, context: Context): void {
  const command = program
    .command('download [inputs...]')
    .description('fetch the assets of files, folders, globs, addresses or standard input (-) into a folder; a second run goes on')
  withDownloadOptions(command).action(
    context.run(async (names: string[], options: DownloadCommandOptions) => {
      if (names.length === 0) throw usageError('nothing to download', 'give files, folders, addresses, or - for standard input')
      const { downloadAll } = await import('../download/run.ts')
      return downloadAll(names, options, context)
    }),
  )
}
