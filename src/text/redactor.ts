/**
 * Removes secrets from text of servers, which may repeat what they were sent in any encoding.
 *
 * Encoded forms are not searched for. The text is decoded in every applicable way and order, and the source of each decoded secret is
 * removed from the original. Mixed case, optional escapes, missing padding and secrets in the middle of longer encoded text are therefore
 * found too.
 */

/** Longest part of a secret that may remain visible; shorter parts cannot be distinguished from other text. */
const SEEN = 3
const PLACEHOLDER = '[secret]'
/** Maximum number of secrets that are kept; for credentials that change constantly, the latest suffice. */
const MOST = 1000
/** Maximum depth of nested encodings, and maximum number of decodings of one text. */
const [DEEPEST, MOST_VIEWS] = [3, 12]

/** Removes known secrets from text: complete ones, and prefixes of at least four characters. */
export class Redactor {
  readonly #secrets = new Map<string, Needle>()

  /** Adds a secret. */
  add(secret: string): void {
    if ([...secret].length <= SEEN || this.#secrets.has(secret)) return
    this.#secrets.set(secret, needleOf(secret))
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

  /** Returns the text with `[secret]` in place of each secret; linear in its length, whatever it contains. */
  readonly scrub = (text: string): string => {
    if (this.#secrets.size === 0) return text
    const needles = [...this.#secrets.values()]
    const [texts, bytes] = [new Search(needles.flatMap(({ texts }) => texts)), new Search(needles.flatMap(({ bytes }) => bytes))]
    const hidden = new Hidden(text.length)
    for (const view of viewsOf(text)) {
      texts.each(view.units, (start, end) => hidden.add(fromOf(view, start), toOf(view, end - 1)))
      for (const coding of [BASE64, HEX]) searchDigits(view, coding, bytes, hidden)
    }
    return hidden.without(text)
  }

  /** Returns a user name and password in base64, and the password alone (RFC 7617 §2: in UTF-8, or in a legacy encoding). */
  #addLogin(base64: string): void {
    const digits = Uint8Array.from(base64.replaceAll('=', ''), (digit) => BASE64.values[digit.charCodeAt(0)] ?? NONE)
    const bytes = Uint8Array.from(packed(digits, 0, BASE64.bits))
    const login = textOf(bytes) ?? latin1(bytes)
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

/** A pattern and the minimum length of a match. */
interface Pattern {
  readonly units: Uint16Array
  /** Minimum length of a prefix, at least four units. */
  readonly head: number
}

/** A secret as text, and as bytes, each as a character up to U+00FF. */
interface Needle {
  readonly texts: readonly Pattern[]
  readonly bytes: readonly Pattern[]
}

/** A decoding of the text. */
interface View {
  readonly text: string
  readonly units: Uint16Array
  /** Start of each character in the original; absent for the original itself. */
  readonly starts?: Int32Array
  /** Length of the original in units. */
  readonly length: number
}

function fromOf({ starts, length }: View, at: number): number {
  return starts ? (starts[at] ?? length) : at
}

/** Returns the position in the original after a character. */
function toOf({ starts, length }: View, at: number): number {
  return starts ? (starts[at + 1] ?? length) : at + 1
}

function needleOf(secret: string): Needle {
  const headOf = (text: string) => [...text].slice(0, SEEN + 1).join('')
  const inUtf8 = utf8(secret)
  const asText: Pattern = { units: unitsOf(secret), head: headOf(secret).length }
  const asBytes: Pattern = { units: unitsOf(inUtf8), head: utf8(headOf(secret)).length }
  if (inUtf8 === secret) return { texts: [asText], bytes: [asText] }
  // Some servers read UTF-8 bytes as Latin-1 characters, as header fields once were, and some write Latin-1.
  const twice: Pattern = { units: unitsOf(utf8(inUtf8)), head: utf8(headOf(inUtf8)).length }
  return { texts: [asText, asBytes], bytes: [asBytes, twice, asText] }
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at)
  return units
}

interface Candidate {
  readonly pattern: Pattern
  borders?: Int32Array
}

/** Searches for many patterns in one pass; an index of their first four units selects the candidates. */
class Search {
  readonly #mayBegin = new Uint8Array(2 ** 16)
  readonly #patterns = new Map<number, Candidate[]>()

  constructor(patterns: readonly Pattern[]) {
    for (const pattern of patterns) {
      const key = keyAt(pattern.units, 0)
      this.#mayBegin[key] = 1
      const others = this.#patterns.get(key) ?? []
      this.#patterns.set(key, [...others, { pattern }])
    }
  }

  /** Reports every position of a pattern or of a prefix; overlapping matches of one pattern are reported too. */
  each(units: Uint16Array, found: (start: number, end: number) => void): void {
    /** The position up to which a pattern was followed. */
    const done = new Map<Candidate, number>()
    for (let at = 0; at < units.length; at++) {
      const key = keyAt(units, at)
      if (this.#mayBegin[key] === 0) continue
      for (const candidate of this.#patterns.get(key) ?? []) {
        if (at < (done.get(candidate) ?? 0) || !startsWith(units, at, candidate.pattern)) continue
        candidate.borders ??= bordersOf(candidate.pattern.units)
        done.set(candidate, follow(units, at, candidate.pattern, candidate.borders, found))
      }
    }
  }
}

function keyAt(units: Uint16Array, at: number): number {
  return ((units[at] ?? 0) ^ ((units[at + 1] ?? 0) << 3) ^ ((units[at + 2] ?? 0) << 6) ^ ((units[at + 3] ?? 0) << 9)) & 0xffff
}

function startsWith(units: Uint16Array, at: number, { units: wanted, head }: Pattern): boolean {
  for (let offset = 0; offset < head; offset++) if (units[at + offset] !== wanted[offset]) return false
  return true
}

/**
 * Returns the failure function of Knuth, Morris and Pratt: for each prefix, the length of its longest proper prefix that is also a suffix.
 */
function bordersOf(units: Uint16Array): Int32Array {
  const borders = new Int32Array(units.length + 1)
  for (let at = 1, length = 0; at < units.length; at++) {
    while (length > 0 && units[at] !== units[length]) length = borders[length] ?? 0
    if (units[at] === units[length]) length++
    borders[at + 1] = length
  }
  return borders
}

/** Follows a pattern from a match of its prefix as long as the text ends with one of its prefixes, and returns the end. */
function follow(
  units: Uint16Array,
  from: number,
  { units: wanted, head }: Pattern,
  borders: Int32Array,
  found: (start: number, end: number) => void,
): number {
  let start = from
  let end = from + head
  let length = head
  let at = end
  for (; at < units.length && length > 0; at++) {
    while (length > 0 && units[at] !== wanted[length]) length = borders[length] ?? 0
    if (units[at] === wanted[length]) length++
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

/** Decodes every run of an encoding's digits, from each offset at which a byte can start. */
function searchDigits(view: View, coding: Coding, search: Search, hidden: Hidden): void {
  const { units } = view
  const digits = new Uint8Array(units.length)
  const places = new Int32Array(units.length)
  let count = 0
  const look = () => {
    if (count >= coding.least) searchRun(view, digits.subarray(0, count), places, coding, search, hidden)
    count = 0
  }
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] ?? 0
    const value = coding.values[unit] ?? NONE
    if (value === NONE) {
      // Lines may end between two digits.
      const isWithin = (unit === 10 || unit === 13) && at - (places[count - 1] ?? 0) <= 2
      if (!isWithin) look()
      continue
    }
    digits[count] = value
    places[count++] = at
  }
  look()
}

function searchRun(view: View, digits: Uint8Array, places: Int32Array, coding: Coding, search: Search, hidden: Hidden): void {
  for (let skipped = 0; skipped < coding.digitsPerGroup; skipped++) {
    const bytes = packed(digits, skipped, coding.bits)
    search.each(bytes, (start, end) => {
      const first = skipped + Math.floor((start * 8) / coding.bits)
      // Digits after the last whole byte belong to the next byte of the secret.
      const last = end === bytes.length ? digits.length - 1 : skipped + Math.ceil((end * 8) / coding.bits) - 1
      hidden.add(fromOf(view, places[first] ?? 0), toOf(view, places[last] ?? 0))
    })
  }
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

/** An encoding of bytes as digits. */
interface Coding {
  /** Number of digits of the shortest run that can contain four bytes of a secret. */
  readonly least: number
  readonly bits: 4 | 6
  /** Number of digits after which a byte starts again. */
  readonly digitsPerGroup: 2 | 4
  /** Values of digits by character code. */
  readonly values: Uint8Array
}

const NONE = 255

/** Base64 in both alphabets (RFC 4648 §4 and §5), also in lines (RFC 2045 §6.8). */
const BASE64: Coding = {
  least: 6,
  bits: 6,
  digitsPerGroup: 4,
  values: valuesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', [
    ['-', 62],
    ['_', 63],
  ]),
}

const HEX: Coding = {
  least: 8,
  bits: 4,
  digitsPerGroup: 2,
  values: valuesOf(
    '0123456789abcdef',
    [...'ABCDEF'].map((digit, index) => [digit, 10 + index]),
  ),
}

function valuesOf(digits: string, others: readonly (readonly [string, number])[]): Uint8Array {
  const values = new Uint8Array(128).fill(NONE)
  for (const [digit, value] of [...[...digits].map((digit, index) => [digit, index] as const), ...others])
    values[digit.charCodeAt(0)] = value
  return values
}

/** Decodes whole bytes only, each to one unit. */
function packed(digits: Uint8Array, from: number, bits: Coding['bits']): Uint16Array {
  const bytes = new Uint16Array(Math.floor(((digits.length - from) * bits) / 8))
  let held = 0
  let count = 0
  let length = 0
  for (let at = from; length < bytes.length; at++) {
    held = ((held << bits) | (digits[at] ?? 0)) & 0xffff
    count += bits
    if (count < 8) continue
    count -= 8
    bytes[length++] = (held >> count) & 0xff
  }
  return bytes
}

/** Yields the text, its decodings, and their decodings. */
function viewsOf(text: string): readonly View[] {
  let level: readonly View[] = [{ text, units: unitsOf(text), length: text.length }]
  const views = [...level]
  const seen = new Set([text])
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next: View[] = []
    for (const view of level)
      for (const decoding of DECODINGS) {
        const decoded = decodedView(view, decoding)
        if (!decoded || seen.has(decoded.text) || seen.size >= MOST_VIEWS) continue
        seen.add(decoded.text)
        next.push(decoded)
      }
    views.push(...next)
    level = next
  }
  return views
}

/** Decoded text; `length` is that of its part of the escape sequence, if another part follows. */
interface Piece {
  readonly text: string
  readonly length?: number
}

/** An escape sequence and its decoded text. */
interface Decoding {
  readonly escape: RegExp
  readonly decode: (escaped: string) => Iterable<Piece>
}

/** Returns undefined when the text contains no such escape. */
function decodedView(view: View, { escape: escapes, decode }: Decoding): View | undefined {
  const { text, units, length } = view
  // A decoded character is never longer than its escape.
  const [decoded, starts] = [new Uint16Array(units.length), new Int32Array(units.length)]
  let count = 0
  let done = 0
  const copyUntil = (end: number) => {
    for (let at = done; at < end; at++) {
      decoded[count] = units[at] ?? 0
      starts[count++] = fromOf(view, at)
    }
  }
  for (const { 0: found, index } of text.matchAll(escapes)) {
    copyUntil(index)
    let at = index
    for (const { text: piece, length } of decode(found)) {
      for (let unit = 0; unit < piece.length; unit++) {
        decoded[count] = piece.charCodeAt(unit)
        starts[count++] = fromOf(view, at)
      }
      at += length ?? 0
    }
    done = index + found.length
  }
  if (!done) return undefined
  copyUntil(units.length)
  const shown = decoded.subarray(0, count)
  return { text: latin1(shown), units: shown, starts: starts.subarray(0, count), length }
}

const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' }

/** Escapes of JSON (RFC 8259 §7) and of string literals in programming languages. */
function unescaped(escaped: string): string {
  const code = /\\(?:u\{?|x)([0-9a-f]+)/i.exec(escaped)?.[1]
  if (code !== undefined) return codePoint(Number.parseInt(code, 16))
  const char = escaped.slice(1)
  return CONTROLS[char] ?? char
}

/** Names of the HTML characters from U+00A0 on, and of those with a meaning in HTML. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil ' +
  'sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute ' +
  'Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc ' +
  'atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide ' +
  'oslash ugrave uacute ucirc uuml yacute thorn yuml'
const NAMED = new Map([
  ...LATIN.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }),
])

function character(reference: string): string {
  const [, decimal, hex, name = ''] = /&(?:#(\d+)|#x([0-9a-f]+)|(\w+))/i.exec(reference) ?? []
  if (decimal !== undefined) return codePoint(Number(decimal))
  return hex !== undefined ? codePoint(Number.parseInt(hex, 16)) : (NAMED.get(name) ?? reference)
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
}

const DECODINGS: readonly Decoding[] = [
  { escape: /%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*/g, decode: fromPercent },
  // application/x-www-form-urlencoded (URL standard §5.1).
  {
    escape: /\+|%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*/g,
    decode: (escaped) => (escaped === '+' ? [{ text: ' ' }] : fromPercent(escaped)),
  },
  {
    escape: /\\(?:u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[\s\S])/g,
    decode: (escaped) => [{ text: unescaped(escaped) }],
  },
  {
    escape: /&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,7});/g,
    decode: (escaped) => [{ text: character(escaped) }],
  },
]

/** Decodes percent-encoded bytes as UTF-8, or as Latin-1 where they are not valid UTF-8. */
function* fromPercent(escapes: string): Generator<Piece> {
  const byteAt = (at: number) => Number.parseInt(escapes.slice(3 * at + 1), 16)
  for (let at = 0; at < escapes.length / 3; ) {
    const first = byteAt(at)
    // As many as its leading ones.
    const bytes = Math.clz32(~(first << 24)) || 1
    const text = textOf(Uint8Array.from({ length: bytes }, (_, index) => byteAt(at + index)))
    const used = text === undefined ? 1 : bytes
    yield { text: text ?? String.fromCharCode(first), length: 3 * used }
    at += used
  }
}

const ENCODER = new TextEncoder()
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8; undefined for invalid bytes. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return DECODER.decode(bytes)
  } catch {
    return undefined
  }
}

function utf8(text: string): string {
  return latin1(ENCODER.encode(text))
}

/** Decodes each byte to one character. */
function latin1(bytes: Uint8Array | Uint16Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return text
}
