import type { Credential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { reveal, unfit } from '../reveal.ts'

const TOKEN68 = /^[A-Za-z0-9\-._~+/]+=*$/

/** The field `token` of an entry, at once when it was given as text. Errors: `CREDENTIAL_VALUE_INVALID` when it is no token68 (RFC 9110 §11.2). */
export function accessToken(credential: Credential): string | Promise<string> {
  const token = reveal(credential.token as Secret, 'token', credential)
  return typeof token === 'string' ? checked(token, credential.id) : token.then((value) => checked(value, credential.id))
}

function checked(token: string, id: string): string {
  if (!TOKEN68.test(token)) throw unfit('token', id, 'is no access token (letters, digits and -._~+/= only)')
  return token
}
