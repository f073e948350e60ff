import type { Credential } from '../../../auth/credential.ts'
import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, privateKeyField } from '../scheme.ts'

/**
 * Sends a token bound to a key, on a request signed with it (RFC 9635 §7.2, §7.3.1; RFC 9421); a token without a key is sent as a
 * bearer token. The grant server that a refusal names is reported and never contacted.
 */
export const gnap: HttpAuthScheme = {
  name: 'gnap',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: privateKeyField,
    keyId: { kind: 'text', label: 'Key identifier registered with the server' },
  },
  about: { standard: 'RFC 9635', browsers: 'yes', steps: 'a', testedAgainst: 'in-process server' },
  check({ privateKey, keyId }: Credential) {
    if ((privateKey === undefined) !== (keyId === undefined)) {
      const missing = keyId === undefined ? 'keyId' : 'privateKey'
      return new ConfigurationError('CONFIG_INVALID', 'set both privateKey and keyId, or neither for a bearer token', {
        pointer: `/${missing}`,
      })
    }
    if (keyId === undefined || /^[\x20-\x7e]+$/.test(String(keyId))) return undefined
    return new ConfigurationError('CONFIG_INVALID', 'keyId must be printable ASCII', { pointer: '/keyId' })
  },
  authorize: loadedFlow(async () => (await import('./gnap-flow.ts')).gnapFlow),
}
