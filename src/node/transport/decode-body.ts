import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { tooLarge } from '../../http/network-error.ts'

const MAX_CODINGS = 2

/** Bytes that a body may unpack to, however few it came in. */
const HARMLESS = 64 * 2 ** 20

/** Bytes for each that came: deflate makes no more of one (zlib Technical Details, "Maximum Compression Factor"). */
const DENSEST = 1032

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/**
 * The content codings (RFC 9110 §8.4) to take off, in the order in which they were applied; none when one of them is unknown.
 *
 * Errors: `RESPONSE_TOO_LARGE` for more than two, which only a bomb needs.
 */
export function codingsOf(contentEncoding: string, url: string): readonly string[] {
  const codings = codingsIn(contentEncoding)
  if (codings.length > MAX_CODINGS) throw tooLarge(url, `the response has ${codings.length} content codings`)
  return codings.every((coding) => DECODERS.has(coding)) ? codings : []
}

/** A content coding that nobody here can take off, so that a body is as it came; undefined where there is none. */
export function unknownCoding(contentEncoding: string | null): string | undefined {
  return codingsIn(contentEncoding ?? '').find((coding) => !DECODERS.has(coding))
}

/** Chunks that can be given up. */
interface Body extends AsyncIterable<Uint8Array> {
  destroy(): unknown
}

/**
 * The bytes behind the codings. A body that was cut short throws `Z_BUF_ERROR`, it never just ends; an empty one stays empty.
 *
 * Errors: also `RESPONSE_TOO_LARGE` for far more bytes than came, whoever reads them: only a bomb is packed like that.
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
    // The last stream reports every error of the chain, so the callback has nothing to do.
    for await (const chunk of pipeline([Readable.from(coded), ...decoders], () => {}) as Transform) {
      unpacked += chunk.length
      if (unpacked > HARMLESS && unpacked > came * DENSEST) throw tooLarge(url, `${came} bytes decode to ${unpacked} or more`)
      yield chunk
    }
  } finally {
    body.destroy()
  }
}

/** Tells of every chunk how long it is. */
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
