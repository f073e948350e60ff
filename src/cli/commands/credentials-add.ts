import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { AddOptions } from '../credentials/add.ts'
import { withNewCredentialOptions } from '../credentials/missing-credentials.ts'
import { withCredentialsOption } from '../options.ts'

/** `credentials add DOC | --file FILE`: adds the credentials that a document needs, or one from a file, after confirmation. */
export function addAdd(credentials: Command, context: Context): void {
  const command = credentials.command('add [document]').description('create the credentials that a document needs, after confirmation')
  withNewCredentialOptions(withCredentialsOption(command))
    .option('--file <file>', 'add the credential in this JSON file instead')
    .action(
      context.run(async (document: string | undefined, options: AddOptions) => {
        const { add } = await import('../credentials/add.ts')
        return add(document, options, context)
      }),
    )
}
