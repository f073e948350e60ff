/** Verifies signatures as a server does, with the keys of `node:crypto` alone. */
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'

export interface Jws {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** The algorithms that these servers allow, and the keys that they need. */
const KEY_OF: Readonly<Record<string, string>> = { ES256: 'ec', EdDSA: 'ed25519', RS256: 'rsa' }

/** Header and claims of a compact JWS (RFC 7515) that nobody has verified yet; undefined when it is none. */
export function readJws(text: string): Jws | undefined {
  const parts = text.split('.')
  if (parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part))) return undefined
  try {
    const [header, claims] = parts.slice(0, 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    return { header, claims }
  } catch {
    return undefined
  }
}

/** True when the signature is of that key and the header names the algorithm of the key. */
export function isSignedBy(text: string, key: KeyObject): boolean {
  const [header = '', claims = '', signature = ''] = text.split('.')
  if (KEY_OF[String(readJws(text)?.header.alg)] !== key.asymmetricKeyType) return false
  return isSignature(`${header}.${claims}`, key, Buffer.from(signature, 'base64url'))
}

/** True for a signature over the text: ECDSA P-256, Ed25519 or RSASSA-PKCS1-v1_5, as the key is. */
export function isSignature(text: string, key: KeyObject, signature: Uint8Array): boolean {
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return verify(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, signature)
}

/** The key of a JWK; undefined for what is none, and for a private one. */
export function publicKeyOf(jwk: unknown): KeyObject | undefined {
  if (typeof jwk !== 'object' || jwk === null || 'd' in jwk) return undefined
  try {
    return createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
  } catch {
    return undefined
  }
}

/** RFC 7638 §3. */
export function thumbprintOf(key: KeyObject): string {
  const { kty, crv, x, y, e, n } = key.export({ format: 'jwk' })
  const members = kty === 'EC' ? { crv, kty, x, y } : kty === 'OKP' ? { crv, kty, x } : { e, kty, n }
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url')
}

/** Base64url of the SHA-256 of a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
