import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { tooLarge } from '../http/network-error.ts'

const MAX_CODINGS = 2

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
  const names = contentEncoding.toLowerCase().split(',')
  const codings = names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
  if (codings.length > MAX_CODINGS) throw tooLarge(url, `the answer has ${codings.length} content codings`)
  return codings.every((coding) => DECODERS.has(coding)) ? codings : []
}

/** Chunks that can be given up. */
interface Body extends AsyncIterable<Uint8Array> {
  destroy(): unknown
}

/** The bytes behind the codings. A body that was cut short throws `Z_BUF_ERROR`, it never just ends; an empty one stays empty. */
export async function* decodeBody(body: Body, codings: readonly string[]): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    const first = await chunks.next()
    if (first.done) return
    const decoders = codings.toReversed().flatMap((coding) => DECODERS.get(coding)?.() ?? [])
    // The last stream reports every error of the chain, so the callback has nothing to do.
    yield* pipeline([Readable.from(rejoined(first.value, chunks)), ...decoders], () => {}) as Transform
  } finally {
    body.destroy()
  }
}

async function* rejoined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}
