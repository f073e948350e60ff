/** Numbers as DER has them (X.690 §8.1.3, §8.3). */
import { fromBase64url } from './base64url.ts'
import type { PublicJwk } from './private-key.ts'

/** An ECDSA signature as RFC 7518 §3.4 has it, r and s of equal length, as the `ECDSA-Sig-Value` of RFC 3279 §2.2.3 that TLS uses. */
export function ecdsaDer(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  return sequence([signature.subarray(0, half), signature.subarray(half)])
}

/** An RSA public key as `RSAPublicKey` (RFC 8017 §A.1.1). */
export function rsaPublicKey({ n = '', e = '' }: PublicJwk): Uint8Array {
  return sequence([fromBase64url(n) ?? new Uint8Array(), fromBase64url(e) ?? new Uint8Array()])
}

function sequence(numbers: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(tagged(0x30, numbers.flatMap(integer)))
}

/** Without leading zeros, but with one where the first bit would be a sign. */
function integer(bytes: Uint8Array): readonly number[] {
  const start = bytes.findIndex((byte) => byte !== 0)
  const digits = start < 0 ? [0] : [...bytes.subarray(start)]
  return tagged(0x02, (digits[0] ?? 0) > 0x7f ? [0, ...digits] : digits)
}

/** Lengths from 128 on say in how many bytes they are written. */
function tagged(tag: number, content: readonly number[]): readonly number[] {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return [tag, ...size, ...content]
}
