/** A strict scanner of JSON text: tells where things stand, which `JSON.parse` does not. Iterative, so depth is no danger. */

/** A value that the scanner has come to the end of. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Names and indexes that lead to a value. */
export type Path = readonly (string | number)[]

/** What a scan tells while it goes. The path is reused: copy what is to be kept. */
export interface Listener {
  /** A member's name, with its position. The path leads to the member's value. */
  member?(path: Path, name: Span): void
  value?(path: Path, span: Span): void
  /** Asked at each object and array; false passes over what is in it, unchecked and without a word. */
  enter?(path: Path): boolean
}

/** An object or array that is still open. */
interface Open {
  readonly start: number
  readonly array: boolean
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/** Scans the text. Undefined when it is JSON, else the offset of the first character that cannot be. */
export function scan(text: string, listener: Listener = {}): number | undefined {
  const path: (string | number)[] = []
  const open: Open[] = []
  let at = skip(text, 0)
  for (;;) {
    const start = at
    const character = text[at]
    if (character === '{' || character === '[') {
      const array = character === '['
      const passed = listener.enter?.(path) === false
      at = passed ? endOf(text, at) - 1 : skip(text, at + 1)
      if (!passed && text[at] !== (array ? ']' : '}')) {
        open.push({ start, array })
        if (array) path.push(0)
        else {
          path.push('')
          const next = member(text, at, path, listener)
          if (next < 0) return ~next
          at = next
        }
        continue
      }
      at++
    } else {
      at = scalar(text, at)
      if (at < 0) return ~at
    }
    listener.value?.(path, { start, end: at })
    const next = close(text, at, path, open, listener)
    if (next.done) return next.at < text.length ? next.at : undefined
    if (next.at < 0) return ~next.at
    at = next.at
  }
}

/** After a value: closes what ends here and goes to the next element or member. Errors are inverted offsets. */
function close(text: string, end: number, path: (string | number)[], open: Open[], listener: Listener): { at: number; done: boolean } {
  let at = skip(text, end)
  for (;;) {
    const around = open.at(-1)
    if (!around) return { at, done: true }
    if (text[at] === ',') {
      at = skip(text, at + 1)
      if (!around.array) return { at: member(text, at, path, listener), done: false }
      path.push((path.pop() as number) + 1)
      return { at, done: false }
    }
    if (text[at] !== (around.array ? ']' : '}')) return { at: ~at, done: false }
    open.pop()
    path.pop()
    listener.value?.(path, { start: around.start, end: at + 1 })
    at = skip(text, at + 1)
  }
}

/** Reads a name and its colon, and puts the name on top of the path. */
function member(text: string, at: number, path: (string | number)[], listener: Listener): number {
  if (text[at] !== '"') return ~at
  const end = scalar(text, at)
  if (end < 0) return end
  const name = text.slice(at + 1, end - 1)
  path[path.length - 1] = name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name
  listener.member?.(path, { start: at, end })
  const colon = skip(text, end)
  return text[colon] === ':' ? skip(text, colon + 1) : ~colon
}

/** End of the string, number or word at that offset, or the inverted offset of what is wrong in it. */
function scalar(text: string, at: number): number {
  if (text[at] === '"') return string(text, at + 1)
  return after(NUMBER, text, at) ?? after(WORD, text, at) ?? ~at
}

function string(text: string, at: number): number {
  for (;;) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) return at + 1
    if (unit === 0x5c) {
      const end = after(ESCAPE, text, at)
      if (end === undefined) return ~at
      at = end
    } else if (unit >= 0x20) at++
    else return ~at // a control character, or the end of the text (NaN)
  }
}

/** End of the object or array that opens at that offset; the text must be JSON. */
function endOf(text: string, at: number): number {
  let open = 0
  for (;;) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) at = string(text, at + 1) - 1
    else if (unit === 0x7b || unit === 0x5b) open++
    else if ((unit === 0x7d || unit === 0x5d) && --open === 0) return at + 1
    at++
  }
}

/** End of a sticky pattern's match at that offset. */
function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Offset of the first character from there on that is no blank. */
function skip(text: string, at: number): number {
  let unit = text.charCodeAt(at)
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = text.charCodeAt(++at)
  return at
}
