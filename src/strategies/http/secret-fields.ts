import { platform } from '#platform'
import type { Credential, Secret } from '../../auth/credential.ts'
import { importPrivateKey, type PrivateKey, type SignatureAlgorithm } from '../../crypto/private-key.ts'
import { reveal, revealText, unfit } from '../reveal.ts'
import type { HttpContext } from './scheme.ts'

/** A user name and a password, prepared for comparison byte by byte. */
export interface Account {
  readonly user: string
  readonly password: string
}

/**
 * Returns the prepared user name and password of a credential, before anything is sent. Errors: `CREDENTIAL_VALUE_INVALID` (also when
 * `prepare` returns undefined), `CREDENTIAL_SOURCE`.
 */
export async function accountOf(credential: Credential, prepare: (text: string) => string | undefined): Promise<Account> {
  const read = async (field: string) => {
    const prepared = prepare(await reveal(credential[field] as Secret, field, credential))
    if (prepared === undefined) throw unfit(field, credential.id, 'contains characters that cannot be prepared for comparison')
    return prepared
  }
  const [user, password] = await Promise.all([read('username'), read('password')])
  return { user, password }
}

/**
 * True when a text has different octets in ISO-8859-1 and UTF-8, and can be written in both: a server that names no charset may
 * expect either (RFC 7617 §2.1, RFC 7616 §4).
 */
export function hasLatin1Form(text: string): boolean {
  return /[^\0-\x7f]/.test(text) && !/[^\0-\xff]/.test(text)
}

/**
 * Returns the key in the field `privateKey`, imported once for all requests. Errors: `CREDENTIAL_VALUE_INVALID` for an
 * unsupported key, `CREDENTIAL_SOURCE`. Errors never contain any part of the key.
 */
export async function signingKey({ credential, session }: HttpContext, algorithms: readonly SignatureAlgorithm[]): Promise<PrivateKey> {
  const text = await revealText(credential.privateKey as Secret, 'privateKey', credential)
  const { value } = await session.resolve(`private key ${await platform.sha256Hex(text)}`, async () => {
    const key = await importPrivateKey(text, algorithms)
    if ('problem' in key) throw unfit('privateKey', credential.id, key.problem)
    return { value: key }
  })
  return value
}
