import type { Credential } from '../../../auth/credential.ts'
import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, privateKeyField } from '../scheme.ts'

/**
 * A token bound to a key, on a request signed with it (RFC 9635 §7.2, §7.3.1; RFC 9421); a token without a key is a bearer
 * token and goes out as one. Where a refusing server says that tokens are granted is told and never visited.
 */
export const gnap: HttpAuthScheme = {
  name: 'gnap',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: privateKeyField,
    keyId: { kind: 'text', label: 'Key identifier that the server knows the key by' },
  },
  about: { standard: 'RFC 9635', browsers: 'yes', steps: 'a', testedAgainst: 'in-process server' },
  check({ privateKey, keyId }: Credential) {
    if ((privateKey === undefined) !== (keyId === undefined)) {
      const missing = keyId === undefined ? 'keyId' : 'privateKey'
      return new ConfigurationError('CONFIG_INVALID', 'privateKey and keyId come together, or not at all for a bearer token', {
        pointer: `/${missing}`,
      })
    }
    if (keyId === undefined || /^[\x20-\x7e]+$/.test(String(keyId))) return undefined
    return new ConfigurationError('CONFIG_INVALID', 'keyId is printable ASCII', { pointer: '/keyId' })
  },
  authorize: loadedFlow(async () => (await import('./gnap-flow.ts')).gnapFlow),
}
