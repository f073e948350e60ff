/** Converts CommonMark to plain text. A renderer would be larger than the whole element, and would create links to URLs of the catalog. */

/** Maximum number of characters that are read; form models cut off descriptions at the same length. */
const MAX_LENGTH = 500

/** Markup characters that are literal text are moved to private code points, from this one on, while markup is removed. */
const PRIVATE = 0xe000

/** Maximum depth of nested markup: links may contain images, and emphasis other emphasis; deeper nesting does not occur in practice. */
const MAX_DEPTH = 5

/** `[text](url "title")`, `[text][label]` and images. */
const LINK = /!?\[([^\][]*)\](?:\(\s*(?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)|\[[^\][]*\])/g

/**
 * Returns the text without its markup: links and images become their text, and marks of emphasis, headings, quotes, lists and code are
 * removed. The result is plain text: `<b>` stays unchanged.
 */
export function plainText(markdown: string): string {
  const labels = new Set<string>()
  let text = markdown
    .slice(0, MAX_LENGTH)
    .replace(/^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^[ \t]*\1[^\n]*$/gm, (_whole, _fence, code: string) => literal(code))
    .replace(/(?<!`)(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, (_whole, _ticks, code: string) => literal(code))
    .replace(/\\([!-/:-@[-`{-~])/g, (_whole, character: string) => literal(character))
    .replace(/^[ \t]*\[([^\][]+)\]:[ \t]*\S.*$/gm, (_whole, label: string) => {
      labels.add(label.toLowerCase())
      return ''
    })
    .replace(/^[ \t]*(?:(?:(?:#{1,6}|[-+*]|\d{1,9}[.)])[ \t]+|>[ \t]?)+|(?:`{3,}|~{3,}).*$|(?:[-*_=][ \t]*){3,}$)/gm, '')
    .replace(/[ \t]+#+[ \t]*$/gm, '')
    .replace(/<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>/gi, (_whole, address: string) => literal(address))
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    text = text
      .replace(LINK, '$1')
      .replace(/!?\[([^\][]+)\]/g, (whole, label: string) => (labels.has(label.toLowerCase()) ? label : whole))
      .replace(/(\*{1,3}|~~)(?=\S)([^*~]*[^\s*~])\1/g, '$2')
      .replace(/(^|[^\p{L}\p{N}_])(_{1,3})(?=\S)([^_]*[^\s_])\2(?![\p{L}\p{N}_])/gu, '$1$3')
  }
  const isCut = markdown.length >= MAX_LENGTH
  // The end of a long text may be in the middle of a link.
  if (isCut) text = text.replace(/!?\[([^\][]*)(?:\]\([^)]*)?$/, '$1')
  text = readable(text).replace(/\s+/g, ' ').trim()
  return isCut ? `${text}…` : text
}

function literal(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, (character) => String.fromCharCode(PRIVATE + character.charCodeAt(0)))
}

function readable(text: string): string {
  return text.replace(/[\ue021-\ue07e]/g, (character) => String.fromCharCode(character.charCodeAt(0) - PRIVATE))
}
