import { hex } from './hex.ts'

/** The natural number that bytes hold, the most significant one first; 0 when there are none. */
export function natural(bytes: Uint8Array): bigint {
  return BigInt(`0x0${hex(bytes)}`)
}

/** A natural number in so many bytes, the most significant one first; it must fit. */
export function naturalBytes(value: bigint, length: number): Uint8Array {
  const digits = value.toString(16).padStart(2 * length, '0')
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16))
}
