/** What the secret sources share: their limit, their text and their error. */
import { CredentialError } from '../../errors.ts'

/** Longer secrets are mistakes: a wrong file, a wrong program. */
export const MAX_SECRET_BYTES = 65_536

/** Bytes as text, without the one line break that editors and programs put at the end. Errors: `CREDENTIAL_SOURCE` when not UTF-8. */
export function secretText(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch {
    throw sourceError(`${source} returned bytes that are not UTF-8 text`)
  }
}

/** The secret could not be read; nothing that its source gave is in the texts. Code `CREDENTIAL_SOURCE`. */
export function sourceError(message: string, hint?: string): CredentialError {
  return new CredentialError('CREDENTIAL_SOURCE', message, hint ? { hint } : {})
}
