/** Files that must be ordered first, in commands: the options, and the question about what orders cost. */
import type { Command } from 'commander'
import type { Auth } from '../auth/auth.ts'
import type { Context } from './context.ts'
import { isTerminal, Terminal } from './credentials/terminal.ts'
import { loggedTransport } from './request-log.ts'

export interface OrderOption {
  /** False with `--no-order`. */
  readonly order?: boolean
  readonly yes?: boolean
}

/** Adds `--no-order` and `--yes`. */
export function withOrderOptions(command: Command): Command {
  return command
    .option('--no-order', 'order no files that a known provider prepares on request: they fail, and nothing is sent')
    .option('--yes', 'order files also where that costs money or quota; without it the terminal asks')
}

/**
 * Returns the engine that orders files of known providers.
 *
 * @param alone runs the question while nothing else is written to the terminal
 */
export async function orderingAuth(
  auth: Auth,
  { order = true, yes = false, json = false }: OrderOption & { readonly json?: boolean },
  context: Context,
  alone: <T>(ask: () => Promise<T>) => Promise<T> = (ask) => ask(),
): Promise<Auth> {
  const [{ withOrders }, { userFolder }] = await Promise.all([import('../node/orders.ts'), import('../node/base/index.ts')])
  const { io } = context
  const folder = userFolder('cache', ['stac-auth', 'orders'], io.env)
  const question = (title: string, costs: string) => async () => {
    const answer = await new Terminal(io).ask(`${title}: ${costs}. Order the files of this command?  [y]es / [N]o `)
    return /^y(?:es)?$/i.test(answer)
  }
  return withOrders(auth, {
    order,
    ...(await loggedTransport(context)),
    ...(folder !== undefined && { folder }),
    onCost: ({ title, order: { costs = '' } = { files: [], location: '' } }) =>
      yes || (!json && isTerminal(io) && alone(question(title, costs))),
  })
}
