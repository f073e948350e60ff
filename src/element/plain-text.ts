/** CommonMark as plain text. A renderer would cost more than the whole element, and its links would lead where the catalog likes. */

/** Maximum number of characters that are shown. */
const MAX_LENGTH = 500

/**
 * Returns the text without its markup: links and images become their text, and marks of emphasis, headings, quotes, lists and code are
 * removed. The result is text, never markup: `<b>` stays as it is written.
 */
export function plainText(markdown: string): string {
  const text = markdown
    .slice(0, MAX_LENGTH)
    .replace(/^[ \t]*(?:(?:#{1,6}|>|[-+*]|\d{1,9}[.)])[ \t]+|(?:`{3,}|~{3,}).*$|(?:[-*_=][ \t]*){3,}$)/gm, '')
    .replace(/!?\[([^\][]*)\]\([^()\s]*(?:\s+"[^"]*")?\)/g, '$1')
    .replace(/(\*{1,3}|~~|`+)(?=\S)([^*~`]*[^\s*~`])\1/g, '$2')
    .replace(/(^|[\s(])(_{1,3})(?=\S)([^_]*[^\s_])\2(?=$|[\s.,;:!?)])/g, '$1$3')
    .replace(/\s+/g, ' ')
    .trim()
  return markdown.length > MAX_LENGTH ? `${text}…` : text
}
