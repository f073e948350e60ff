/**
 * Decodes text in every order of the encodings that servers write: percent, escapes of JSON and of programming languages, HTML, base64 and
 * hexadecimal digits.
 *
 * Text and decoded text are bytes, so that UTF-8 is read alike whether it is written as characters, as escapes or as digits. Each byte knows
 * which part of the text it comes from.
 */

/** Number of encodings that are read inside each other. */
const DEEPEST = 3

/** Text as bytes, and the part of the original text that each byte comes from, as positions in UTF-16 units. */
export interface View {
  readonly bytes: Uint8Array
  readonly starts: Int32Array
  /** Position after the part. */
  readonly ends: Int32Array
}

/**
 * Yields the text, and each of its decodings in each order of at most three. Their number depends on the encodings alone, and none is longer
 * than the text in UTF-8: the cost is linear, whatever the text contains.
 */
export function viewsOf(text: string): Iterable<View> {
  return decodedIn(viewOf(text), 0)
}

function* decodedIn(view: View, depth: number): Generator<View> {
  yield view
  if (depth === DEEPEST) return
  for (const decode of DECODINGS) {
    const decoded = decode(view)
    if (decoded) yield* decodedIn(decoded, depth + 1)
  }
}

/** Returns the UTF-8 bytes of a text; halves of surrogate pairs are encoded like characters. */
export function utf8Of(text: string): Uint8Array {
  return viewOf(text).bytes
}

/** Returns the text of bytes, each as the character with its number. */
export function latin1Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return text
}

/** Returns the bytes of a word of base64; none where it is shorter than six digits. */
export function bytesOfBase64(word: string): Uint8Array {
  return runsOf(BASE64, 0)(viewOf(word))?.bytes.subarray(0, -1) ?? new Uint8Array()
}

function viewOf(text: string): View {
  const view = new ViewWriter(3 * text.length)
  for (let at = 0; at < text.length; at++) view.character(text.charCodeAt(at), at, at + 1)
  return view.view()
}

/** Collects the bytes of a view. */
class ViewWriter {
  readonly #bytes: Uint8Array
  readonly #starts: Int32Array
  readonly #ends: Int32Array
  #count = 0

  /** @param length at most so many bytes are written */
  constructor(length: number) {
    this.#bytes = new Uint8Array(length)
    this.#starts = new Int32Array(length)
    this.#ends = new Int32Array(length)
  }

  /** Writes the lowest eight bits of a number. */
  byte(value: number, start: number, end: number): void {
    this.#bytes[this.#count] = value
    this.#starts[this.#count] = start
    this.#ends[this.#count++] = end
  }

  copy({ bytes, starts, ends }: View, from: number, to: number): void {
    this.#bytes.set(bytes.subarray(from, to), this.#count)
    this.#starts.set(starts.subarray(from, to), this.#count)
    this.#ends.set(ends.subarray(from, to), this.#count)
    this.#count += to - from
  }

  /** Writes a character in UTF-8, and both halves of a surrogate pair as one. */
  character(code: number, start: number, end: number): void {
    const high = code >= 0xdc00 && code <= 0xdfff ? this.#firstHalf() : undefined
    if (high !== undefined) {
      this.#count -= 3
      this.character(0x10000 + (high << 10) + (code - 0xdc00), this.#starts[this.#count] ?? start, end)
      return
    }
    // RFC 3629 §3.
    const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3
    this.byte(more === 0 ? code : (0xff << (7 - more)) | (code >> (6 * more)), start, end)
    for (let left = more - 1; left >= 0; left--) this.byte(0x80 | ((code >> (6 * left)) & 0x3f), start, end)
  }

  /** Returns the ten bits of the first half of a pair, if it was written last. */
  #firstHalf(): number | undefined {
    const [bytes, at] = [this.#bytes, this.#count - 3]
    const second = bytes[at + 1] ?? 0
    return bytes[at] === 0xed && second >> 4 === 0xa ? ((second & 0xf) << 6) | ((bytes[at + 2] ?? 0) & 0x3f) : undefined
  }

  view(): View {
    const part = <A extends Uint8Array | Int32Array>(array: A) => array.slice(0, this.#count) as A
    return { bytes: part(this.#bytes), starts: part(this.#starts), ends: part(this.#ends) }
  }
}

/** Returns the decoded view, or undefined when the view contains nothing in that encoding. */
type Decoding = (view: View) => View | undefined

/** What an escape sequence stands for; undefined for one that stands for itself. */
type Meaning = { readonly byte: number } | { readonly code: number } | undefined

/** Decodes escape sequences, which are never shorter than what they stand for. */
function escapes(lead: string, sequence: RegExp, meaningOf: (groups: readonly (string | undefined)[]) => Meaning): Decoding {
  return (view) => {
    const { bytes, starts, ends } = view
    if (!bytes.includes(lead.charCodeAt(0))) return undefined
    const decoded = new ViewWriter(bytes.length)
    let done = 0
    for (const match of latin1Of(bytes).matchAll(sequence)) {
      const meaning = meaningOf(match.slice(1))
      if (!meaning) continue
      decoded.copy(view, done, match.index)
      done = match.index + match[0].length
      const [start = 0, end = 0] = [starts[match.index], ends[done - 1]]
      if ('byte' in meaning) decoded.byte(meaning.byte, start, end)
      else decoded.character(meaning.code, start, end)
    }
    if (done === 0) return undefined
    decoded.copy(view, done, bytes.length)
    return decoded.view()
  }
}

/** RFC 3986 §2.1. */
const percent = escapes('%', /%([\da-f]{2})/gi, ([hex = '']) => ({ byte: Number.parseInt(hex, 16) }))

const CONTROLS: Readonly<Record<string, number>> = { 0: 0, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }

/** Escapes of JSON (RFC 8259 §7) and of string literals in programming languages. */
const backslash = escapes('\\', /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|([\s\S]))/gi, ([braced, four, two, char = '']) => {
  const hex = braced ?? four ?? two
  return hex === undefined ? { byte: CONTROLS[char] ?? char.charCodeAt(0) } : { code: codePoint(Number.parseInt(hex, 16)) }
})

/** Names of the HTML characters from U+00A0 on, and of the punctuation of ASCII. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil ' +
  'sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute ' +
  'Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc ' +
  'atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide ' +
  'oslash ugrave uacute ucirc uuml yacute thorn yuml'
const ASCII =
  '!excl "quot #num $dollar %percnt &amp \'apos (lpar )rpar *ast +plus ,comma .period /sol :colon ;semi <lt =equals >gt ?quest @commat ' +
  '[lsqb [lbrack \\bsol ]rsqb ]rbrack ^Hat _lowbar `grave {lcub {lbrace |verbar |vert }rcub }rbrace'
const NAMED = new Map([
  ...LATIN.split(' ').map((name, index) => [name, 0xa0 + index] as const),
  ...ASCII.split(' ').map((entry) => [entry.slice(1), entry.charCodeAt(0)] as const),
])

/** Character references (HTML standard §13.2.5.72). */
const references = escapes('&', /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,7}));/gi, ([decimal, hex, name = '']) => {
  if (decimal !== undefined) return { code: codePoint(Number(decimal)) }
  const code = hex === undefined ? NAMED.get(name) : codePoint(Number.parseInt(hex, 16))
  return code === undefined ? undefined : { code }
})

function codePoint(code: number): number {
  return code <= 0x10ffff ? code : 0xfffd
}

/** An encoding of bytes as digits. */
interface Digits {
  readonly bits: 4 | 6
  /** Number of digits of the shortest run that can contain four bytes of a secret. */
  readonly least: number
  /** Values of digits by character code. */
  readonly values: Uint8Array
}

const NONE = 255

function digitsOf(bits: Digits['bits'], least: number, ...alphabets: readonly string[]): Digits {
  const values = new Uint8Array(256).fill(NONE)
  for (const alphabet of alphabets) for (const [value, digit] of [...alphabet].entries()) values[digit.charCodeAt(0)] = value
  return { bits, least, values }
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Base64 in both alphabets (RFC 4648 §4 and §5), also in lines (RFC 2045 §6.8). */
const BASE64 = digitsOf(6, 6, `${LETTERS}+/`, `${LETTERS}-_`)

const HEX = digitsOf(4, 8, '0123456789abcdef', '0123456789ABCDEF')

/** Stands between runs of digits; no byte of UTF-8, and no digit. */
const BETWEEN = 0xff

/** Decodes every run of digits without its first `skipped` digits: a byte may begin at any digit. */
function runsOf(digits: Digits, skipped: number): Decoding {
  return (view) => {
    const { bytes } = view
    const decoded = new ViewWriter(bytes.length)
    const places = new Int32Array(bytes.length)
    let count = 0
    let found = false
    for (let at = 0; at <= bytes.length; at++) {
      const byte = bytes[at] ?? BETWEEN
      if (digits.values[byte] !== NONE) {
        places[count++] = at
        continue
      }
      // Lines may end between two digits.
      if ((byte === 10 || byte === 13) && at - (places[count - 1] ?? 0) <= 2) continue
      if (count >= digits.least) {
        writeRun(decoded, view, places.subarray(skipped, count), digits)
        found = true
      }
      count = 0
    }
    return found ? decoded.view() : undefined
  }
}

/** Writes the whole bytes of a run of digits. Digits after the last one belong to a byte that was cut off, and are a part of the last one. */
function writeRun(decoded: ViewWriter, { bytes, starts, ends }: View, places: Int32Array, { bits, values }: Digits): void {
  const placeOf = (digit: number) => places[digit] ?? 0
  const length = Math.floor((places.length * bits) / 8)
  const digitAt = (digit: number) => values[bytes[placeOf(digit)] ?? 0] ?? 0
  for (let index = 0; index < length; index++) {
    const first = Math.floor((index * 8) / bits)
    const last = index === length - 1 ? places.length - 1 : Math.ceil(((index + 1) * 8) / bits) - 1
    // Two digits have the bits of a byte, and up to four others before them.
    const before = (index * 8) % bits
    const value = (digitAt(first) << bits) | digitAt(first + 1)
    decoded.byte(value >> (2 * bits - 8 - before), starts[placeOf(first)] ?? 0, ends[placeOf(last)] ?? 0)
  }
  decoded.byte(BETWEEN, starts[placeOf(places.length - 1)] ?? 0, ends[placeOf(places.length - 1)] ?? 0)
}

const DECODINGS: readonly Decoding[] = [
  percent,
  backslash,
  references,
  ...[0, 1, 2, 3].map((skipped) => runsOf(BASE64, skipped)),
  ...[0, 1].map((skipped) => runsOf(HEX, skipped)),
]
