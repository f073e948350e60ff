import type { Credential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { isAccessToken } from '../../http/auth-scheme.ts'
import { reveal, unfit } from '../reveal.ts'

/** The field `token` of a credential, at once when it was given as text. Errors: `CREDENTIAL_VALUE_INVALID` as of {@link isAccessToken}. */
export function accessToken(credential: Credential): string | Promise<string> {
  const token = reveal(credential.token as Secret, 'token', credential)
  return typeof token === 'string' ? checked(token, credential.id) : token.then((value) => checked(value, credential.id))
}

function checked(token: string, id: string): string {
  if (isAccessToken(token)) return token
  if (/^bearer\s/i.test(token)) throw unfit('token', id, 'starts with "Bearer ": give the token only, the scheme name is added')
  throw unfit('token', id, 'is not an access token: it has a blank or a character that is not visible ASCII')
}
