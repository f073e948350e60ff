import type { ServiceCredential } from '../auth/credential.ts'

/** The same for entries that say the same; those with functions are what they are. Holds secrets: for a fingerprint, not to be shown. */
export function credentialMark(credential: ServiceCredential): object | string {
  return Object.values(credential).every((value) => typeof value === 'string')
    ? JSON.stringify(Object.entries(credential).sort())
    : credential
}
