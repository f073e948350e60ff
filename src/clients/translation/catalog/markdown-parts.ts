/** CommonMark taken apart into what is written for people and what gives it its form. */
import { BAR } from './bar.ts'

/** Text that is kept as it is, or prose: the words of one paragraph, heading, list item or cell, on one line. */
export type MarkdownPart = { readonly kept: string } | { readonly prose: string; readonly isCell?: true }

/** Signs at the beginning of a line: quotes, list items, headings. */
const MARKERS = /^[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t]))[ \t]*)*/
const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/
/** Lines without words: blank ones, rules, the line below a heading or the head of a table; and where a reference leads. */
const WORDLESS = /^[-=*_|:> \t]*$|^[ \t>]*\[[^\]]+\]:[ \t]*\S/
const LIST_ITEM = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/

/** CommonMark 4.6, HTML blocks 1 and 2: from a line that begins so, to one that has the end. */
const HTML = /^<(?:(!--)|(?:script|pre|style|textarea)(?=[\s>]|$))/i
const HTML_END = /<\/(?:script|pre|style|textarea)>/i

/** The parts of a text: joined, with the prose as it is, they are the same document; its soft line breaks have become blanks. */
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
    // The line end between the lines of a paragraph goes with what was read of it.
    if (added.continues) parts.splice(-2)
    for (const part of added.parts) parts.push(part)
    open = added.open
    before = LIST_ITEM.test(line) || (before === 'list' && /^[ \t]/.test(line)) ? 'list' : 'text'
  }
  return parts
}

/** Lines that are kept up to the one that closes them. */
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

/** A table begins with a row above a line of delimiters; it ends with a line that is blank or begins something else. */
function inTable(line: string, next: string | undefined, wasTable: boolean): boolean {
  if (wasTable) return line.trim() !== '' && (BAR.test(line) || !/\S/.test(MARKERS.exec(line)?.[0] ?? ''))
  return BAR.test(line) && next !== undefined && isDelimiters(next)
}

/** The line between the head of a table and its rows. */
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

/** What a line follows: four blanks make code only behind something that is neither a paragraph nor a list. */
type Before = 'text' | 'list' | 'none'

/** A paragraph that the next line may go on with. */
interface OpenParagraph {
  readonly quotes: number
  readonly prose: string
}

interface LineParts {
  readonly parts: readonly MarkdownPart[]
  /** True when they take the place of the paragraph before them. */
  readonly continues: boolean
  readonly open: OpenParagraph | undefined
}

function lineParts(line: string, end: string, isTable: boolean, open: OpenParagraph | undefined): LineParts {
  const markers = MARKERS.exec(line)?.[0] ?? ''
  const rest = line.slice(markers.length)
  if (isTable || isRow(rest)) return { parts: [{ kept: markers }, ...cells(rest), { kept: end }], continues: false, open: undefined }
  const words = rest.trimEnd()
  // Two blanks, or a backslash, are a line break that is meant.
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

/** The cells of a row of a table. */
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
