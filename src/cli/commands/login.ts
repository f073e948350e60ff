import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withWishOptions } from '../credentials/wanted.ts'
import type { LoginOptions, LogoutOptions, StatusOptions } from '../login.ts'
import { portNumber, withCredentialsOption } from '../options.ts'

/** `login DOC|CREDENTIAL`: logs in as an entry, after asking for one where a document needs it. */
export function addLogin(program: Command, context: Context): void {
  const command = program
    .command('login <document-or-entry>')
    .description('log in as an entry; for a document ask, then write the entry first')
  withWishOptions(withCredentialsOption(command))
    .option('--browser', 'log in with a browser on this machine, not by a code typed elsewhere')
    .option('--port <number>', 'listen on this port of 127.0.0.1 for the browser (default: a free one)', portNumber)
    .option('--yes', 'go on without a terminal, for entries that exist; it never answers what an entry is asked for')
    .action(
      context.run(async (name: string, options: LoginOptions) => {
        const { login } = await import('../login.ts')
        return login(name, options, context)
      }),
    )
}

/** `logout [CREDENTIAL]`: drops tokens, and revokes them where the entry says how. */
export function addLogout(program: Command, context: Context): void {
  const command = program.command('logout [entry]').description('drop the tokens of an entry, and revoke them where it says how')
  withCredentialsOption(command)
    .option('--all', 'of all entries, and without --credentials also of those that are no more')
    .action(
      context.run(async (name: string | undefined, options: LogoutOptions) => {
        const { logout } = await import('../login.ts')
        return logout(name, options, context)
      }),
    )
}

/** `status`: who is logged in, and until when. */
export function addStatus(program: Command, context: Context): void {
  const command = program.command('status').description('say which entries are logged in and until when; never a token')
  withCredentialsOption(command)
    .option('--json', 'print a list')
    .action(
      context.run(async (options: StatusOptions) => {
        const { status } = await import('../login.ts')
        return status(options, context)
      }),
    )
}
