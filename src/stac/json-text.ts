/** Edits JSON text: everything else keeps its bytes, order and whitespace. */
import { pointer as append, type JsonObject, pointer } from './document.ts'

/** A span of the text and its replacement. */
export interface Edit extends Span {
  readonly text: string
}

/** A value in the text. */
interface Node {
  start: number
  end: number
  /** Start of its name, or of the value itself in a list. */
  readonly from: number
  readonly nameEnd: number
  readonly parent: Node | undefined
  readonly children: Node[]
}

/** Members that are skipped: coordinates are long and never contain fields of the extension. */
const PASSED_OVER = new Set(['coordinates', 'geometries'])

/** Returns the text after edits, which must not overlap. Edits at the same place are applied in the given order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let edited = ''
  let at = 0
  for (const { start, end, text: put } of [...edits].sort((one, other) => one.start - other.start || one.end - other.end)) {
    edited += text.slice(at, start) + put
    at = end
  }
  return edited + text.slice(at)
}

/** The positions of all values of a JSON text, and edits that change it. Edits are spans of this text; none is applied. */
export class JsonText {
  readonly #text: string
  readonly #nodes = new Map<string, Node>()
  readonly #eol: string

  /** @param text must be JSON; of a repeated name in an object, the last one counts */
  constructor(text: string) {
    this.#text = text
    this.#eol = text.includes('\r\n') ? '\r\n' : '\n'
    const open: Node[] = []
    const names: Span[] = []
    const begin = (path: Path, from: number, nameEnd: number): Node => {
      const parent = path.length === 0 ? undefined : open[path.length - 1]
      const node: Node = { start: from, end: from, from, nameEnd, parent, children: [] }
      open[path.length] = node
      return node
    }
    scan(text, {
      member: (path, name) => {
        names[path.length] = name
      },
      enter: (path) => {
        const name = names[path.length]
        const inList = typeof path.at(-1) === 'number' || path.length === 0
        begin(path, inList ? -1 : (name?.start ?? -1), inList ? -1 : (name?.end ?? -1))
        return !PASSED_OVER.has(String(path.at(-1)))
      },
      value: (path, { start, end }) => {
        const container = text[start] === '{' || text[start] === '['
        const name = typeof path.at(-1) === 'string' ? names[path.length] : undefined
        const node = container ? (open[path.length] as Node) : begin(path, name?.start ?? start, name?.end ?? -1)
        const placed = Object.assign(node, { start, end, from: node.from < 0 ? start : node.from })
        placed.parent?.children.push(placed)
        this.#nodes.set(append('', ...path), placed)
      },
    })
  }

  /** Replaces a value. */
  replace(at: string, value: unknown): readonly Edit[] | undefined {
    const node = this.#nodes.get(at)
    return node && [{ start: node.start, end: node.end, text: JSON.stringify(value) }]
  }

  /** Wraps a value in an array. */
  wrap(at: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(at)
    return node && [{ start: node.start, end: node.end, text: `[${this.#text.slice(node.start, node.end)}]` }]
  }

  /** Renames a member; undefined when there is one of that name. */
  rename(at: string, name: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(at)
    if (!node || node.nameEnd < 0 || this.#nodes.has(append(at.slice(0, at.lastIndexOf('/')), name))) return undefined
    return [{ start: node.from, end: node.nameEnd, text: JSON.stringify(name) }]
  }

  /** Removes a member or an element with its comma. */
  remove(at: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(at)
    if (!node?.parent) return undefined
    const { children, start, end } = node.parent
    const index = children.indexOf(node)
    const before = children[index - 1]
    const following = children[index + 1]
    if (before) return [{ start: before.end, end: node.end, text: '' }]
    return [following ? { start: node.from, end: following.from, text: '' } : { start: start + 1, end: end - 1, text: '' }]
  }

  /** Wraps an object in another one, as its only member. */
  nest(at: string, name: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(at)
    if (!node || this.#text[node.start] !== '{') return undefined
    const value = this.#text.slice(node.start, node.end)
    const colon = this.#isAiry(node) ? ': ' : ':'
    const line = this.#text.lastIndexOf('\n', node.start) + 1
    const outer = this.#eol + (/^[ \t]*/.exec(this.#text.slice(line))?.[0] ?? '')
    // No string contains a line end, so each line can be indented by one level.
    const text = value.includes('\n')
      ? `{${outer}${this.#unit()}${JSON.stringify(name)}${colon}${value.replaceAll('\n', `\n${this.#unit()}`)}${outer}}`
      : `{${JSON.stringify(name)}${colon}${value}}`
    return [{ start: node.start, end: node.end, text }]
  }

  /** Adds a member after the others; undefined if there is one of that name, or no object. */
  insert(at: string, name: string, value: unknown): readonly Edit[] | undefined {
    return this.insertAll(at, { [name]: value })
  }

  /** Adds members after the others; undefined if there is one of their names, or no object. */
  insertAll(at: string, members: JsonObject): readonly Edit[] | undefined {
    const node = this.#nodes.get(at)
    const names = Object.keys(members)
    if (!node || this.#text[node.start] !== '{' || names.some((name) => this.#nodes.has(append(at, name)))) return undefined
    const gap = this.#gapIn(node)
    const colon = this.#isAiry(node) ? ': ' : ':'
    return this.#add(node, gap, names.map((name) => JSON.stringify(name) + colon + this.#written(members[name], gap)).join(`,${gap}`))
  }

  /** Adds an element after the others; undefined if it is not a list. */
  push(at: string, value: unknown): readonly Edit[] | undefined {
    const node = this.#nodes.get(at)
    if (!node || this.#text[node.start] !== '[') return undefined
    const gap = this.#gapIn(node)
    return this.#add(node, gap, this.#written(value, gap))
  }

  #add({ children, start, end }: Node, gap: string, text: string): readonly Edit[] {
    const last = children.at(-1)
    if (last) return [{ start: last.end, end: last.end, text: `,${gap}${text}` }]
    const gapBefore = gap.includes('\n') ? gap.slice(0, gap.length - this.#unit().length) : gap
    return [{ start: start + 1, end: end - 1, text: `${gap}${text}${gapBefore}` }]
  }

  /** Returns the whitespace before each child: as before the last one, else one level deeper than the line of the container. */
  #gapIn(node: Node): string {
    const last = node.children.at(-1)
    if (last) return blanksBefore(this.#text, last.from)
    if (!this.#text.trimEnd().includes('\n')) return ''
    const line = this.#text.lastIndexOf('\n', node.start) + 1
    return this.#eol + (/^[ \t]*/.exec(this.#text.slice(line))?.[0] ?? '') + this.#unit()
  }

  /** One level of indentation, as used in the root. */
  #unit(): string {
    const first = this.#nodes.get('')?.children[0]
    const indent = first && /\n([ \t]+)$/.exec(this.#text.slice(0, first.from))?.[1]
    return indent ?? '  '
  }

  /** Formats a value in the style of the lines around it: on one line, or indented. */
  #written(value: unknown, gap: string): string {
    const flat = !gap.includes('\n') || (Array.isArray(value) && value.length < 2)
    if (flat) return JSON.stringify(value)
    const indent = gap.slice(gap.lastIndexOf('\n') + 1)
    return JSON.stringify(value, undefined, this.#unit()).replaceAll('\n', `${this.#eol}${indent}`)
  }

  /** True when a blank follows the colons. */
  #isAiry({ children }: Node): boolean {
    const sample = children.at(-1) ?? this.#nodes.get('')?.children[0]
    return sample !== undefined && sample.nameEnd >= 0 && /\s/.test(this.#text.slice(sample.nameEnd, sample.start))
  }
}

/** Returns the whitespace before an offset. Searches backwards: a pattern would restart at every blank before. */
function blanksBefore(text: string, end: number): string {
  let start = end
  while (/[ \t\r\n]/.test(text[start - 1] ?? '')) start--
  return text.slice(start, end)
}

/** The position of a value or a name. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Names and indexes from the root to a value. */
export type Path = readonly (string | number)[]

/** Callbacks of a scan. The path is reused: copy it to keep it. */
interface Listener {
  /** A member's name, with its position. The path leads to the member's value. */
  member?(path: Path, name: Span): void
  value?(path: Path, span: Span): void
  /** Called at each object and array; false skips its content, which is then neither checked nor reported. */
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

/** Scans the text. Returns undefined when it is JSON, else the offset of the first invalid character. */
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

/** Continues after a value: closes containers that end here and moves to the next element or member. Errors are inverted offsets. */
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

/** Reads a name and its colon, and appends the name to the path. */
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

/** Returns the end of the string, number or literal at that offset, or the inverted offset of its error. */
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

/** Returns the end of the object or array that starts at that offset, which is that of the text where it is not closed. */
function endOf(text: string, at: number): number {
  let open = 0
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) at = stringEnd(text, at) - 1
    else if (unit === 0x7b || unit === 0x5b) open++
    else if ((unit === 0x7d || unit === 0x5d) && --open === 0) return at + 1
  }
  return at
}

/** Returns the end of a sticky pattern's match at that offset. */
function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Returns the offset of the first character from `at` on that is not a blank. */
function skip(text: string, at: number): number {
  let unit = text.charCodeAt(at)
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = text.charCodeAt(++at)
  return at
}

const QUOTE = 0x22

const COMMA = 0x2c

const COLON = 0x3a

/**
 * Returns the pointer of the first object or array at a depth above `limit` (the outermost has 1), or undefined.
 *
 * The pointer has `limit` names. The text may be malformed JSON; then only nesting counts.
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

/** True if the text has enough braces and brackets for that depth: most documents have too few. */
function opensMore(text: string, limit: number): boolean {
  let found = 0
  for (const opener of ['{', '[']) {
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1)) if (++found > limit) return true
  }
  return false
}

/** Returns the offset after the closing quote of the string that starts at `start`, or the end of the text. */
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

/** A name that an object has more than once; `pointer` is that of the value. */
interface DuplicateKey {
  readonly pointer: string
  readonly name: string
}

/** Returns each name that an object of the text has more than once. The text must be JSON. */
export function duplicateKeys(text: string): readonly DuplicateKey[] {
  const seen: Set<string>[] = []
  const found = new Map<string, DuplicateKey>()
  let before = 0
  scan(text, {
    member(path) {
      const depth = path.length
      if (depth > before) seen[depth] = new Set()
      before = depth
      const name = String(path[depth - 1])
      const names = (seen[depth] ??= new Set())
      if (names.has(name)) found.set(append('', ...path), { pointer: append('', ...path), name })
      names.add(name)
    },
    value(path) {
      before = Math.min(before, path.length)
    },
  })
  return [...found.values()]
}
