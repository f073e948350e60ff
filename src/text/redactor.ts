/**
 * Removes secrets from text of servers, which may repeat what they were sent in any encoding.
 *
 * Encoded forms are not searched for. The text is decoded in every order of the encodings, and the source of each decoded secret is
 * removed from the original. Mixed case, optional escapes, missing padding and secrets in the middle of longer encoded text are therefore
 * found too.
 */

import { bytesOfBase64, latin1Of, utf8Of, viewsOf } from './decodings.ts'

/** Longest part of a secret that may remain visible; shorter parts cannot be distinguished from other text. */
const SEEN = 3
/** Number of characters that an incomplete escape takes at most, and length of a part that is removed without them. */
const [TAKEN, LONG] = [4, 8]
const PLACEHOLDER = '[secret]'
/** Maximum number of secrets that are kept; for credentials that change constantly, the latest suffice. */
const MOST = 1000
/** Length of a text that is searched, in UTF-16 units: at most 820 decodings of it are. */
const LONGEST = 2 ** 14

/** Removes known secrets from text: complete ones, prefixes of at least four characters, and parts of at least eight near the start. */
export class Redactor {
  readonly #secrets = new Map<string, readonly Pattern[]>()

  /** Adds a secret. */
  add(secret: string): void {
    if ([...secret].length <= SEEN || this.#secrets.has(secret)) return
    this.#secrets.set(secret, patternsOf(secret))
    if (this.#secrets.size > MOST) for (const oldest of [...this.#secrets.keys()].slice(0, MOST / 2)) this.#secrets.delete(oldest)
  }

  /** Adds the value of a header without the name of its scheme, such as `Bearer`. */
  addHeader(value: string): void {
    const [, word, rest = value] = /^([A-Za-z][\w-]*) +(.+)/.exec(value) ?? []
    this.add(rest)
    if (word?.toLowerCase() === 'basic') this.#addLogin(rest)
    for (const [, quoted = ''] of rest.matchAll(/"([^"]*)"/g)) this.add(quoted)
  }

  /** Adds the secret values among the members of a body. */
  addMembers(body: unknown, names: readonly string[]): void {
    if (typeof body !== 'object' || body === null) return
    for (const name of names) {
      const value = (body as Record<string, unknown>)[name]
      if (typeof value === 'string') this.add(value)
    }
  }

  /**
   * Returns the text with `[secret]` in place of each secret, also of secrets in up to three encodings. A text of more than 16,384
   * characters is cut, because the rest is not searched. Linear in the length, whatever the text contains.
   */
  readonly scrub = (text: string): string => {
    if (this.#secrets.size === 0) return text
    const search = new Search([...this.#secrets.values()].flat())
    const searched = text.slice(0, LONGEST)
    const hidden = new Hidden(searched.length)
    for (const { bytes, starts, ends } of viewsOf(searched)) {
      search.each(withSpaces(bytes), (start, end) => hidden.add(starts[start] ?? 0, ends[end - 1] ?? 0))
    }
    return hidden.without(searched) + (searched === text ? '' : `… (${text.length - searched.length} more characters)`)
  }

  /** Adds a user name and password in base64, and the password alone (RFC 7617 §2: in UTF-8, or in a legacy encoding). */
  #addLogin(base64: string): void {
    const bytes = bytesOfBase64(base64)
    const login = textOf(bytes) ?? latin1Of(bytes)
    this.add(login)
    this.add(login.slice(login.indexOf(':') + 1))
  }

  toJSON(): string {
    return PLACEHOLDER
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return PLACEHOLDER
  }
}

/** Bytes of a secret and the minimum length of a match. */
interface Pattern {
  readonly bytes: Uint8Array
  /** Minimum length of a prefix, at least four bytes. */
  readonly head: number
}

/**
 * Returns a secret, and what is left of it without its first characters: an incomplete escape before it, such as `%` before `ab…`, takes
 * some of them.
 */
function patternsOf(secret: string): readonly Pattern[] {
  const characters = [...secret]
  return Array.from({ length: TAKEN + 1 }, (_, taken) => characters.slice(taken)).flatMap((rest, taken) => {
    const least = taken === 0 ? SEEN + 1 : LONG
    if (rest.length < least) return []
    return encodedPatterns(rest.join(''), rest.slice(0, least).join(''))
  })
}

/** Returns text in UTF-8, in UTF-8 that was read as Latin-1, as header fields once were, and written again, and in Latin-1. */
function encodedPatterns(text: string, head: string): readonly Pattern[] {
  const patternOf = (encode: (part: string) => Uint8Array): Pattern => ({ bytes: withSpaces(encode(text)), head: encode(head).length })
  if (/^[\0-\x7f]*$/.test(text)) return [patternOf(utf8Of)]
  const isLatin1 = /^[\0-\xff]*$/.test(text)
  return [
    patternOf(utf8Of),
    patternOf((part) => utf8Of(latin1Of(utf8Of(part)))),
    ...(isLatin1 ? [patternOf((part) => Uint8Array.from(part, (char) => char.charCodeAt(0)))] : []),
  ]
}

/** Returns bytes with spaces in place of `+`, as forms write them (URL standard §5.1): a secret is found with either. */
function withSpaces(bytes: Uint8Array): Uint8Array {
  const spaced = bytes.slice()
  for (let at = spaced.indexOf(0x2b); at >= 0; at = spaced.indexOf(0x2b, at)) spaced[at] = 0x20
  return spaced
}

interface Candidate {
  readonly pattern: Pattern
  borders?: Int32Array
}

/** Searches for many patterns in one pass; an index of their first four bytes selects the candidates. */
class Search {
  readonly #mayBegin = new Uint8Array(2 ** 16)
  readonly #patterns = new Map<number, Candidate[]>()

  constructor(patterns: readonly Pattern[]) {
    for (const pattern of patterns) {
      const key = keyAt(pattern.bytes, 0)
      this.#mayBegin[key] = 1
      const others = this.#patterns.get(key) ?? []
      this.#patterns.set(key, [...others, { pattern }])
    }
  }

  /** Reports every position of a pattern or of a prefix; overlapping matches of one pattern are reported too. */
  each(bytes: Uint8Array, found: (start: number, end: number) => void): void {
    /** The position up to which a pattern was followed. */
    const done = new Map<Candidate, number>()
    for (let at = 0; at < bytes.length; at++) {
      const key = keyAt(bytes, at)
      if (this.#mayBegin[key] === 0) continue
      for (const candidate of this.#patterns.get(key) ?? []) {
        if (at < (done.get(candidate) ?? 0) || !startsWith(bytes, at, candidate.pattern)) continue
        candidate.borders ??= bordersOf(candidate.pattern.bytes)
        done.set(candidate, follow(bytes, at, candidate.pattern, candidate.borders, found))
      }
    }
  }
}

function keyAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) ^ ((bytes[at + 1] ?? 0) << 3) ^ ((bytes[at + 2] ?? 0) << 6) ^ ((bytes[at + 3] ?? 0) << 9)) & 0xffff
}

function startsWith(bytes: Uint8Array, at: number, { bytes: wanted, head }: Pattern): boolean {
  for (let offset = 0; offset < head; offset++) if (bytes[at + offset] !== wanted[offset]) return false
  return true
}

/**
 * Returns the failure function of Knuth, Morris and Pratt: for each prefix, the length of its longest proper prefix that is also a suffix.
 */
function bordersOf(bytes: Uint8Array): Int32Array {
  const borders = new Int32Array(bytes.length + 1)
  for (let at = 1, length = 0; at < bytes.length; at++) {
    while (length > 0 && bytes[at] !== bytes[length]) length = borders[length] ?? 0
    if (bytes[at] === bytes[length]) length++
    borders[at + 1] = length
  }
  return borders
}

/** Follows a pattern from a match of its prefix as long as the text ends with one of its prefixes, and returns the end. */
function follow(
  bytes: Uint8Array,
  from: number,
  { bytes: wanted, head }: Pattern,
  borders: Int32Array,
  found: (start: number, end: number) => void,
): number {
  let start = from
  let end = from + head
  let length = head
  let at = end
  for (; at < bytes.length && length > 0; at++) {
    while (length > 0 && bytes[at] !== wanted[length]) length = borders[length] ?? 0
    if (bytes[at] === wanted[length]) length++
    if (length < head) continue
    const begin = at + 1 - length
    if (begin >= end) {
      found(start, end)
      start = begin
    }
    end = at + 1
  }
  found(start, end)
  return at
}

/** The parts of a text to remove. Spans may overlap: one secret may end where another starts. */
class Hidden {
  /** For each unit: 0 for none, 1 for the start of a span, 2 for the rest of a span. */
  readonly #marks: Uint8Array

  constructor(length: number) {
    this.#marks = new Uint8Array(length)
  }

  add(from: number, to: number): void {
    const first = this.#marks[from] || 1
    this.#marks.fill(2, from, to)
    this.#marks[from] = first
  }

  without(text: string): string {
    const parts: string[] = []
    const marks = this.#marks
    let done = 0
    for (let at = 0; at < marks.length; at++) {
      if (marks[at] === 0) continue
      if (marks[at] === 1) parts.push(text.slice(done, at), PLACEHOLDER)
      done = at + 1
    }
    return parts.join('') + text.slice(done)
  }
}

const DECODER = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8; undefined for invalid bytes. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return DECODER.decode(bytes)
  } catch {
    return undefined
  }
}
