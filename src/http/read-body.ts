import { keepChunk } from './keep-chunk.ts'
import { tooLarge } from './network-error.ts'

/**
 * All bytes of a decoded body.
 *
 * Errors: `RESPONSE_TOO_LARGE` as soon as there are more than `limit`; the source is closed then.
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limit: number, url: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > limit) throw tooLarge(url, `the answer exceeds ${limit} bytes`)
    keepChunk(parts, chunk, (buffer, size) => new Uint8Array(buffer, 0, size))
  }
  const [first] = parts
  return parts.length === 1 && first ? first : concatenated(parts, length)
}

/** Bytes as UTF-8 text; what is not UTF-8 becomes U+FFFD, a byte order mark is left out. */
export function utf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes)
}

const DECODER = new TextDecoder()

function concatenated(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
