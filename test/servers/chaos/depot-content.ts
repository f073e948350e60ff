/** The content of files that nobody has to store: any part of any of them, the same in every run. */
import { createCipheriv, createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { beginningOf } from './file-beginning.ts'
import { seededNumber } from './seeded-number.ts'

/** No power of two and nothing near one: a part from another offset is another one. */
const RING = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16)).update(Buffer.alloc(4 * 2 ** 20 + 12_289))

/** The bytes of a file from `start` up to, not including, `end`, as views of memory that is there anyway. */
export function* piecesOf(name: string, start: number, end: number): Generator<Buffer, void> {
  const head = beginningOf(name).subarray(start, end)
  if (head.length > 0) yield head
  let at = start + head.length
  while (at < end) {
    const place = (placeOf(name) + at) % RING.length
    const piece = RING.subarray(place, Math.min(RING.length, place + end - at))
    yield piece
    at += piece.length
  }
}

/** SHA-256 of a file of that many bytes, in hex. */
export function digestOf(name: string, size: number): string {
  const hash = createHash('sha256')
  for (const piece of piecesOf(name, 0, size)) hash.update(piece)
  return hash.digest('hex')
}

/** Says how a file on the disk differs from what it should be; undefined when it does not. */
export async function differenceOf(path: string, name: string, size: number): Promise<string | undefined> {
  const file = await open(path)
  try {
    const there = (await file.stat()).size
    if (there !== size) return `${path}: ${there} bytes instead of ${size}`
    const buffer = Buffer.allocUnsafe(2 ** 20)
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
      let from = 0
      for (const piece of piecesOf(name, at, at + bytesRead)) {
        if (piece.compare(buffer, from, from + piece.length) !== 0) return `${path}: wrong bytes from ${at + from} on`
        from += piece.length
      }
      at += bytesRead
    }
    return undefined
  } finally {
    await file.close()
  }
}

function placeOf(name: string): number {
  return Math.floor(seededNumber(1, name) * RING.length)
}
