/** Splits CommonMark into prose to translate and markup to keep. */

/** Text that is kept unchanged, or prose: the words of one paragraph, heading, list item or cell, on one line. */
export type MarkdownPart = { readonly kept: string } | { readonly prose: string; readonly isCell?: true }

/** Markers at the start of a line: quotes, list items, headings. */
const MARKERS = /^[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t]))[ \t]*)*/

const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/

/** Lines without words: blank lines, rules, the line below a heading or the head of a table; and link reference definitions. */
const WORDLESS = /^[-=*_|:> \t]*$|^[ \t>]*\[[^\]]+\]:[ \t]*\S/

const LIST_ITEM = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/

/** HTML blocks 1 and 2 of CommonMark 4.6: from a line with this beginning to a line that contains the end. */
const HTML = /^<(?:(!--)|(?:script|pre|style|textarea)(?=[\s>]|$))/i

const HTML_END = /<\/(?:script|pre|style|textarea)>/i

/** Returns the parts of a text. Joined unchanged they are an equivalent document, in which soft line breaks have become spaces. */
export function markdownParts(markdown: string): readonly MarkdownPart[] {
  const parts: MarkdownPart[] = []
  const lines = [...markdown.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g)]
  let verbatim: Verbatim | undefined
  let open: OpenParagraph | undefined
  let before: Before = 'none'
  let isTable = false
  for (const [index, [whole, line = '', end = '']] of lines.entries()) {
    if (whole === '') continue
    const opening = verbatim === undefined ? verbatimOf(line, before) : undefined
    isTable = verbatim === undefined && !opening && inTable(line, lines[index + 1]?.[1], isTable)
    if (verbatim || opening || WORDLESS.test(line) || isCode(line, before)) {
      verbatim = (verbatim ?? opening)?.closes(line, verbatim === undefined) ? undefined : (verbatim ?? opening)
      parts.push({ kept: whole })
      open = undefined
      before = before === 'list' && /^(?:[ \t]|$)/.test(line) ? 'list' : 'none'
      continue
    }
    const added = lineParts(line, end, isTable, open)
    // A continued paragraph replaces its previous prose and line end.
    if (added.continues) parts.splice(-2)
    for (const part of added.parts) parts.push(part)
    open = added.open
    before = LIST_ITEM.test(line) || (before === 'list' && /^[ \t]/.test(line)) ? 'list' : 'text'
  }
  return parts
}

/** A block that is kept unchanged up to its closing line. */
interface Verbatim {
  /** @param isFirst true for the line that opens it, which closes no fence */
  closes(line: string, isFirst: boolean): boolean
}

function verbatimOf(line: string, before: Before): Verbatim | undefined {
  const fence = FENCE.exec(line)?.[1]
  if (fence !== undefined) return { closes: (last, isFirst) => !isFirst && closes(last, fence) }
  const html = isCode(line, before) ? null : HTML.exec(line.slice(MARKERS.exec(line)?.[0].length))
  if (!html) return undefined
  return { closes: (last) => (html[1] === undefined ? HTML_END.test(last) : last.includes('-->')) }
}

/** Returns true for a line of a table, which starts with a row above a line of delimiters and ends at a blank line or another block. */
function inTable(line: string, next: string | undefined, wasTable: boolean): boolean {
  if (wasTable) return line.trim() !== '' && (BAR.test(line) || !/\S/.test(MARKERS.exec(line)?.[0] ?? ''))
  return BAR.test(line) && next !== undefined && isDelimiters(next)
}

/** Returns true for the delimiter line between the head of a table and its rows. */
function isDelimiters(line: string): boolean {
  const row = line.slice(/^[ \t>]*/.exec(line)?.[0].length).trim()
  return (
    row.includes('|') &&
    row
      .slice(row.startsWith('|') ? 1 : 0, row.endsWith('|') ? -1 : undefined)
      .split('|')
      .every(isDelimiter)
  )
}

function isDelimiter(cell: string): boolean {
  return /^:?-+:?$/.test(cell.trim())
}

/** The block before a line: four spaces start code only after a block that is neither a paragraph nor a list. */
type Before = 'text' | 'list' | 'none'

/** A paragraph that the next line may continue. */
interface OpenParagraph {
  readonly quotes: number
  readonly prose: string
}

interface LineParts {
  readonly parts: readonly MarkdownPart[]
  /** True if the parts replace those of the paragraph before them. */
  readonly continues: boolean
  readonly open: OpenParagraph | undefined
}

function lineParts(line: string, end: string, isTable: boolean, open: OpenParagraph | undefined): LineParts {
  const markers = MARKERS.exec(line)?.[0] ?? ''
  const rest = line.slice(markers.length)
  if (isTable || isRow(rest)) return { parts: [{ kept: markers }, ...cells(rest), { kept: end }], continues: false, open: undefined }
  const words = rest.trimEnd()
  // Two trailing spaces or a backslash are a hard line break.
  const breaks = rest.length - words.length > 1 || words.endsWith('\\')
  const prose = words.endsWith('\\') ? words.slice(0, -1) : words
  const quotes = markers.split('>').length - 1
  const continues = open !== undefined && quotes === open.quotes && /^[ \t>]*$/.test(markers)
  const joined = continues ? `${open.prose} ${prose}` : prose
  const tail = { kept: rest.slice(prose.length) + end }
  const parts = [...(continues ? [] : [{ kept: markers }]), joined === '' ? { kept: '' } : { prose: joined }, tail]
  return { parts, continues, open: breaks || markers.includes('#') ? undefined : { quotes, prose: joined } }
}

function isRow(rest: string): boolean {
  return rest.startsWith('|') || (rest.includes('|') && !rest.includes('`'))
}

/** Returns the parts of the cells of a table row. */
function cells(row: string): readonly MarkdownPart[] {
  return row.split(BAR).flatMap((piece): readonly MarkdownPart[] => {
    const words = piece.trim()
    if (words === '' || words === '|') return [{ kept: piece }]
    const start = piece.length - piece.trimStart().length
    return [{ kept: piece.slice(0, start) }, { prose: words, isCell: true }, { kept: piece.slice(start + words.length) }]
  })
}

function isCode(line: string, before: Before): boolean {
  return before === 'none' && /^(?: {4}|\t)/.test(line)
}

function closes(line: string, fence: string): boolean {
  const mark = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1]
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length
}

/** Prose as it is sent to the service. */
export interface TaggedProse {
  /** Well-formed XML content when `tagged`, else the unchanged prose. */
  readonly text: string
  readonly tagged: boolean
  /** Returns the prose of a translation; `undefined` if the service lost, doubled or crossed tags, or added HTML. */
  readonly restore: (translation: string) => string | undefined
}

/** The element whose content the service does not translate, for `ignore_tags`. */
export const KEPT_TAG = 'x'

const PAIR_TAG = 'g'

/** Parts that are kept unchanged: code (also HTML code elements with their content), comments, HTML, URLs, escapes and entities. */
const ATOM =
  /(?<!`)(`+)(?!`)(?:(?!(?<!`)\1(?!`))[\s\S])*(?<!`)\1(?!`)|<code(?=[\s>])[^<>]*>(?:(?!<\/?code)[\s\S])*<\/code>|<!--(?:(?!<!--)[\s\S])*?-->|<\/?[A-Za-z][^<>]*>|https?:\/\/[^\s<>()\]]*[^\s<>()\].,;:!?'"]|\\[!-/:-@[-`{-~]|&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,31});/iy

/** The part after the text of a link: its URL and title, or the name of a reference. */
const LINK_END = /\](?:\((?:[^()\\]|\\.|\([^()\\]*\))*\)|\[[^\][]*\])/y

const EMPHASIS = /\*{1,3}|_{1,3}|~~/y

/** Replaces the markup of prose by tags; prose without markup stays unchanged. */
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
  /** For marks: whether it may begin or end a pair here. */
  readonly begins?: boolean
  readonly ends?: boolean
}

/** Paired marks have the index of the first one as `id`. */
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
  // An underscore inside of a word is not emphasis.
  const inWord = raw.startsWith('_') && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(behind)
  return inWord ? undefined : { kind: 'mark', raw, begins: !/\s/.test(behind), ends: !/\s/.test(before) }
}

/** Pairs the marks; a mark without a partner becomes text. */
function matched(pieces: readonly Piece[]): readonly MatchedPiece[] {
  const partners = partnersOf(pieces)
  return pieces.map((piece, index) => {
    const partner = partners.get(index)
    if (piece.kind !== 'mark') return { ...piece, id: index }
    if (partner === undefined) return { kind: 'text', raw: piece.raw, id: index }
    return { ...piece, id: Math.min(index, partner), role: index < partner ? 'begin' : 'end' }
  })
}

/** Pairs each closing mark with the innermost open one. Marks opened inside of it stay unpaired. */
function partnersOf(pieces: readonly Piece[]): ReadonlyMap<number, number> {
  const partners = new Map<number, number>()
  const open: number[] = []
  /** Positions in `open` by marker; positions that no longer exist are skipped. */
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

/**
 * Returns the prose of a translation; `undefined` unless every tag was returned once and well nested. The content of kept parts is taken
 * from the original.
 */
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
      // A tag may start only once, and not inside itself.
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

/** Puts markers around a text. Emphasis markers must touch a word, so spaces inside them are moved outside. */
function around(begin: string, text: string, end = ''): string {
  if (begin.endsWith('[')) return begin + text + end
  const words = text.trim()
  const start = text.length - text.trimStart().length
  return text.slice(0, start) + begin + words + end + text.slice(start + words.length)
}

/** Replaces line ends by spaces, because a line end could start a new block. */
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

/** Text that would start a list, a heading, a quote, code, a rule, a table or a reference; the group is the text before the escape. */
const BEGINNING =
  /^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+*](?:\s|$)|#{1,6}(?:\s|$)|>|~{3}|`{3}[^`]*$|(?:=+|-+)\s*$|(?:[-*_]\s*){3,}$|\[[^\]]*\]:|\|))/

const ANY_TAG = /<[A-Za-z/!?][^<>]*>?/g

/** Returns the translation of a paragraph or cell, with backslashes where it would otherwise be parsed as another block. */
export function inForm(translation: string, original: string, isCell: boolean): string {
  if (translation === original) return translation
  const text = isCell
    ? translation
        .split(BAR)
        .map(escapedBar)
        .join('')
        .replace(/(?<!\\)\\+$/, '')
    : translation
  // Four spaces at the start would make it code.
  const words = text.replace(/^[ \t]+/, '')
  const found = BEGINNING.test(original) ? undefined : BEGINNING.exec(words)
  if (!found) return words
  const [, number = ''] = found
  return `${number}\\${words.slice(number.length)}`
}

/** Returns true if the translation has HTML tags, comments or declarations that the original does not have. */
export function hasOtherTags(translation: string, original: string): boolean {
  const left = new Map<string, number>()
  for (const [tag] of original.matchAll(ANY_TAG)) left.set(tag, (left.get(tag) ?? 0) + 1)
  for (const [tag] of translation.matchAll(ANY_TAG)) {
    const count = left.get(tag) ?? 0
    if (count === 0) return true
    left.set(tag, count - 1)
  }
  return false
}

function escapedBar(piece: string): string {
  return piece === '|' ? '\\|' : piece
}

/**
 * A bar that separates table cells: one that is not escaped by a backslash. Looks back from bars only, so that
 * a line of backslashes costs no more than another. Keeps the bars when it splits. Source: GFM 4.10.
 */
const BAR = /(\|)(?<=(?<!\\)(?:\\\\)*\|)/
