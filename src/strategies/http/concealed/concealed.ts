import type { Credential } from '../../../auth/credential.ts'
import { ConfigurationError } from '../../../errors.ts'
import { type HttpAuthScheme, loadedFlow, privateKeyField, withoutConnections } from '../scheme.ts'

const MAX_TEXT = 1024

/**
 * Signs keying material exported from the TLS connection (RFC 9729), valid on that connection only. Servers send no challenge, and a
 * server that does not know the key responds as if the target did not exist, often with 404.
 */
export const concealed: HttpAuthScheme = {
  name: 'concealed',
  fields: {
    privateKey: { ...privateKeyField, required: true },
    keyId: { kind: 'text', label: 'Key identifier registered with the server', required: true },
    realm: { kind: 'text', label: 'Realm that the server expects' },
  },
  about: { standard: 'RFC 9729', browsers: 'never', steps: 'a', testedAgainst: 'in-process server' },
  check,
  unsupported: () => withoutConnections('Concealed', 'use a program outside the browser'),
  authorize: loadedFlow(async () => (await import('./concealed-flow.ts')).concealedFlow),
}

function check({ keyId, realm = '' }: Credential): ConfigurationError | undefined {
  if (String(keyId).length > MAX_TEXT) return new ConfigurationError('CONFIG_INVALID', 'keyId is too long', { pointer: '/keyId' })
  if (/^[\x20-\x7e]*$/.test(String(realm)) && String(realm).length <= MAX_TEXT) return undefined
  return new ConfigurationError('CONFIG_INVALID', 'realm is printable ASCII', { pointer: '/realm' })
}
