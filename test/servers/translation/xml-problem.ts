const TAG =
  /<(?:!--([\s\S]*?)-->|!\[CDATA\[[\s\S]*?\]\]>|\?[\s\S]*?\?>|(\/)?([A-Za-z_][\w:.-]*)((?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/)?>)/g
const ENTITY = /&(?!(?:amp|lt|gt|apos|quot|#\d+|#x[\da-fA-F]+);)/

/** Why a text is no well-formed XML content; nothing when it is. */
export function xmlProblem(text: string): string | undefined {
  if (ENTITY.test(text)) return 'an ampersand that begins no entity'
  const open: string[] = []
  let problem: string | undefined
  const rest = text.replace(TAG, (_whole, _comment, closes?: string, name?: string, _attributes?: string, empty?: string) => {
    if (name === undefined || empty) return ''
    if (!closes) open.push(name)
    else if (open.pop() !== name) problem ??= `</${name}> closes nothing`
    return ''
  })
  if (problem) return problem
  if (rest.includes('<')) return 'a tag that cannot be read'
  return open.length ? `<${open.at(-1)}> is not closed` : undefined
}
