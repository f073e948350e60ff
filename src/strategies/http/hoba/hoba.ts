import type { Credential } from '../../../auth/credential.ts'
import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, privateKeyField } from '../scheme.ts'

const BASE64URL = /^[A-Za-z0-9_-]+$/

/** Signs the server's challenge with a key that is registered there (RFC 7486 §2, §3); a challenge is used until its `max-age`. */
export const hoba: HttpAuthScheme = {
  name: 'hoba',
  fields: {
    privateKey: { ...privateKeyField, required: true },
    keyId: { kind: 'text', label: 'Key identifier of the registration, in base64url', required: true },
  },
  about: { standard: 'RFC 7486', browsers: 'if exposed', steps: 'h, a', testedAgainst: 'in-process server' },
  check({ keyId }: Credential) {
    if (BASE64URL.test(String(keyId))) return undefined
    return new ConfigurationError('CONFIG_INVALID', 'keyId must be base64url', { pointer: '/keyId' })
  },
  authorize: loadedFlow(async () => (await import('./hoba-flow.ts')).hobaFlow),
}
