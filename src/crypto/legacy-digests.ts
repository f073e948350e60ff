/**
 * Pads a message for MD5 and SHA-2: a one bit, zeros, and the length in bits in the last eight bytes of a block.
 *
 * @param block block size in bytes, 64 or 128
 */
function padded(message: Uint8Array, block: number, littleEndian: boolean): DataView {
  const minimum = message.length + 1 + block / 8
  const bytes = new Uint8Array(Math.ceil(minimum / block) * block)
  bytes.set(message)
  bytes[message.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setBigUint64(bytes.length - 8, BigInt(message.length) * 8n, littleEndian)
  return view
}

/** Returns the MD5 hash (RFC 1321), which SubtleCrypto lacks. For legacy servers only. */
export function md5(message: Uint8Array): Uint8Array {
  const input = padded(message, 64, true)
  const state = new DataView(new ArrayBuffer(16))
  MD5_INITIAL.forEach((word, index) => {
    state.setUint32(index * 4, word, true)
  })
  for (let offset = 0; offset < input.byteLength; offset += 64) addMd5Block(state, input, offset)
  return new Uint8Array(state.buffer)
}

const MD5_INITIAL = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]

const SINES = Array.from({ length: 64 }, (_, step) => Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32))

/** RFC 1321 §3.4: the function of each round, the word used in step i, and the rotations. */
const ROUNDS: readonly Round[] = [
  { mix: (b, c, d) => (b & c) | (~b & d), word: (i) => i, shifts: [7, 12, 17, 22] },
  { mix: (b, c, d) => (d & b) | (~d & c), word: (i) => 5 * i + 1, shifts: [5, 9, 14, 20] },
  { mix: (b, c, d) => b ^ c ^ d, word: (i) => 3 * i + 5, shifts: [4, 11, 16, 23] },
  { mix: (b, c, d) => c ^ (b | ~d), word: (i) => 7 * i, shifts: [6, 10, 15, 21] },
]

interface Round {
  mix(b: number, c: number, d: number): number
  word(step: number): number
  readonly shifts: readonly number[]
}

function addMd5Block(state: DataView, input: DataView, offset: number): void {
  const before = [0, 4, 8, 12].map((at) => state.getUint32(at, true))
  let [a = 0, b = 0, c = 0, d = 0] = before
  SINES.forEach((sine, step) => {
    const { mix, word, shifts } = ROUNDS[step >> 4] as Round
    const sum = (a + mix(b, c, d) + sine + input.getUint32(offset + (word(step) % 16) * 4, true)) | 0
    const shift = shifts[step % 4] as number
    ;[a, b, c, d] = [d, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0, b, c]
  })
  ;[a, b, c, d].forEach((word, index) => {
    state.setUint32(index * 4, word + (before[index] as number), true)
  })
}

/** Returns the SHA-512/256 hash (FIPS 180-4 §6.7), which SubtleCrypto lacks: SHA-512 with other initial values, truncated to 32 bytes. */
export function sha512256(message: Uint8Array): Uint8Array {
  const input = padded(message, 128, false)
  const state = BigUint64Array.from(SHA512_256_INITIAL)
  for (let offset = 0; offset < input.byteLength; offset += 128) addSha512Block(state, input, offset)
  const output = new DataView(new ArrayBuffer(64))
  state.forEach((word, index) => {
    output.setBigUint64(index * 8, word)
  })
  return new Uint8Array(output.buffer, 0, 32)
}

/** Initial values (FIPS 180-4 §5.3.6.2). */
const SHA512_256_INITIAL = [
  0x22312194fc2bf72cn,
  0x9f555fa3c84c64c2n,
  0x2393b86b6f53b151n,
  0x963877195940eabdn,
  0x96283ee2a88effe3n,
  0xbe5e1e2553863992n,
  0x2b0199fc2c85b8aan,
  0x0eb72ddc81c52ca2n,
]

/** Round constants (FIPS 180-4 §4.2.3): the first 64 fractional bits of the cube roots of the first 80 primes. */
const CONSTANTS = BigUint64Array.from(primes(80), (prime) => cubeRoot(prime << 192n))

/** Processes one block (FIPS 180-4 §6.4.2). */
function addSha512Block(state: BigUint64Array, input: DataView, offset: number): void {
  const words = schedule(input, offset)
  let [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n, g = 0n, h = 0n] = state
  CONSTANTS.forEach((constant, step) => {
    const first = h + (rotated(e, 14n) ^ rotated(e, 18n) ^ rotated(e, 41n)) + ((e & f) ^ (~e & g)) + constant + (words[step] as bigint)
    const second = (rotated(a, 28n) ^ rotated(a, 34n) ^ rotated(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c))
    ;[a, b, c, d, e, f, g, h] = [BigInt.asUintN(64, first + second), a, b, c, BigInt.asUintN(64, d + first), e, f, g]
  })
  ;[a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] as bigint) + word
  })
}

function schedule(input: DataView, offset: number): BigUint64Array {
  const words = new BigUint64Array(80)
  const at = (index: number) => words[index] as bigint
  for (let step = 0; step < 16; step++) words[step] = input.getBigUint64(offset + step * 8)
  for (let step = 16; step < 80; step++) {
    const [old, late] = [at(step - 15), at(step - 2)]
    const mixed = (rotated(old, 1n) ^ rotated(old, 8n) ^ (old >> 7n)) + (rotated(late, 19n) ^ rotated(late, 61n) ^ (late >> 6n))
    words[step] = at(step - 16) + at(step - 7) + mixed
  }
  return words
}

function rotated(word: bigint, bits: bigint): bigint {
  return (word >> bits) | BigInt.asUintN(64, word << (64n - bits))
}

function primes(count: number): readonly bigint[] {
  const found: bigint[] = []
  for (let next = 2n; found.length < count; next++) if (found.every((prime) => next % prime !== 0n)) found.push(next)
  return found
}

/** Returns the integer cube root, rounded down, by Newton's method from above. */
function cubeRoot(value: bigint): bigint {
  let root = 1n << 90n
  for (let next = root; ; root = next) {
    next = (2n * root + value / (root * root)) / 3n
    if (next >= root) return root
  }
}
