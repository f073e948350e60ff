/** Shared by the secret sources: the size limit, the decoding of text, and the error. */
import { CredentialError } from '../../errors.ts'

/** Maximum size of a secret in bytes. A larger value is probably the wrong file or program. */
export const MAX_SECRET_BYTES = 65_536

/** Decodes UTF-8 and removes one trailing line break. Errors: `CREDENTIAL_SOURCE` for other bytes. */
export function secretText(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch {
    throw sourceError(`${source} returned bytes that are not UTF-8 text`)
  }
}

/** Returns the error of an unreadable secret, with the code `CREDENTIAL_SOURCE`. Its texts never contain the value. */
export function sourceError(message: string, hint?: string): CredentialError {
  return new CredentialError('CREDENTIAL_SOURCE', message, hint ? { hint } : {})
}
