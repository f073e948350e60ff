import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { tooLarge } from '../../http/network-error.ts'

const MAX_CODINGS = 2

/** Bytes to which any body may be decoded, regardless of its encoded size. */
const HARMLESS = 64 * 2 ** 20

/** Maximum expansion ratio: deflate reaches no more (zlib Technical Details, "Maximum Compression Factor"). */
const DENSEST = 1032

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/**
 * Returns the content codings (RFC 9110 §8.4) to remove, in the order in which they were applied; none when one of them is unsupported.
 *
 * Errors: `RESPONSE_TOO_LARGE` for more than two.
 */
export function codingsOf(contentEncoding: string, url: string): readonly string[] {
  const codings = codingsIn(contentEncoding)
  if (codings.length > MAX_CODINGS)
    throw tooLarge(url, `the response cannot be decoded: it has ${codings.length} content codings, the limit is 2`)
  return codings.every((coding) => DECODERS.has(coding)) ? codings : []
}

/** Returns an unsupported content coding, with which a body stays encoded; undefined when there is none. */
export function unknownCoding(contentEncoding: string | null): string | undefined {
  return codingsIn(contentEncoding ?? '').find((coding) => !DECODERS.has(coding))
}

/** Chunks that can be discarded. */
interface Body extends AsyncIterable<Uint8Array> {
  destroy(): unknown
}

/**
 * Decodes the body. A truncated body throws `Z_BUF_ERROR`; an empty one stays empty.
 *
 * Errors: also `RESPONSE_TOO_LARGE` for a decompression bomb, even when the body is streamed.
 */
export async function* decodeBody(body: Body, codings: readonly string[], url: string): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  let [came, unpacked] = [0, 0]
  try {
    const first = await chunks.next()
    if (first.done) return
    const decoders = codings.toReversed().flatMap((coding) => DECODERS.get(coding)?.() ?? [])
    const coded = rejoined(first.value, chunks, (bytes) => {
      came += bytes
    })
    // The last stream reports all errors of the pipeline, so the callback is empty.
    for await (const chunk of pipeline([Readable.from(coded), ...decoders], () => {}) as Transform) {
      unpacked += chunk.length
      if (unpacked > HARMLESS && unpacked > came * DENSEST) throw tooLarge(url, `${came} bytes decode to ${unpacked} or more`)
      yield chunk
    }
  } finally {
    body.destroy()
  }
}

/** Reports the length of each chunk. */
async function* rejoined(first: Uint8Array, rest: AsyncIterator<Uint8Array>, came: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  came(first.length)
  yield first
  for await (const chunk of { [Symbol.asyncIterator]: () => rest }) {
    came(chunk.length)
    yield chunk
  }
}

function codingsIn(contentEncoding: string): readonly string[] {
  const names = contentEncoding.toLowerCase().split(',')
  return names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
}
