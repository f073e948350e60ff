/** Hash functions of Node: synchronous, many times faster than SubtleCrypto for texts as short as a request. */
import { createHmac, createSecretKey, hash } from 'node:crypto'
import type { HmacKey } from './platform.ts'

/** Hex SHA-256 of a text in UTF-8. */
export const sha256Hex = (text: string): string => hash('sha256', text)

/** Imports an HMAC-SHA-256 key. */
export function hmacKey(bytes: Uint8Array): HmacKey {
  const key = createSecretKey(bytes)
  return {
    sign: (text) => createHmac('sha256', key).update(text).digest(),
    signHex: (text) => createHmac('sha256', key).update(text).digest('hex'),
  }
}
