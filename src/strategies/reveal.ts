/** The one place where a secret's value is looked at and checked for where it is going. */
import type { Credential } from '../auth/credential.ts'
import { Secret } from '../auth/secret.ts'
import { CredentialError, isAuthError } from '../errors.ts'

/** Longer values do not fit the headers that servers accept. */
const MAX_LENGTH = 16_384

/**
 * The value of a secret field, at once when it was given as text. Errors: `CREDENTIAL_VALUE_INVALID` (empty, line breaks,
 * outer blanks, too long), `CREDENTIAL_SOURCE`. The value is never shown.
 */
export function reveal(secret: Secret, field: string, { id }: Credential): string | Promise<string> {
  return secret.isText ? checked(secret.reveal(), field, id) : answered(secret, field, id, checked)
}

/**
 * The value of a secret that is a text of its own, such as a key in PEM: line breaks may be in it and around it. Errors:
 * `CREDENTIAL_VALUE_INVALID` (empty, NUL, too long), `CREDENTIAL_SOURCE`. The value is never shown.
 */
export function revealText(secret: Secret, field: string, { id }: Credential): string | Promise<string> {
  return secret.isText ? checkedText(secret.reveal(), field, id) : answered(secret, field, id, checkedText)
}

/** Functions and sources are asked once per request, so not for a look ahead: true when the entry needs neither. */
export function atHand(credential: Credential): boolean {
  return Object.values(credential).every((value) => !(value instanceof Secret) || value.isText)
}

/** `CREDENTIAL_VALUE_INVALID` for a value that cannot go where it must. */
export function unfit(field: string, id: string, why: string): CredentialError {
  return new CredentialError('CREDENTIAL_VALUE_INVALID', `${field} of "${id}" ${why}`, { credential: id })
}

/** What the user's own function throws may hold anything, so it is not attached. */
async function answered(secret: Secret, field: string, id: string, check: typeof checked): Promise<string> {
  let value: unknown
  try {
    value = await secret.reveal()
  } catch (error) {
    const known = isAuthError(error) ? error : undefined
    if (known && known.code !== 'CREDENTIAL_SOURCE') throw known
    const why = known?.message ?? 'its function failed'
    throw new CredentialError('CREDENTIAL_SOURCE', `${field} of "${id}": ${why}`, { ...known, credential: id })
  }
  return check(value, field, id)
}

function checked(value: unknown, field: string, id: string): string {
  const text = checkedText(value, field, id)
  if (/[\r\n]/.test(text)) throw unfit(field, id, 'has a line break in it')
  if (text !== text.trim()) throw unfit(field, id, 'begins or ends with a blank')
  return text
}

function checkedText(value: unknown, field: string, id: string): string {
  if (typeof value !== 'string' || value === '') throw unfit(field, id, 'is empty')
  if (value.includes('\0')) throw unfit(field, id, 'has a NUL in it')
  if (value.length > MAX_LENGTH) throw unfit(field, id, `is longer than ${MAX_LENGTH} characters`)
  return value
}
