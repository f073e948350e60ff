import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { redirectHostOption } from '../credentials/missing-credentials.ts'
import { collect, portNumber, withCredentialsOption } from '../options.ts'
import type { SetupOptions } from '../setup/run.ts'

/** `setup DOC|PROVIDER…`: asks for every credential that documents or known providers need, logs in, and tests each with one small request. */
export function addSetup(program: Command, context: Context): void {
  const command = program
    .command('setup')
    .argument('<document...>', 'documents, or ids of providers (a file with the name of one: ./NAME)')
    .description('set up the credentials that documents or known providers need, step by step')
  withCredentialsOption(command)
    .option('--way <id>', 'take this way in of a provider; stac-auth providers ID shows them')
    .option('--scope <scope>', 'request this scope with new credentials (repeatable)', collect)
    .option('--browser', 'log in with a browser on this machine, without a device code')
    .option('--port <number>', 'listen on this port for the redirect (default: a free port)', portNumber)
    .addOption(redirectHostOption())
    .option('--dry-run', 'show what is there and what is missing, without a question')
    .option('--json', 'print that as JSON')
    .action(
      context.run(async (names: readonly string[], options: SetupOptions) =>
        (await import('../setup/setup.ts')).setup(names, options, context),
      ),
    )
}
