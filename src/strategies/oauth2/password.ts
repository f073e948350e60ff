/** The resource owner password grant (RFC 6749 §4.3), which RFC 9700 §2.4 advises against: credentials must ask for it. */
import { platform } from '#platform'
import type { Secret } from '../../auth/secret.ts'
import { CredentialError, isAuthError } from '../../errors.ts'
import { reveal } from '../reveal.ts'
import type { OAuth2Context } from './credential.ts'
import { granted, requested } from './grant.ts'
import type { TokenSet } from './token-set.ts'

/**
 * A token for a user name and a password, with a one-time code and further parameters where the credential has them. The password is
 * sent once; one that was refused is not sent again, for many accounts are locked after a few attempts.
 *
 * Errors: `OAUTH_ERROR` with `actual` `invalid_grant` for a wrong one, those of the token endpoint, `CREDENTIAL_SOURCE`.
 */
export async function password(context: OAuth2Context): Promise<TokenSet> {
  const { credential, session, clock } = context
  const read = (field: 'username' | 'password' | 'totp') => reveal(credential[field] as Secret, field, credential)
  const [username, secret] = await Promise.all([read('username'), read('password')])
  const more = await furtherParameters(context)
  const account = await platform.sha256Hex(JSON.stringify([username, secret, more]))
  const known = session.get<Refusal>(REFUSED)?.value
  if (known?.account === account) throw known.error
  // A code lives for half a minute: it is read last.
  const code = credential.totp && (await read('totp'))
  const parameters = { ...more, username, password: secret, ...(code !== undefined && { totp: code }), ...requested(credential) }
  try {
    return await granted(
      context,
      ({ library, configuration, options }) => library.genericGrantRequest(configuration, 'password', parameters, options),
      { once: true, secrets: [secret, ...(code === undefined ? [] : [code]), ...Object.values(more)] },
    )
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'OAUTH_ERROR' || error.actual !== 'invalid_grant') throw error
    const refusal = refused(error.url, error.status, context)
    allowAgain(context)
    await session.resolve<Refusal>(REFUSED, async () => ({ value: { account, error: refusal }, renewAt: clock.now() + REMEMBERED }))
    throw refusal
  }
}

/** Forgets that a password was refused: somebody asks for a login in so many words. */
export function allowAgain({ session }: OAuth2Context): void {
  session.invalidate(REFUSED, session.get(REFUSED)?.value)
}

interface Refusal {
  /** Digest of what was refused, apart from the one-time code. */
  readonly account: string
  readonly error: CredentialError
}

const REFUSED = 'refused password'
/** Milliseconds for which a refused password is not sent again. */
const REMEMBERED = 600_000

async function furtherParameters({ credential }: OAuth2Context): Promise<Record<string, string>> {
  const read = async ([name, value]: [string, Secret]) => [name, await reveal(value, `tokenParameters/${name}`, credential)] as const
  return Object.fromEntries(await Promise.all([...(credential.tokenParameters ?? [])].map(read)))
}

/** RFC 6749 §5.2: `invalid_grant` means that this very user name and password are wrong, or that the account has a second factor. */
function refused(url: string | undefined, status: number | undefined, { credential: { id, totp } }: OAuth2Context): CredentialError {
  const what = totp ? 'user name, password or one-time code' : 'user name or password'
  const factor = totp ? 'check "totp" as well' : 'an account with a second factor needs "totp" in the credential'
  return new CredentialError('OAUTH_ERROR', `the token endpoint refused the ${what} of "${id}"`, {
    credential: id,
    ...(url !== undefined && { url }),
    ...(status !== undefined && { status }),
    actual: 'invalid_grant',
    hint: `check "username" and "password"; ${factor}. It is not tried again`,
  })
}
