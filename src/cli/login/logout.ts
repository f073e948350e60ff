/** `logout`. */
import { isAuthError } from '../../errors.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-code.ts'
import type { CredentialsOption } from '../options.ts'
import { userEntries } from '../trust/entries-for.ts'
import { unknownEntry } from '../trust/widen.ts'
import { usageError } from '../usage.ts'
import { leftoverTokens } from './leftovers.ts'
import { openLogins } from './logins.ts'

export interface LogoutOptions extends CredentialsOption {
  readonly all?: boolean
}

/**
 * Drops the tokens of an entry, of all entries, or of the only one that has any; they are revoked where the entry says how. With `all`
 * those are dropped too whose entry was changed, removed or stands in another file, unless the file was given: nobody knows whose they are.
 *
 * Errors: `USAGE` when it is not clear whose, `NO_CREDENTIAL`, those of the store and of revocation.
 */
export async function logout(
  name: string | undefined,
  options: LogoutOptions,
  context: Context,
  open: typeof openLogins = openLogins,
): Promise<number> {
  if (name !== undefined && options.all) throw usageError('an entry and --all exclude each other')
  const { entries } = await userEntries(options, context)
  if (name !== undefined && !entries.some(({ id }) => id === name)) throw unknownEntry(name, entries)
  const logins = await open(context, options)
  const present = (await logins.status()).filter(({ state }) => state !== 'none').map(({ credential }) => credential)
  if (name === undefined && !options.all && present.length > 1)
    throw usageError('which entry?', `there are ${present.join(', ')}; or --all`)
  const failures: unknown[] = []
  for (const credential of name === undefined ? present : [name]) {
    try {
      await logins.logout(credential, { signal: context.io.signal })
      await context.diagnostics.note(`"${credential}" is logged out`)
    } catch (error) {
      failures.push(error)
      const code = isAuthError(error) ? error.code : 'INTERNAL'
      await context.diagnostics.note(`"${credential}" may not be logged out everywhere: ${code}`)
    }
  }
  const further = options.all ? await dropLeftovers(options, context).catch((error) => failures.push(error)) : 0
  if (failures.length > 0) throw failures[0]
  if (name === undefined && present.length === 0 && further === 0) await context.diagnostics.note('nobody is logged in')
  return EXIT.done
}

/** How many there were. */
async function dropLeftovers({ credentials }: LogoutOptions, context: Context): Promise<number> {
  const { note } = context.diagnostics
  const { count, forget } = await leftoverTokens(context)
  if (count === 0) return 0
  const whose = `${count} ${count === 1 ? 'token' : 'tokens'} of entries that were changed or removed, or of another credential file`
  if (credentials !== undefined) {
    await note(`${whose}, ${count === 1 ? 'is' : 'are'} still kept: stac-auth logout --all without --credentials forgets them`)
    return count
  }
  await forget()
  await note(`forgot ${whose}; nothing was revoked`)
  return count
}
