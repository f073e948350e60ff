/** Hash functions of Node: synchronous, many times faster than SubtleCrypto for texts as short as a request. */
import { createHash, createHmac, createSecretKey, hash } from 'node:crypto'
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
