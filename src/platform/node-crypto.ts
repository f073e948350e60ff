/** Hash functions of Node: synchronous, many times faster than SubtleCrypto for texts as short as a request. */
import { createDiffieHellman, createHash, createHmac, createSecretKey, getDiffieHellman, hash } from 'node:crypto'
import { GENERATOR, GROUP_BYTES } from '../crypto/modp2048.ts'
import { natural, naturalBytes } from '../crypto/natural.ts'
import type { HashName, HmacKey } from './platform.ts'

/** Hex SHA-256 of a text in UTF-8. */
export const sha256Hex = (text: string): string => hash('sha256', text)

/** The hash of bytes. */
export const digest = (algorithm: HashName, bytes: Uint8Array): Uint8Array => createHash(OPENSSL[algorithm]).update(bytes).digest()

const OPENSSL = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const

/** Imports an HMAC-SHA-256 key. */
export function hmacKey(bytes: Uint8Array): HmacKey {
  const key = createSecretKey(bytes)
  return {
    sign: (text) => createHmac('sha256', key).update(text).digest(),
    signHex: (text) => createHmac('sha256', key).update(text).digest('hex'),
  }
}

/** A power in the group of 2048 bits, as in Diffie-Hellman: in a time that does not depend on the exponent. */
export function modularPower(base: bigint, exponent: bigint): bigint {
  const group = createDiffieHellman(getDiffieHellman('modp14').getPrime(), naturalBytes(GENERATOR, 1))
  group.setPrivateKey(naturalBytes(exponent, GROUP_BYTES))
  return natural(group.computeSecret(naturalBytes(base, GROUP_BYTES)))
}
