import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { AddOptions } from '../credentials/add.ts'
import { withWishOptions } from '../credentials/wanted.ts'
import { withCredentialsOption } from '../options.ts'

/** `credentials add DOC | --entry FILE`: asks, then writes an entry that a document needs, or one of the user's own making. */
export function addAdd(credentials: Command, context: Context): void {
  const command = credentials.command('add [document]').description('ask about the entries that a document needs, and write them')
  withWishOptions(withCredentialsOption(command))
    .option('--entry <file>', 'an entry of your own, as JSON in a file, instead of a document')
    .action(
      context.run(async (document: string | undefined, options: AddOptions) => {
        const { add } = await import('../credentials/add.ts')
        return add(document, options, context)
      }),
    )
}
