/** Names that stand twice in one object. `JSON.parse` keeps the last one and says nothing. */
import { pointer } from '../stac/json.ts'
import { scan } from '../stac/json-scan.ts'

/** A repeated name; `pointer` is that of its value. */
export interface DuplicateKey {
  readonly pointer: string
  readonly name: string
}

/**
 * True when the JSON text holds a name twice. Each of the `members` members and `strings` string values of the parsed document has come
 * from two quotes; a name that was overwritten leaves more.
 */
export function hasDuplicateKeys(text: string, members: number, strings: number): boolean {
  return quotesIn(text) - escapedQuotesIn(text) !== 2 * (members + strings)
}

/** Every name that is repeated, once each. The text must be JSON. */
export function duplicateKeys(text: string): readonly DuplicateKey[] {
  const seen: Set<string>[] = []
  const found = new Map<string, DuplicateKey>()
  let before = 0
  scan(text, {
    member(path) {
      const depth = path.length
      if (depth > before) seen[depth] = new Set()
      before = depth
      const name = String(path[depth - 1])
      const names = (seen[depth] ??= new Set())
      if (names.has(name)) found.set(pointer('', ...path), { pointer: pointer('', ...path), name })
      names.add(name)
    },
    value(path) {
      before = Math.min(before, path.length)
    },
  })
  return [...found.values()]
}

/** Room for 64 KiB of UTF-8, in which a quote is always one byte; overwritten by each call. */
const bytes = new Uint8Array(0x10000)
/** The same bytes by four. */
const words = new Uint32Array(bytes.buffer)
const encoder = new TextEncoder()

/** Number of quotes in a text. A search for each of them takes three times as long. */
function quotesIn(text: string): number {
  let quotes = 0
  for (let rest = text; ; ) {
    const { read, written } = encoder.encodeInto(rest, bytes)
    const count = (written + 3) >> 2
    bytes.fill(0, written, count * 4)
    quotes += quotesInWords(count)
    if (read >= rest.length) return quotes
    rest = rest.slice(read)
  }
}

/** Counts in the four bytes of a word at once: each keeps a count of its own, and is emptied before it overflows. */
function quotesInWords(count: number): number {
  let quotes = 0
  for (let index = 0; index < count; ) {
    let lanes = 0
    for (const end = Math.min(count, index + 255); index < end; index++) {
      const difference = (words[index] as number) ^ 0x22222222
      // The highest bit of each byte that is zero, and of no other.
      const zeros = ~(((difference & 0x7f7f7f7f) + 0x7f7f7f7f) | difference) & 0x80808080
      lanes = (lanes + (zeros >>> 7)) | 0
    }
    quotes += (lanes & 255) + ((lanes >>> 8) & 255) + ((lanes >>> 16) & 255) + (lanes >>> 24)
  }
  return quotes
}

function escapedQuotesIn(text: string): number {
  if (!text.includes('\\')) return 0
  let quotes = 0
  for (const [escaped] of text.matchAll(/\\./g)) if (escaped === '\\"') quotes++
  return quotes
}
