import { describe, expect, it } from 'vitest'
import { keepChunk } from '../../src/http/message.ts'

const view = (buffer: ArrayBufferLike, length: number) => new Uint8Array(buffer, 0, length)
const kept = (sizes: readonly number[]) => {
  const chunks: Uint8Array[] = []
  const all: number[] = []
  for (const size of sizes) {
    const chunk = Uint8Array.from({ length: size }, (_, index) => (all.length + index * 7) % 251)
    all.push(...chunk)
    keepChunk(chunks, chunk, view)
  }
  return { chunks, all, bytes: chunks.flatMap((chunk) => [...chunk]) }
}

describe('chunks that are kept', () => {
  it.each([
    ['one', [5]],
    ['large ones', [2000, 1024, 70_000]],
    ['small ones', Array.from({ length: 40 }, () => 1000)],
    ['a large one between', [3, 4, 5000, 6, 7]],
    ['more than a block', Array.from({ length: 20_000 }, () => 1)],
    ['empty ones', [0, 3, 0, 2000, 0, 1]],
  ])('chunks that are kept have their bytes in their order: %s', (_, sizes) => {
    const { all, bytes } = kept(sizes)
    expect(bytes).toEqual(all)
  })

  it('chunks that are kept are few, however small they come, and hold little more than their bytes', () => {
    const { chunks } = kept(Array.from({ length: 20_000 }, () => 1))
    expect(chunks).toHaveLength(2)
    const mixed = kept(Array.from({ length: 300 }, (_, index) => (index % 3 ? 1 : 1024)))
    const held = new Set(mixed.chunks.map(({ buffer }) => buffer))
    expect([...held].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(1.2 * mixed.all.length)
  })

  it('chunks that are kept are not written to once they are returned', () => {
    const chunks: Uint8Array[] = []
    for (const byte of [1, 2]) keepChunk(chunks, Uint8Array.of(byte), view)
    const taken = chunks.shift()
    for (const byte of [3, 4]) keepChunk(chunks, Uint8Array.of(byte), view)
    expect([taken, ...chunks]).toEqual([Uint8Array.of(1, 2), Uint8Array.of(3, 4)])
  })
})
