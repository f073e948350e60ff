/** `login`. */
import { existsSync } from 'node:fs'
import type { CredentialInput } from '../../auth/credential.ts'
import { CredentialError } from '../../errors.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import type { CredentialsOption } from '../options.ts'
import { isAddress } from '../read-document.ts'
import { entriesFor, type UserEntries, userEntries } from '../trust/entries-for.ts'
import { isTerminal } from '../trust/terminal.ts'
import { unknownEntry } from '../trust/widen.ts'
import type { WishOptions } from '../trust/wishes.ts'
import { type CredentialStatus, type Logins, openLogins } from './logins.ts'
import { interactionOn } from './screen.ts'

export interface LoginOptions extends CredentialsOption, WishOptions {
  readonly browser?: boolean
  readonly yes?: boolean
}

/**
 * Logs in as an entry, or as the entries that a document needs, which are made first if there are none.
 *
 * Errors: those of {@link entriesFor}, `NO_CREDENTIAL`, `LOGIN_REQUIRED` where nobody is there to log in, `LOGIN_DENIED`, `LOGIN_TIMEOUT`,
 * and those of the provider.
 */
export async function login(name: string, options: LoginOptions, context: Context, open: typeof openLogins = openLogins): Promise<number> {
  const user = await userEntries(options, context)
  const ids = await idsFor(name, user, options, context)
  const { entries } = await userEntries(options, context)
  const people = ids.filter((id) => needsPerson(entries.find((entry) => entry.id === id)))
  if (people.length === 0) {
    await context.diagnostics.note(
      ids.map((id) => `"${id}" needs no login: it is ready to use`).join('\n') || 'nothing in this document needs a login',
    )
    return EXIT.done
  }
  const logins = await open(context, options)
  for (const id of people) {
    if (name === id || !(await isLoggedIn(id, logins))) await logIn(id, logins, options, context)
    else await context.diagnostics.note(`"${id}" is logged in already`)
  }
  return EXIT.done
}

/** An entry of that name comes before a file of that name. */
async function idsFor(name: string, user: UserEntries, options: LoginOptions, context: Context): Promise<readonly string[]> {
  if (user.entries.some(({ id }) => id === name)) return [name]
  if (!isAddress(name) && name !== '-' && !/[/\\]|\.json$/i.test(name) && !existsSync(name)) throw unknownEntry(name, user.entries)
  const { created, fitting } = await entriesFor(name, user, options, 'stac-auth login', context)
  return [...created, ...fitting]
}

/** Other entries have what they need, or get it without a person. */
function needsPerson(entry: CredentialInput | undefined): boolean {
  if (entry?.type !== 'oauth2' && entry?.type !== 'openIdConnect') return false
  return (entry.flow ?? 'authorizationCode') === 'authorizationCode'
}

async function isLoggedIn(id: string, logins: Logins): Promise<boolean> {
  const known = await statusOf(id, logins)
  return known?.state === 'valid' || (known?.state === 'expired' && known.renewable)
}

async function statusOf(id: string, logins: Logins): Promise<CredentialStatus | undefined> {
  return (await logins.status()).find(({ credential }) => credential === id)
}

async function logIn(credential: string, logins: Logins, { browser = false, yes = false }: LoginOptions, context: Context): Promise<void> {
  if (!yes && !isTerminal(context.io)) {
    throw new CredentialError('LOGIN_REQUIRED', `logging in as "${credential}" needs a person, and there is no terminal`, {
      credential,
      hint: `run stac-auth login ${credential} at a terminal; --yes goes on where somebody reads what is printed here`,
    })
  }
  await logins.login(credential, interactionOn(context, { credential, browser }), { signal: context.io.signal })
  const { expiresAt } = (await statusOf(credential, logins)) ?? {}
  await context.diagnostics.note(`"${credential}" is logged in${expiresAt === undefined ? '' : ` until ${expiresAt}`}`)
}
