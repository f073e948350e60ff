/** An ECDSA signature as RFC 7518 §3.4 has it, r and s of equal length, as the `ECDSA-Sig-Value` of RFC 3279 §2.2.3 that TLS uses. */
export function ecdsaDer(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  const numbers = [...integer(signature.subarray(0, half)), ...integer(signature.subarray(half))]
  return Uint8Array.of(0x30, numbers.length, ...numbers)
}

/** Without leading zeros, but with one where the first bit would be a sign. */
function integer(bytes: Uint8Array): readonly number[] {
  const start = bytes.findIndex((byte) => byte !== 0)
  const digits = start < 0 ? [0] : [...bytes.subarray(start)]
  const signed = (digits[0] ?? 0) > 0x7f ? [0, ...digits] : digits
  return [0x02, signed.length, ...signed]
}
