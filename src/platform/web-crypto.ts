/** Hash functions of browsers and other web runtimes: SubtleCrypto, with keys imported once. */
import { hex } from '../crypto/hex.ts'
import { missing } from './missing.ts'
import type { HashName, HmacKey } from './platform.ts'

const utf8 = new TextEncoder()
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** Hex SHA-256 of a text in UTF-8. */
export async function sha256Hex(text: string): Promise<string> {
  return hex(new Uint8Array(await (await subtle()).digest('SHA-256', utf8.encode(text))))
}

/** The hash of bytes; what SubtleCrypto lacks is loaded when it is asked for. */
export async function digest(algorithm: HashName, bytes: Uint8Array): Promise<Uint8Array> {
  if (algorithm === 'MD5') return (await import('../crypto/md5.ts')).md5(bytes)
  if (algorithm === 'SHA-512-256') return (await import('../crypto/sha512-256.ts')).sha512256(bytes)
  return new Uint8Array(await (await subtle()).digest(algorithm, new Uint8Array(bytes)))
}

/** Imports an HMAC-SHA-256 key. */
export async function hmacKey(bytes: Uint8Array): Promise<HmacKey> {
  const key = await (await subtle()).importKey('raw', new Uint8Array(bytes), HMAC, false, ['sign'])
  const sign = async (text: string) => new Uint8Array(await crypto.subtle.sign(HMAC, key, utf8.encode(text)))
  return { sign, signHex: async (text) => hex(await sign(text)) }
}

/** Pages that came by plain http have none. */
async function subtle(): Promise<SubtleCrypto> {
  return crypto.subtle ?? missing('subtle')
}
