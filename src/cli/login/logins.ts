/** The engine as far as people log in and out with it. */
import type { Auth } from '../../auth/auth.ts'
import type { Interaction } from '../../auth/interaction.ts'
import { UnsupportedError } from '../../errors.ts'
import type { Context } from '../context.ts'
import { openAuth } from '../open-auth.ts'
import type { CredentialsOption } from '../options.ts'

/** What is known of an entry's tokens. */
export interface CredentialStatus {
  readonly credential: string
  readonly type: string
  readonly flow?: string
  readonly state: 'none' | 'valid' | 'expired'
  /** ISO 8601 in UTC. */
  readonly expiresAt?: string
  readonly scopes?: readonly string[]
  /** True when a new token comes without a person. */
  readonly renewable: boolean
}

export interface Logins {
  login(credential: string, interaction?: Interaction, options?: { readonly signal?: AbortSignal }): Promise<void>
  logout(credential: string, options?: { readonly signal?: AbortSignal }): Promise<void>
  status(): Promise<readonly CredentialStatus[]>
}

/** The logins of the user's entries. Errors: `CONFIG_INVALID`. */
export async function openLogins(context: Context, options: CredentialsOption): Promise<Logins> {
  const auth: Auth & Partial<Logins> = await openAuth(context, options, [])()
  if (hasLogins(auth)) return auth
  throw new UnsupportedError('SCHEME_UNSUPPORTED', 'this engine knows no logins')
}

function hasLogins(auth: Auth & Partial<Logins>): auth is Auth & Logins {
  return auth.login !== undefined && auth.logout !== undefined && auth.status !== undefined
}
