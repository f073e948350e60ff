import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'

/** `credentials trust ID PATTERN`: adds a URL pattern to the `sendTo` of a credential, after confirmation. */
export function addTrust(credentials: Command, context: Context): void {
  const command = credentials
    .command('trust <id> <pattern>')
    .description('add a URL pattern to the sendTo of a credential, after confirmation')
  withCredentialsOption(command).action(
    context.run(async (id: string, pattern: string, options: CredentialsOption) => {
      const { trust } = await import('../credentials/trust.ts')
      return trust(id, pattern, options, context)
    }),
  )
}
