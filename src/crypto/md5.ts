import { padded } from './padded.ts'

/** MD5 (RFC 1321), for old servers only: SubtleCrypto does not have it. */
export function md5(message: Uint8Array): Uint8Array {
  const input = padded(message, 64, true)
  const state = new DataView(new ArrayBuffer(16))
  INITIAL.forEach((word, index) => {
    state.setUint32(index * 4, word, true)
  })
  for (let offset = 0; offset < input.byteLength; offset += 64) addBlock(state, input, offset)
  return new Uint8Array(state.buffer)
}

const INITIAL = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
const SINES = Array.from({ length: 64 }, (_, step) => Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32))

/** §3.4: how each of the four rounds mixes, which word of the block it takes at step i, and how far it rotates. */
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

function addBlock(state: DataView, input: DataView, offset: number): void {
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
