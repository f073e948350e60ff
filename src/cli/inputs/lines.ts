/** Splits a stream of bytes into lines, for NDJSON. */
import { DOCUMENT_LIMITS } from '../../stac/document.ts'

/** A line without its line feed. `cut` is true if it exceeds the limit; `bytes` is only its start then. */
export interface Line {
  /** From 1. */
  readonly number: number
  readonly bytes: Uint8Array
  readonly cut: boolean
}

const LINE_FEED = 0x0a

/** Yields the lines that are not blank. At most `limit` bytes of a line are kept. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, limit: number = DOCUMENT_LIMITS.other): AsyncGenerator<Line> {
  let number = 1
  let kept: Uint8Array[] = []
  let size = 0
  let cut = false
  const take = (bytes: Uint8Array) => {
    cut ||= size + bytes.length > limit
    if (cut) return
    kept.push(bytes)
    size += bytes.length
  }
  const end = (): Line => {
    const line = { number, bytes: kept.length === 1 && kept[0] ? kept[0] : Buffer.concat(kept), cut }
    kept = []
    size = 0
    cut = false
    return line
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      take(chunk.subarray(from, at))
      const line = end()
      if (!isBlank(line)) yield line
      number++
      from = at + 1
    }
    if (from < chunk.length) take(chunk.subarray(from))
  }
  const last = end()
  if (!isBlank(last)) yield last
}

function isBlank({ bytes, cut }: Line): boolean {
  return !cut && bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)
}
