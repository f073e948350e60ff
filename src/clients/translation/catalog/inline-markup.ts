/** Prose of CommonMark as XML for the service, which keeps tags at the words that they belong to, and back again. */
import { hasOtherTags } from './same-form.ts'

/** Prose for the service. */
export interface TaggedProse {
  /** Well-formed XML content when `tagged`, else the prose as it is. */
  readonly text: string
  readonly tagged: boolean
  /** The prose of a translation; undefined when the service lost, doubled or crossed tags, or wrote HTML. */
  readonly restore: (translation: string) => string | undefined
}

/** The element whose content the service leaves alone: for `ignore_tags`. */
export const KEPT_TAG = 'x'
const PAIR_TAG = 'g'

/** Code, also that of HTML with all that is in it, comments, HTML, addresses, escapes and entities: kept to the letter. */
const ATOM =
  /(?<!`)(`+)(?!`)(?:(?!(?<!`)\1(?!`))[\s\S])*(?<!`)\1(?!`)|<code(?=[\s>])[^<>]*>(?:(?!<\/?code)[\s\S])*<\/code>|<!--(?:(?!<!--)[\s\S])*?-->|<\/?[A-Za-z][^<>]*>|https?:\/\/[^\s<>()\]]*[^\s<>()\].,;:!?'"]|\\[!-/:-@[-`{-~]|&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,31});/iy
/** What is behind the words of a link: its address and title, or the name of a reference. */
const LINK_END = /\](?:\((?:[^()\\]|\\.|\([^()\\]*\))*\)|\[[^\][]*\])/y
const EMPHASIS = /\*{1,3}|_{1,3}|~~/y

/** Prose with its markup in tags; without markup it stays as it is. */
export function taggedProse(prose: string): TaggedProse {
  const pieces = matched(piecesOf(prose))
  const safe = (translation: string | undefined) =>
    translation === undefined || hasOtherTags(translation, prose) ? undefined : oneLine(translation)
  if (pieces.every(({ kind }) => kind === 'text')) return { text: prose, tagged: false, restore: safe }
  return { text: pieces.map(written).join(''), tagged: true, restore: (translation) => safe(restored(translation, pieces)) }
}

/** A piece of prose. */
interface Piece {
  readonly kind: 'text' | 'atom' | 'mark'
  readonly raw: string
  /** For marks: what it may do here. */
  readonly begins?: boolean
  readonly ends?: boolean
}

/** Marks that belong together have the number of the first one. */
interface MatchedPiece extends Piece {
  readonly id: number
  readonly role?: 'begin' | 'end'
}

function piecesOf(prose: string): readonly Piece[] {
  const pieces: Piece[] = []
  let from = 0
  let at = 0
  while (at < prose.length) {
    const found = pieceAt(prose, at)
    if (!found) {
      at++
      continue
    }
    if (at > from) pieces.push({ kind: 'text', raw: prose.slice(from, at) })
    pieces.push(found)
    at += found.raw.length
    from = at
  }
  if (at > from) pieces.push({ kind: 'text', raw: prose.slice(from) })
  return pieces
}

function pieceAt(prose: string, at: number): Piece | undefined {
  const atom = after(ATOM, prose, at)
  if (atom !== undefined) return { kind: 'atom', raw: atom }
  if (prose[at] === '[' || prose.startsWith('![', at)) return { kind: 'mark', raw: prose[at] === '[' ? '[' : '![', begins: true }
  const end = after(LINK_END, prose, at)
  if (end !== undefined) return { kind: 'mark', raw: end, ends: true }
  const raw = after(EMPHASIS, prose, at)
  if (raw === undefined) return undefined
  const [before, behind] = [prose[at - 1] ?? ' ', prose[at + raw.length] ?? ' ']
  // An underscore inside of a word is a letter of it.
  const inWord = raw.startsWith('_') && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(behind)
  return inWord ? undefined : { kind: 'mark', raw, begins: !/\s/.test(behind), ends: !/\s/.test(before) }
}

/** Marks without a partner are text. */
function matched(pieces: readonly Piece[]): readonly MatchedPiece[] {
  const partners = partnersOf(pieces)
  return pieces.map((piece, index) => {
    const partner = partners.get(index)
    if (piece.kind !== 'mark') return { ...piece, id: index }
    if (partner === undefined) return { kind: 'text', raw: piece.raw, id: index }
    return { ...piece, id: Math.min(index, partner), role: index < partner ? 'begin' : 'end' }
  })
}

/** The innermost mark that is open counts; those inside of it that were not closed never will be. */
function partnersOf(pieces: readonly Piece[]): ReadonlyMap<number, number> {
  const partners = new Map<number, number>()
  const open: number[] = []
  /** By sign, places in `open`: those that are no longer there are passed over. */
  const places = new Map<string, { readonly place: number; readonly index: number }[]>()
  pieces.forEach((piece, index) => {
    if (piece.kind !== 'mark') return
    const sign = /[[\]]/.test(piece.raw) ? '[' : piece.raw
    const same = places.get(sign) ?? []
    places.set(sign, same)
    while (same.length > 0 && open[same.at(-1)?.place ?? 0] !== same.at(-1)?.index) same.pop()
    const start = piece.ends ? same.pop() : undefined
    if (start) {
      partners.set(start.index, index).set(index, start.index)
      open.length = start.place
    } else if (piece.begins) same.push({ place: open.push(index) - 1, index })
  })
  return partners
}

function written({ kind, raw, id, role }: MatchedPiece): string {
  if (kind === 'text') return escaped(raw)
  if (kind === 'atom') return `<${KEPT_TAG} i="${id}">${escaped(raw)}</${KEPT_TAG}>`
  return role === 'begin' ? `<${PAIR_TAG} i="${id}">` : `</${PAIR_TAG}>`
}

const TAG = /<(\/?)([gx])(?:\s+i\s*=\s*["'](\d+)["'])?\s*>/g

/** Every tag must come back once, well nested. What is in the kept ones is not read but taken from the original. */
function restored(translation: string, pieces: readonly MatchedPiece[]): string | undefined {
  const atoms = new Map(pieces.flatMap(({ kind, id, raw }) => (kind === 'atom' ? [[id, raw]] : [])))
  const ends = new Map(pieces.flatMap(({ role, id, raw }) => (role === 'end' ? [[id, raw]] : [])))
  const begins = new Map(pieces.flatMap(({ role, id, raw }) => (role === 'begin' ? [[id, raw]] : [])))
  const open: { readonly tag: string; readonly id: number; readonly raw: string; readonly text: string }[] = []
  let text = ''
  let at = 0
  for (const match of translation.matchAll(TAG)) {
    const [whole, slash, tag = '', number] = match
    text += unescaped(translation.slice(at, match.index))
    at = match.index + whole.length
    const id = Number(number ?? -1)
    if (!slash) {
      const kind = tag === KEPT_TAG ? atoms : begins
      const raw = kind.get(id)
      // What was begun once cannot begin again, least of all in itself.
      if (raw === undefined || open.at(-1)?.tag === KEPT_TAG) return undefined
      kind.delete(id)
      open.push({ tag, id, raw, text })
      text = ''
      continue
    }
    const last = open.pop()
    if (last?.tag !== tag) return undefined
    text = last.text + (tag === KEPT_TAG ? last.raw : around(last.raw, text, ends.get(last.id)))
  }
  const rest = translation.slice(at)
  return open.length > 0 || atoms.size > 0 || begins.size > 0 ? undefined : text + unescaped(rest)
}

/** Emphasis stands at words: blanks that came between go outside. */
function around(begin: string, text: string, end = ''): string {
  if (begin.endsWith('[')) return begin + text + end
  const words = text.trim()
  const start = text.length - text.trimStart().length
  return text.slice(0, start) + begin + words + end + text.slice(start + words.length)
}

/** A line end would begin something new. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function unescaped(text: string): string {
  return text.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));/g,
    (whole, name?: string, decimal?: string, hex?: string) => {
      if (name) return ENTITIES[name] ?? whole
      const code = decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}

function after(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
