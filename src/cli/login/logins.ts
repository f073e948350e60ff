import type { Auth } from '../../auth/auth.ts'
import type { Context } from '../context.ts'
import { openAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'

/** The engine as far as people log in and out with it. */
export type Logins = Pick<Auth, 'login' | 'logout' | 'status'>

/** The logins of the user's entries. Errors: `CONFIG_INVALID`. */
export function openLogins(context: Context, options: CredentialsOption): Promise<Logins> {
  return openAuth(context, options, [])()
}
