import { createHash, type Hash } from 'node:crypto'

/** A hash that is known beforehand. */
export interface KnownHash {
  /** As `createHash` calls it. */
  readonly algorithm: string
  /** Lower-case hex; may be shorter than what the algorithm gives, then its beginning counts. */
  readonly digest: string
}

/** The functions of the table of multicodecs that Node has. */
const ALGORITHMS: Readonly<Record<number, string>> = {
  17: 'sha1',
  18: 'sha256',
  19: 'sha512',
  20: 'sha3-512',
  21: 'sha3-384',
  22: 'sha3-256',
  23: 'sha3-224',
  32: 'sha384',
  213: 'md5',
  4115: 'sha224',
  4116: 'sha512-224',
  4117: 'sha512-256',
  45632: 'blake2b512',
  45664: 'blake2s256',
}

/** Fewer bytes prove nothing. */
const SHORTEST = 8

/** Reads a multihash in hex, as `file:checksum` has it; undefined for one that cannot be computed here or is none. */
export function parseMultihash(text: string): KnownHash | undefined {
  if (!/^(?:[0-9a-f]{2}){4,200}$/i.test(text)) return undefined
  const bytes = Buffer.from(text, 'hex')
  const [code, afterCode] = varint(bytes, 0)
  const [length, start] = varint(bytes, afterCode)
  const algorithm = ALGORITHMS[code]
  if (algorithm === undefined || length < SHORTEST || bytes.length - start !== length) return undefined
  const hash = hashOf(algorithm)
  if (!hash || hash.digest().length < length) return undefined
  return { algorithm, digest: bytes.subarray(start).toString('hex') }
}

/** Undefined where this build of Node does not have it. */
function hashOf(algorithm: string): Hash | undefined {
  try {
    return createHash(algorithm)
  } catch {
    return undefined
  }
}

/** Seven bits in each byte, the lowest first; the number and where it ends. */
function varint(bytes: Uint8Array, start: number): readonly [number: number, end: number] {
  let value = 0
  let at = start
  for (let factor = 1; at < bytes.length; factor *= 128) {
    const byte = bytes[at++] ?? 0
    value += (byte & 0x7f) * factor
    if (byte < 0x80) break
  }
  return [value, at]
}
