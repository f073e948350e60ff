import { isUtf8 } from 'node:buffer'

/** Reads JSON and throws a `SyntaxError` also for bytes that are no UTF-8 and for a name that an object has twice. */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new SyntaxError('not UTF-8')
  if (bytes[0] === 0xef) throw new SyntaxError('a byte order mark')
  const text = bytes.toString()
  const value: unknown = JSON.parse(text)
  const twice = duplicateName(text)
  if (twice !== undefined) throw new SyntaxError(`the name ${JSON.stringify(twice)} twice`)
  return value
}

/** The first name that stands twice in one object of correct JSON. */
function duplicateName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x7b) open.push(new Set())
    else if (code === 0x5b) open.push(undefined)
    else if (code === 0x7d || code === 0x5d) open.pop()
    if (code !== 0x22) continue
    const end = endOfString(text, at)
    const names = open.at(-1)
    if (names && nextMark(text, end) === ':') {
      const name = JSON.parse(text.slice(at, end)) as string
      if (names.has(name)) return name
      names.add(name)
    }
    at = end - 1
  }
  return undefined
}

/** The place behind the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start
  for (;;) {
    at = text.indexOf('"', at + 1)
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
}

function nextMark(text: string, start: number): string | undefined {
  let at = start
  while (' \t\r\n'.includes(text[at] ?? '-')) at++
  return text[at]
}
