import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { withNewCredentialOptions } from '../credentials/missing-credentials.ts'
import type { LoginOptions, LogoutOptions, StatusOptions } from '../login.ts'
import { portNumber, withCredentialsOption } from '../options.ts'

/** `login DOC|CREDENTIAL`: logs in with a credential; for a document, missing credentials are created after confirmation. */
export function addLogin(program: Command, context: Context): void {
  const command = program
    .command('login <document-or-credential>')
    .description('log in with a credential, or with those that a document needs')
  withNewCredentialOptions(withCredentialsOption(command))
    .option('--browser', 'log in with a browser on this machine, without a device code')
    .option('--port <number>', 'listen on this port for the redirect (default: a free port)', portNumber)
    .option('--yes', 'log in without a terminal; does not confirm new credentials')
    .action(context.run(async (name: string, options: LoginOptions) => (await import('../login.ts')).login(name, options, context)))
}

/** `logout [CREDENTIAL]`: removes tokens, and revokes them if the credential configures that. */
export function addLogout(program: Command, context: Context): void {
  const command = program
    .command('logout [credential]')
    .description('remove the tokens of a credential, and revoke them if the provider can')
  withCredentialsOption(command)
    .option('--all', 'remove all tokens, also those of deleted credentials')
    .action(
      context.run(async (name: string | undefined, options: LogoutOptions) => (await import('../login.ts')).logout(name, options, context)),
    )
}

/** `status`: shows which credentials are logged in and when their tokens expire. */
export function addStatus(program: Command, context: Context): void {
  const command = program.command('status').description('show which credentials are logged in and when their tokens expire')
  withCredentialsOption(command)
    .option('--json', 'print JSON')
    .action(context.run(async (options: StatusOptions) => (await import('../login.ts')).status(options, context)))
}
