/** Compares in a time that depends on the lengths only. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0)
  return difference === 0
}
