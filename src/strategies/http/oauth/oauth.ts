/** OAuth 1.0 for protected resources (RFC 5849 §3): every request is signed separately. */
import type { Credential } from '../../../auth/credential.ts'
import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, privateKeyField } from '../scheme.ts'

/** Sends `OAuth` with a signature of method, URL, query and form body; HMAC-SHA1 by default. */
export const oauth: HttpAuthScheme = {
  name: 'oauth',
  fields: {
    consumerKey: { kind: 'text-or-secret', label: 'Consumer key', required: true },
    consumerSecret: { kind: 'secret', label: 'Consumer secret (RSA-SHA1 does not use it)', required: true },
    token: { kind: 'secret', label: 'Access token; absent when the consumer acts for itself' },
    tokenSecret: { kind: 'secret', label: 'Secret of the access token' },
    signatureMethod: { kind: 'text', label: 'Signature method', values: ['HMAC-SHA1', 'HMAC-SHA256', 'RSA-SHA1', 'PLAINTEXT'] },
    privateKey: { ...privateKeyField, label: `${privateKeyField.label}, for RSA-SHA1` },
  },
  about: { standard: 'RFC 5849', browsers: 'yes', steps: 'a', testedAgainst: 'OAuthLib' },
  check({ token, tokenSecret, signatureMethod, privateKey }: Credential) {
    if (tokenSecret !== undefined && token === undefined) return misfit('tokenSecret', 'requires "token", which is missing')
    if (signatureMethod === 'RSA-SHA1' && privateKey === undefined) return misfit('privateKey', 'is missing: RSA-SHA1 requires it')
    if (signatureMethod !== 'RSA-SHA1' && privateKey !== undefined) return misfit('privateKey', 'is only for signatureMethod RSA-SHA1')
    return undefined
  },
  authorize: loadedFlow(async () => (await import('./oauth-flow.ts')).oauthFlow),
}

function misfit(field: string, why: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `${field} ${why}`, { pointer: `/${field}` })
}
