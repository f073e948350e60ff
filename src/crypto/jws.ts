/** JSON Web Signatures (RFC 7515) that clients create. */
import { base64url, fromBase64url } from './encoding.ts'
import type { PrivateKey, PublicJwk } from './private-key.ts'

const utf8 = new TextEncoder()

/** Returns a JWS in compact serialization (RFC 7515 §7.1); members keep their order. `header` contains the algorithm of the key. */
export async function compactJws(key: PrivateKey, header: object, claims: object): Promise<string> {
  const input = `${encoded(header)}.${encoded(claims)}`
  return `${input}.${base64url(await key.sign(input))}`
}

function encoded(value: object): string {
  return base64url(utf8.encode(JSON.stringify(value)))
}

/** Converts an ECDSA signature of RFC 7518 §3.4, r and s of equal length, to the `ECDSA-Sig-Value` of RFC 3279 §2.2.3 that TLS uses. */
export function ecdsaDer(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  return sequence([signature.subarray(0, half), signature.subarray(half)])
}

/** Encodes an RSA public key as `RSAPublicKey` (RFC 8017 §A.1.1). */
export function rsaPublicKey({ n = '', e = '' }: PublicJwk): Uint8Array {
  return sequence([fromBase64url(n) ?? new Uint8Array(), fromBase64url(e) ?? new Uint8Array()])
}

function sequence(numbers: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(tagged(0x30, numbers.flatMap(integer)))
}

/** Encodes an integer without leading zeros, but with one where the first bit would be read as a sign. */
function integer(bytes: Uint8Array): readonly number[] {
  const start = bytes.findIndex((byte) => byte !== 0)
  const digits = start < 0 ? [0] : [...bytes.subarray(start)]
  return tagged(0x02, (digits[0] ?? 0) > 0x7f ? [0, ...digits] : digits)
}

/** Encodes a length; from 128 on, in the long form. */
function tagged(tag: number, content: readonly number[]): readonly number[] {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return [tag, ...size, ...content]
}

/** Returns the uncompressed point of an elliptic curve key (SEC 1 §2.3.3): 04, x, y. */
export function uncompressedPoint({ x = '', y = '' }: PublicJwk): Uint8Array {
  return Uint8Array.of(4, ...(fromBase64url(x) ?? []), ...(fromBase64url(y) ?? []))
}
