/** Credentials that tests put together from parts, or get wrong on purpose: the compiler cannot check their fields. */
import type { CredentialObject, CredentialSet, UncheckedCredential } from '../../src/auth/credential.ts'

export function unchecked(credential: CredentialObject): UncheckedCredential
export function unchecked(credentials: readonly CredentialObject[]): readonly UncheckedCredential[]
export function unchecked(credentials: CredentialSet<CredentialObject>): CredentialSet
export function unchecked(given: unknown): unknown {
  return given
}
