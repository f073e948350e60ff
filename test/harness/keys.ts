/** Keys made for one run, in the forms in which people keep them. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'

export interface TestKey {
  readonly publicKey: KeyObject
  /** PEM PKCS #8, with its line breaks. */
  readonly pem: string
  readonly jwk: string
}

export const testKey = {
  p256: () => forms(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  p384: () => forms(generateKeyPairSync('ec', { namedCurve: 'P-384' })),
  ed25519: () => forms(generateKeyPairSync('ed25519')),
  rsa: (modulusLength = 2048) => forms(generateKeyPairSync('rsa', { modulusLength })),
} as const

function forms({ publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }): TestKey {
  return {
    publicKey,
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    jwk: JSON.stringify(privateKey.export({ format: 'jwk' })),
  }
}
