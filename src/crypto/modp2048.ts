/** The 2048-bit MODP group for key exchanges (RFC 3526 §3): powers of 2 modulo a safe prime. */
import { hex } from './encoding.ts'

/** The prime modulus. */
export const PRIME = BigInt(
  '0xffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3cd3a431b' +
    '302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5ae9f24117c4b1fe6' +
    '49286651ece45b3dc2007cb8a163bf0598da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb9ed529077096966d' +
    '670c354e4abc9804f1746c08ca18217c32905e462e36ce3be39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf695581718' +
    '3995497cea956ae515d2261898fa051015728e5a8aacaa68ffffffffffffffff',
)

/** Order of the subgroup that the generator generates; a prime as well. */
export const ORDER = (PRIME - 1n) / 2n

export const GENERATOR = 2n

/** Length of a group element in bytes. */
export const GROUP_BYTES = 256

/** Window size of the exponentiation in bits. */
const WINDOW = 5

/**
 * Returns the power modulo the prime. JavaScript arithmetic is not constant-time, so exponents must be used once only. Node's
 * Diffie-Hellman is constant-time, but some versions refuse half of the numbers, and others take 20 times as long.
 */
export function modularPower(base: bigint, exponent: bigint): bigint {
  const powers = [1n]
  for (let index = 1; index < 2 ** WINDOW; index++) powers.push(((powers[index - 1] ?? 1n) * base) % PRIME)
  let product = 1n
  for (const digit of exponent.toString(2 ** WINDOW)) {
    for (let bit = 0; bit < WINDOW; bit++) product = (product * product) % PRIME
    product = (product * (powers[Number.parseInt(digit, 2 ** WINDOW)] ?? 1n)) % PRIME
  }
  return product
}

/** Returns the inverse modulo the order of the subgroup; the number must not be a multiple of the order. */
export function inverse(value: bigint): bigint {
  let [rest, other] = [ORDER, ((value % ORDER) + ORDER) % ORDER]
  let [factor, next] = [0n, 1n]
  while (other !== 0n) {
    const times = rest / other
    ;[rest, other] = [other, rest - times * other]
    ;[factor, next] = [next, factor - times * next]
  }
  return ((factor % ORDER) + ORDER) % ORDER
}

/** Decodes a big-endian natural number; 0 for no bytes. */
export function natural(bytes: Uint8Array): bigint {
  return BigInt(`0x0${hex(bytes)}`)
}

/** Encodes a natural number as that many big-endian bytes; it must fit. */
export function naturalBytes(value: bigint, length: number): Uint8Array {
  const digits = value.toString(16).padStart(2 * length, '0')
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16))
}
