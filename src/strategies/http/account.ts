import type { Credential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { reveal, unfit } from '../reveal.ts'

/** A name and a password that are ready to be compared byte by byte. */
export interface Account {
  readonly user: string
  readonly password: string
}

/**
 * Name and password of an entry, both prepared, before anything is sent. Errors: `CREDENTIAL_VALUE_INVALID` (also where
 * `prepare` answers with undefined), `CREDENTIAL_SOURCE`.
 */
export async function accountOf(credential: Credential, prepare: (text: string) => string | undefined): Promise<Account> {
  const read = async (field: string) => {
    const prepared = prepare(await reveal(credential[field] as Secret, field, credential))
    if (prepared === undefined) throw unfit(field, credential.id, 'has characters that cannot be prepared for comparison')
    return prepared
  }
  const [user, password] = await Promise.all([read('username'), read('password')])
  return { user, password }
}

/**
 * True when a text has other octets in ISO-8859-1 than in UTF-8, and can be written in both: a server that names no charset may
 * mean either (RFC 7617 §2.1, RFC 7616 §4).
 */
export function hasLatin1Form(text: string): boolean {
  return /[^\0-\x7f]/.test(text) && !/[^\0-\xff]/.test(text)
}
