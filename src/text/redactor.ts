/**
 * Takes secrets out of text that a server wrote: it may repeat what it was sent, in an encoding of its own.
 *
 * Nothing is searched for in encoded form. The text is decoded instead, in every way that applies and in any order, and what the secret
 * stands for there is taken out of the original: so mixed cases, optional escapes, missing padding and a secret in the middle of a
 * longer encoded text make no difference.
 */

/** The longest part of a secret that may be seen; what is not longer cannot be told from other text. */
const SEEN = 3
const PLACEHOLDER = '[secret]'
/** Secrets that are remembered: of credentials that change all the time, the latest are enough. */
const MOST = 1000
/** Encodings within encodings, and readings of one text. */
const [DEEPEST, MOST_VIEWS] = [3, 12]

/** Takes the secrets it knows out of text: whole, or their beginnings from the fourth character on. */
export class Redactor {
  readonly #secrets = new Map<string, Needle>()

  /** Remembers a secret. */
  add(secret: string): void {
    if ([...secret].length <= SEEN || this.#secrets.has(secret)) return
    this.#secrets.set(secret, needleOf(secret))
    if (this.#secrets.size > MOST) for (const oldest of [...this.#secrets.keys()].slice(0, MOST / 2)) this.#secrets.delete(oldest)
  }

  /** Remembers the value of a header; the word that says how it is meant, such as `Bearer`, is no secret. */
  addHeader(value: string): void {
    const [, word, rest = value] = /^([A-Za-z][\w-]*) +(.+)$/.exec(value) ?? []
    this.add(rest)
    if (word?.toLowerCase() === 'basic') this.#addLogin(rest)
    for (const [, quoted = ''] of rest.matchAll(/"([^"]*)"/g)) this.add(quoted)
  }

  /** Remembers the secret values among the members of a body. */
  addMembers(body: unknown, names: readonly string[]): void {
    if (typeof body !== 'object' || body === null) return
    for (const name of names) {
      const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
      if (typeof value === 'string') this.add(value)
    }
  }

  /** The text with `[secret]` in the place of each secret. */
  readonly scrub = (text: string): string => {
    if (text.length <= SEEN || this.#secrets.size === 0) return text
    const needles = [...this.#secrets.values()]
    const found: Span[] = []
    for (const view of viewsOf(text)) {
      searchText(view, needles, found)
      for (const coding of [BASE64, HEX]) searchBytes(view, coding, needles, found)
    }
    return without(text, found)
  }

  /** A user name and password in base64, and the password alone (RFC 7617 §2: in UTF-8, or in what the user's world used before). */
  #addLogin(base64: string): void {
    const bytes = packed(base64.replace(/=+$/, ''), 0, BASE64)
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

/** What is looked for, with the beginning that has to be there. */
interface Pattern {
  readonly whole: string
  readonly head: string
}

/** A secret as text, and as bytes, of which each is a character up to U+00FF. */
interface Needle {
  readonly texts: readonly Pattern[]
  readonly bytes: readonly Pattern[]
}

/** From, and up to but without, a place in the original text. */
type Span = readonly [from: number, to: number]

/** One reading of the text, and where in the original each of its characters comes from. */
interface View {
  readonly text: string
  readonly from: (at: number) => number
  readonly to: (at: number) => number
}

function needleOf(secret: string): Needle {
  const head = [...secret].slice(0, SEEN + 1).join('')
  const asBytes = (text: string): Pattern => ({ whole: utf8(text), head: utf8([...text].slice(0, SEEN + 1).join('')) })
  const texts = [{ whole: secret, head }]
  const bytes = [asBytes(secret)]
  const inUtf8 = utf8(secret)
  // Servers that take the bytes of UTF-8 for characters, as the fields of HTTP once were, and those that write Latin-1.
  if (inUtf8 !== secret) {
    texts.push({ whole: inUtf8, head: utf8(head) })
    bytes.push(asBytes(inUtf8))
    if (/^[\0-\xff]*$/.test(secret)) bytes.push({ whole: secret, head })
  }
  return { texts, bytes }
}

function searchText({ text, from, to }: View, needles: readonly Needle[], found: Span[]): void {
  for (const { texts } of needles)
    for (const pattern of texts) for (const [start, end] of places(text, pattern)) found.push([from(start), to(end - 1)])
}

/** Looks into every run of an encoding's digits, from each of the places where a byte can begin. */
function searchBytes({ text, from, to }: View, coding: Coding, needles: readonly Needle[], found: Span[]): void {
  for (const { 0: run, index } of text.matchAll(coding.run)) {
    const digits = run.replace(/[\r\n]/g, '')
    /** Where in the run a digit stands. */
    const placeOf = digits === run ? (digit: number) => digit : placesIn(run)
    for (let skipped = 0; skipped < coding.digitsPerGroup; skipped++) {
      const bytes = latin1(packed(digits, skipped, coding))
      for (const { bytes: patterns } of needles)
        for (const pattern of patterns)
          for (const [start, end] of places(bytes, pattern)) {
            const first = skipped + Math.floor((start * 8) / coding.bits)
            // What follows the last whole byte belongs to the next one of the secret.
            const last = end === bytes.length ? digits.length - 1 : skipped + Math.ceil((end * 8) / coding.bits) - 1
            found.push([from(index + placeOf(first)), to(index + placeOf(last))])
          }
    }
  }
}

function placesIn(run: string): (digit: number) => number {
  const all = [...run.matchAll(/[^\r\n]/g)].map(({ index }) => index)
  return (digit) => all[digit] ?? run.length - 1
}

/** Every place where the pattern, or at least its head, stands. */
function* places(text: string, { whole, head }: Pattern): Generator<Span> {
  for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, at + 1)) {
    let length = head.length
    while (length < whole.length && text[at + length] === whole[length]) length++
    yield [at, at + length]
  }
}

/** Spans may overlap: of two secrets one may end as the other begins. */
function without(text: string, found: readonly Span[]): string {
  let clean = ''
  let done = 0
  for (const [from, to] of [...found].sort(([a], [b]) => a - b)) {
    if (to <= done) continue
    // One that begins within the one before has its placeholder already.
    if (from >= done) clean += text.slice(done, from) + PLACEHOLDER
    done = to
  }
  return clean + text.slice(done)
}

/** An encoding of bytes as digits. */
interface Coding {
  readonly run: RegExp
  readonly bits: 4 | 6
  /** After so many digits a byte begins again. */
  readonly digitsPerGroup: 2 | 4
  /** Values of digits by their character codes. */
  readonly values: Uint8Array
}

/** Either alphabet (RFC 4648 §4 and §5), in lines as well (RFC 2045 §6.8). */
const BASE64: Coding = {
  run: /[A-Za-z0-9+/_-](?:[\r\n]{0,2}[A-Za-z0-9+/_-]){4,}/g,
  bits: 6,
  digitsPerGroup: 4,
  values: valuesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', [
    ['-', 62],
    ['_', 63],
  ]),
}

const HEX: Coding = {
  run: /[0-9A-Fa-f](?:[\r\n]{0,2}[0-9A-Fa-f]){6,}/g,
  bits: 4,
  digitsPerGroup: 2,
  values: valuesOf(
    '0123456789abcdef',
    [...'ABCDEF'].map((digit, index) => [digit, 10 + index]),
  ),
}

function valuesOf(digits: string, others: readonly (readonly [string, number])[]): Uint8Array {
  const values = new Uint8Array(128)
  for (const [digit, value] of [...[...digits].map((digit, index) => [digit, index] as const), ...others])
    values[digit.charCodeAt(0)] = value
  return values
}

/** Whole bytes only. */
function packed(digits: string, from: number, { bits, values }: Pick<Coding, 'bits' | 'values'>): Uint8Array {
  const bytes = new Uint8Array(Math.floor((Math.max(0, digits.length - from) * bits) / 8))
  let [held, count, length] = [0, 0, 0]
  for (let at = from; length < bytes.length; at++) {
    held = ((held << bits) | (values[digits.charCodeAt(at)] ?? 0)) & 0xffff
    count += bits
    if (count < 8) continue
    count -= 8
    bytes[length++] = (held >> count) & 0xff
  }
  return bytes
}

/** The text as it is, and as each decoding, and each decoding of what that gives, reads it. */
function viewsOf(text: string): readonly View[] {
  const views: View[] = [{ text, from: (at) => at, to: (at) => at + 1 }]
  const seen = new Set([text])
  let depth = 0
  for (let begin = 0; begin < views.length && depth < DEEPEST; depth++) {
    const level = views.slice(begin)
    begin = views.length
    for (const view of level)
      for (const decoding of DECODINGS) {
        const decoded = decodedView(view, decoding)
        if (!decoded || seen.has(decoded.text) || views.length >= MOST_VIEWS) continue
        seen.add(decoded.text)
        views.push(decoded)
      }
  }
  return views
}

/** An escape of an encoding and what it stands for; the list of characters says how much of the escape each of them is. */
interface Decoding {
  readonly escape: RegExp
  readonly decode: (escaped: string) => readonly { readonly text: string; readonly length: number }[]
}

/** Undefined where the text has no such escape. */
function decodedView({ text, from, to }: View, { escape: escapes, decode }: Decoding): View | undefined {
  const parts: string[] = []
  const [starts, ends]: [number[], number[]] = [[], []]
  const add = (piece: string, at: number, length: number) => {
    parts.push(piece)
    for (let unit = 0; unit < piece.length; unit++) {
      starts.push(from(at))
      ends.push(to(at + length - 1))
    }
  }
  let done = 0
  for (const { 0: found, index } of text.matchAll(escapes)) {
    for (let at = done; at < index; at++) add(text[at] ?? '', at, 1)
    let at = index
    for (const { text: piece, length } of decode(found)) {
      add(piece, at, length)
      at += length
    }
    done = index + found.length
  }
  if (done === 0) return undefined
  for (let at = done; at < text.length; at++) add(text[at] ?? '', at, 1)
  return { text: parts.join(''), from: (at) => starts[at] ?? text.length, to: (at) => ends[at] ?? text.length }
}

const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' }

/** JSON (RFC 8259 §7), and the strings of programming languages. */
function unescaped(escaped: string): string {
  const code = /^\\(?:u\{?|x)([0-9a-f]+)/i.exec(escaped)?.[1]
  if (code !== undefined) return codePoint(Number.parseInt(code, 16))
  const char = escaped.slice(1)
  return CONTROLS[char] ?? char
}

/** Names of the characters from U+00A0 on, and of those that have a meaning in HTML. */
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
  const [, decimal, hex, name = ''] = /^&(?:#(\d+)|#x([0-9a-f]+)|(\w+))/i.exec(reference) ?? []
  if (decimal !== undefined) return codePoint(Number(decimal))
  return hex !== undefined ? codePoint(Number.parseInt(hex, 16)) : (NAMED.get(name) ?? reference)
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
}

const DECODINGS: readonly Decoding[] = [
  { escape: /%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*/g, decode: fromPercent },
  // Forms (URL standard §5.1).
  {
    escape: /\+|%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*/g,
    decode: (escaped) => (escaped === '+' ? [{ text: ' ', length: 1 }] : fromPercent(escaped)),
  },
  {
    escape: /\\(?:u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[\s\S])/g,
    decode: (escaped) => [{ text: unescaped(escaped), length: escaped.length }],
  },
  {
    escape: /&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,7});/g,
    decode: (escaped) => [{ text: character(escaped), length: escaped.length }],
  },
]

/** Percent-encoded bytes as the characters that they are in UTF-8, or in Latin-1 where they are none. */
function fromPercent(escapes: string): readonly { readonly text: string; readonly length: number }[] {
  const bytes = escapes
    .split('%')
    .slice(1)
    .map((code) => Number.parseInt(code, 16))
  const pieces: { text: string; length: number }[] = []
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const wanted = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    const text = textOf(Uint8Array.from(bytes.slice(at, at + wanted)))
    const used = text === undefined ? 1 : Math.min(wanted, bytes.length - at)
    pieces.push({ text: text ?? String.fromCharCode(first), length: 3 * used })
    at += used
  }
  return pieces
}

const ENCODER = new TextEncoder()
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for what is not UTF-8. */
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

/** A character for each byte. */
function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return text
}
