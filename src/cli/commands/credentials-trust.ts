import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { type CredentialsOption, withCredentialsOption } from '../options.ts'

/** `credentials trust ID PATTERN`: asks, then lets an entry be sent to further addresses. */
export function addTrust(credentials: Command, context: Context): void {
  const command = credentials
    .command('trust <id> <pattern>')
    .description('ask, then add an address such as https://data.example/ to the sendTo of an entry')
  withCredentialsOption(command).action(
    context.run(async (id: string, pattern: string, options: CredentialsOption) => {
      const { trust } = await import('../credentials/widen.ts')
      return trust(id, pattern, options, context)
    }),
  )
}
