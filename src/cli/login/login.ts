/** `login`. */
import { existsSync } from 'node:fs'
import type { CredentialStatus } from '../../auth/auth.ts'
import { ConfigurationError, CredentialError } from '../../errors.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import type { CredentialsOption } from '../options.ts'
import { isAddress } from '../read-document.ts'
import { entriesFor, type UserEntries, userEntries } from '../trust/entries-for.ts'
import { isTerminal } from '../trust/terminal.ts'
import type { Wanted } from '../trust/wanted.ts'
import { unknownEntry } from '../trust/widen.ts'
import type { WishOptions } from '../trust/wishes.ts'
import { type Logins, openLogins } from './logins.ts'
import { interactionOn } from './screen.ts'

export interface LoginOptions extends CredentialsOption, WishOptions {
  readonly browser?: boolean
  readonly port?: number
  readonly yes?: boolean
}

/**
 * Logs in as an entry, or as the entries that a document needs, which are made first if there are none.
 *
 * Errors: those of {@link entriesFor}, `NO_CREDENTIAL`, `LOGIN_REQUIRED` where nobody is there to log in, `LOGIN_DENIED`, `LOGIN_TIMEOUT`,
 * and those of the provider.
 */
export async function login(name: string, options: LoginOptions, context: Context, open: typeof openLogins = openLogins): Promise<number> {
  const ids = await idsFor(name, await userEntries(options, context), options, context)
  const logins = await open(context, options)
  const known = await logins.status()
  let asked = false
  for (const id of ids) {
    const state = known.find(({ credential }) => credential === id)
    if (state === undefined || (name !== id && !needsPerson(state))) continue
    asked = true
    if (name !== id && isLoggedIn(state)) await context.diagnostics.note(`"${id}" is logged in already`)
    else await logIn(state, logins, options, context)
  }
  if (!asked) await context.diagnostics.note(nothingToDo(ids))
  return EXIT.done
}

function nothingToDo(ids: readonly string[]): string {
  return ids.map((id) => `"${id}" needs no login: it is ready to use`).join('\n') || 'nothing in this document needs a login'
}

/** An entry of that name comes before a file of that name. */
async function idsFor(name: string, user: UserEntries, options: LoginOptions, context: Context): Promise<readonly string[]> {
  if (user.entries.some(({ id }) => id === name)) return [name]
  if (!isAddress(name) && name !== '-' && !/[/\\]|\.json$/i.test(name) && !existsSync(name)) throw unknownEntry(name, user.entries)
  const { created, fitting } = await entriesFor(name, user, options, { command: 'stac-auth login', choose: withLogin }, context)
  return [...created, ...fitting]
}

/** Where there is something to log in to, a login does not ask about the rest. */
function withLogin(missing: readonly Wanted[], fitting: ReadonlySet<string>): readonly Wanted[] {
  const chosen = missing.filter(({ strategy }) => strategy.login !== undefined)
  return chosen.length > 0 || fitting.size > 0 ? chosen : missing
}

/** Other flows get their tokens by themselves. */
function needsPerson({ flow }: CredentialStatus): boolean {
  return flow === 'authorizationCode' || flow === 'implicit'
}

function isLoggedIn({ state, renewable }: CredentialStatus): boolean {
  return state === 'valid' || renewable
}

async function logIn(
  entry: CredentialStatus,
  logins: Logins,
  { browser = false, port, yes = false }: LoginOptions,
  context: Context,
): Promise<void> {
  const { credential } = entry
  if (needsPerson(entry) && !yes && !isTerminal(context.io)) {
    throw new CredentialError('LOGIN_REQUIRED', `logging in as "${credential}" needs a person, and there is no terminal`, {
      credential,
      hint: `run stac-auth login ${credential} at a terminal; --yes goes on where somebody reads what is printed here`,
    })
  }
  if (needsPerson(entry) && !entry.lasts) throw boundToProcess(credential)
  await logins.login(credential, interactionOn(context, { credential, browser, port }), { signal: context.io.signal })
  const { expiresAt } = (await logins.status()).find((one) => one.credential === credential) ?? {}
  await context.diagnostics.note(`"${credential}" is logged in${expiresAt === undefined ? '' : ` until ${expiresAt}`}`)
}

/** Nobody is sent to a provider for tokens that are gone when this command ends. */
function boundToProcess(credential: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `tokens of "${credential}" are bound to a key that ends with this command`, {
    credential,
    hint: 'add "dpopKey": { "file": "~/path" } to the entry, a P-256 key in PEM (PKCS #8)',
  })
}
