/** Hash functions of browsers and other web runtimes: SubtleCrypto, with keys imported once. */
import type { HmacKey } from './platform.ts'

const utf8 = new TextEncoder()
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** Hex SHA-256 of a text in UTF-8. */
export async function sha256Hex(text: string): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8.encode(text))))
}

/** Imports an HMAC-SHA-256 key. */
export async function hmacKey(bytes: Uint8Array): Promise<HmacKey> {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(bytes), HMAC, false, ['sign'])
  const sign = async (text: string) => new Uint8Array(await crypto.subtle.sign(HMAC, key, utf8.encode(text)))
  return { sign, signHex: async (text) => hex(await sign(text)) }
}

function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}
