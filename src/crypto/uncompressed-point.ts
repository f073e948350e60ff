import { fromBase64url } from './base64url.ts'
import type { PublicJwk } from './private-key.ts'

/** The uncompressed point of an elliptic curve key (SEC 1 §2.3.3): 04, x, y. */
export function uncompressedPoint({ x = '', y = '' }: PublicJwk): Uint8Array {
  return Uint8Array.of(4, ...(fromBase64url(x) ?? []), ...(fromBase64url(y) ?? []))
}
