/** How deep JSON text is nested, found out before anything is parsed and without recursion. */
import { pointer } from './json.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a

/**
 * The pointer of the first object or array that stands more than `limit` deep (the outermost is 1 deep), or undefined.
 *
 * It has `limit` names. The text may be broken JSON; then only nesting counts.
 */
export function tooDeepAt(text: string, limit: number): string | undefined {
  if (!opensMore(text, limit)) return undefined
  const isArray: boolean[] = []
  const indexes: number[] = []
  const keys: (readonly [start: number, end: number])[] = []
  let last: readonly [number, number] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const depth = isArray.length
    if (code === QUOTE) {
      const end = stringEnd(text, at)
      last = [at, end]
      at = end - 1
    } else if (code === 0x7b || code === 0x5b) {
      if (depth === limit) return pointer('', ...isArray.map((array, level) => (array ? (indexes[level] ?? 0) : keyAt(text, keys[level]))))
      isArray.push(code === 0x5b)
      indexes[depth] = 0
      keys[depth] = [0, 0]
    } else if (code === 0x7d || code === 0x5d) isArray.pop()
    else if (depth === 0) continue
    else if (code === COMMA) indexes[depth - 1] = (indexes[depth - 1] ?? 0) + 1
    else if (code === COLON) keys[depth - 1] = last
  }
  return undefined
}

/** True when that many could stand inside of each other: most documents have too few braces and brackets for that. */
function opensMore(text: string, limit: number): boolean {
  let found = 0
  for (const opener of ['{', '[']) {
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1)) if (++found > limit) return true
  }
  return false
}

/** The place after the closing quote of the string that starts at `start`; the end of the text when there is none. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

function keyAt(text: string, [start, end]: readonly [number, number] = [0, 0]): string {
  try {
    return String(JSON.parse(text.slice(start, end)))
  } catch {
    return ''
  }
}
