/** Credentials without their secrets, as pages show them. */
import type { CredentialObject } from '../auth/credential.ts'
import type { CredentialSummary } from './live-auth.ts'

/** Fields that contain no secret; all others are left out of summaries. */
const PUBLIC = [
  'scheme',
  'flow',
  'in',
  'name',
  'use',
  'provider',
  'with',
  'subject',
  'issuer',
  'openIdConnectUrl',
  'authorizationUrl',
  'tokenUrl',
  'deviceAuthorizationUrl',
  'clientId',
  'scopes',
  'audience',
  'resource',
  'authorizationApi',
  'signedUrlHosts',
  'region',
  'endpoint',
]

/** Returns the fields of a credential that may be shown. */
export function summaryOf(credential: CredentialObject & { readonly id: string }): CredentialSummary {
  const { id, type } = credential
  const fields = PUBLIC.flatMap((name) => (credential[name] === undefined ? [] : [[name, credential[name]] as const]))
  return { id, type, sendTo: patternsOf(credential), ...Object.fromEntries(fields) }
}

/** Returns the patterns of `sendTo` as a list. */
export function patternsOf({ sendTo = [] }: Pick<CredentialObject, 'sendTo'>): readonly string[] {
  return typeof sendTo === 'string' ? [sendTo] : sendTo
}
