/** CommonMark taken apart into what is written for people and what gives it its form. */

/** Text that is kept as it is, or prose: the words of one paragraph, heading, list item or cell, on one line. */
export type MarkdownPart = { readonly kept: string } | { readonly prose: string }

/** Signs at the beginning of a line: quotes, list items, headings. */
const MARKERS = /^[ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t]))[ \t]*)*/
const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/
/** Lines without words: blank ones, rules, the line below a heading or the head of a table; and where a reference leads. */
const WORDLESS = /^[-=*_|:> \t]*$|^[ \t>]*\[[^\]]+\]:[ \t]*\S/
const LIST_ITEM = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/

/** The parts of a text: joined, with the prose as it is, they are the same document; its soft line breaks have become blanks. */
export function markdownParts(markdown: string): readonly MarkdownPart[] {
  const parts: MarkdownPart[] = []
  let fence: string | undefined
  let open: OpenParagraph | undefined
  let before: Before = 'none'
  for (const [whole, line = '', end = ''] of markdown.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g)) {
    if (whole === '') continue
    const opening = fence === undefined ? FENCE.exec(line)?.[1] : undefined
    if (fence !== undefined || opening !== undefined || WORDLESS.test(line) || isCode(line, before)) {
      fence = fence !== undefined && closes(line, fence) ? undefined : (fence ?? opening)
      parts.push({ kept: whole })
      open = undefined
      before = before === 'list' && /^(?:[ \t]|$)/.test(line) ? 'list' : 'none'
      continue
    }
    const added = lineParts(line, end, open)
    // The line end between the lines of a paragraph goes with what was read of it.
    if (added.continues) parts.splice(-2)
    parts.push(...added.parts)
    open = added.open
    before = LIST_ITEM.test(line) || (before === 'list' && /^[ \t]/.test(line)) ? 'list' : 'text'
  }
  return parts
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

function lineParts(line: string, end: string, open: OpenParagraph | undefined): LineParts {
  const markers = MARKERS.exec(line)?.[0] ?? ''
  const rest = line.slice(markers.length)
  if (isRow(rest)) return { parts: [{ kept: markers }, ...cells(rest), { kept: end }], continues: false, open: undefined }
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

/** The cells of a row of a table. A bar behind a backslash divides nothing. */
function cells(row: string): readonly MarkdownPart[] {
  return row.split(/((?<!\\)\|)/).flatMap((piece): readonly MarkdownPart[] => {
    const words = piece.trim()
    if (words === '' || words === '|') return [{ kept: piece }]
    const start = piece.length - piece.trimStart().length
    return [{ kept: piece.slice(0, start) }, { prose: words }, { kept: piece.slice(start + words.length) }]
  })
}

function isCode(line: string, before: Before): boolean {
  return before === 'none' && /^(?: {4}|\t)/.test(line)
}

function closes(line: string, fence: string): boolean {
  const mark = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1]
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length
}
