/** The beginning of a stream, looked at without taking it away. */
import { scan } from '../../stac/json-scan.ts'
import { DOCUMENT_LIMITS } from '../../stac/limits.ts'

/** What a stream begins with, and all of it from the beginning. */
export interface Head {
  readonly bytes: Uint8Array
  readonly chunks: AsyncIterable<Uint8Array>
  /** True when there is nothing behind `bytes`. */
  readonly ended: boolean
  /** Lets go of what is not going to be read. */
  close(): Promise<unknown>
}

/** Reads until `isEnough` of what is there, the end, or the size of a document. */
export async function headOf(chunks: AsyncIterable<Uint8Array>, isEnough: (bytes: Uint8Array) => boolean): Promise<Head> {
  const rest = chunks[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let size = 0
  let ended = false
  // Looked at each time the size has doubled, so that a long first line costs no more than twice its length.
  for (let next = 1; !ended && size <= DOCUMENT_LIMITS.other; ) {
    const { done = false, value } = await rest.next()
    ended = done
    if (done) break
    read.push(value)
    size += value.length
    if (size < next) continue
    if (isEnough(joined(read))) break
    next = size * 2
  }
  return { bytes: joined(read), chunks: again(read, rest), ended, close: async () => rest.return?.() }
}

/** Most inputs come in one piece, which is not copied. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts)
}

async function* again(read: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = read.shift(); chunk; chunk = read.shift()) yield chunk
    yield* { [Symbol.asyncIterator]: () => rest }
  } finally {
    await rest.return?.()
  }
}

const LINE_FEED = 0x0a

/** True when there are two lines to judge by. */
export function holdsTwoLines(bytes: Uint8Array): boolean {
  const [, second] = firstLines(bytes)
  return second !== undefined
}

/**
 * True for a document on each line: the first line is JSON by itself, or it is broken and the second one is an object. A
 * first line that only lacks its end belongs to a document of several lines.
 */
export function isNdjson({ bytes, ended }: Pick<Head, 'bytes' | 'ended'>): boolean {
  // One line, however long, need not be decoded to see that.
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0 || end === bytes.length - 1) return false
  const [first, second] = firstLines(bytes, ended)
  if (first === undefined || second === undefined) return false
  const wrong = scan(first)
  if (wrong === undefined) return true
  return wrong < first.trimEnd().length && second.trimStart().startsWith('{') && scan(second) === undefined
}

/** The first two lines that are not blank, the second only when all of it is there. */
function firstLines(bytes: Uint8Array, ended = false): readonly string[] {
  const lines: string[] = []
  for (let from = 0; from < bytes.length && lines.length < 2; ) {
    const at = bytes.indexOf(LINE_FEED, from)
    if (at < 0 && !ended) break
    const line = new TextDecoder().decode(bytes.subarray(from, at < 0 ? bytes.length : at))
    if (line.trim() !== '') lines.push(line)
    from = at < 0 ? bytes.length : at + 1
  }
  return lines
}
