/** JSON text that is edited in place: what is not meant keeps its bytes, its order and its blanks. */
import { pointer as append, type JsonObject } from './json.ts'
import { type Path, type Span, scan } from './json-scan.ts'

/** A span of the text and what takes its place. */
export interface Edit extends Span {
  readonly text: string
}

/** A value in the text. */
interface Node {
  start: number
  end: number
  /** Where its name stands, or the value itself in a list. */
  readonly from: number
  readonly nameEnd: number
  readonly parent: Node | undefined
  readonly children: Node[]
}

/** Coordinates are long and hold nothing of ours. */
const PASSED_OVER = new Set(['coordinates', 'geometries'])

/** The text after edits that do not overlap. Those at the same place follow in the order in which they are given. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let edited = ''
  let at = 0
  for (const { start, end, text: put } of [...edits].sort((one, other) => one.start - other.start || one.end - other.end)) {
    edited += text.slice(at, start) + put
    at = end
  }
  return edited + text.slice(at)
}

/** Where everything stands in a JSON text, and the edits that change it. Edits are spans of this text; none is applied. */
export class JsonText {
  readonly #text: string
  readonly #nodes = new Map<string, Node>()
  readonly #eol: string

  /** The text must be JSON. Of a name that stands twice in an object the last one counts. */
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

  /** Puts a value in the place of another. */
  replace(pointer: string, value: unknown): readonly Edit[] | undefined {
    const node = this.#nodes.get(pointer)
    return node && [{ start: node.start, end: node.end, text: JSON.stringify(value) }]
  }

  /** Puts brackets around a value. */
  wrap(pointer: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(pointer)
    return node && [{ start: node.start, end: node.end, text: `[${this.#text.slice(node.start, node.end)}]` }]
  }

  /** Gives a member another name; undefined when there is one of that name. */
  rename(pointer: string, name: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(pointer)
    if (!node || node.nameEnd < 0 || this.#nodes.has(append(pointer.slice(0, pointer.lastIndexOf('/')), name))) return undefined
    return [{ start: node.from, end: node.nameEnd, text: JSON.stringify(name) }]
  }

  /** Takes out a member or an element with its comma. */
  remove(pointer: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(pointer)
    if (!node?.parent) return undefined
    const { children, start, end } = node.parent
    const index = children.indexOf(node)
    const before = children[index - 1]
    const after = children[index + 1]
    if (before) return [{ start: before.end, end: node.end, text: '' }]
    return [after ? { start: node.from, end: after.from, text: '' } : { start: start + 1, end: end - 1, text: '' }]
  }

  /** Puts an object into another one, as its only member. */
  nest(pointer: string, name: string): readonly Edit[] | undefined {
    const node = this.#nodes.get(pointer)
    if (!node || this.#text[node.start] !== '{') return undefined
    const value = this.#text.slice(node.start, node.end)
    const colon = this.#isAiry(node) ? ': ' : ':'
    const line = this.#text.lastIndexOf('\n', node.start) + 1
    const outer = this.#eol + (/^[ \t]*/.exec(this.#text.slice(line))?.[0] ?? '')
    // No string holds a line end, so each line can be moved by one level.
    const text = value.includes('\n')
      ? `{${outer}${this.#unit()}${JSON.stringify(name)}${colon}${value.replaceAll('\n', `\n${this.#unit()}`)}${outer}}`
      : `{${JSON.stringify(name)}${colon}${value}}`
    return [{ start: node.start, end: node.end, text }]
  }

  /** Adds a member behind the others; undefined when there is one of that name, or no object. */
  insert(pointer: string, name: string, value: unknown): readonly Edit[] | undefined {
    return this.insertAll(pointer, { [name]: value })
  }

  /** Adds members behind the others; undefined when there is one of their names, or no object. */
  insertAll(pointer: string, members: JsonObject): readonly Edit[] | undefined {
    const node = this.#nodes.get(pointer)
    const names = Object.keys(members)
    if (!node || this.#text[node.start] !== '{' || names.some((name) => this.#nodes.has(append(pointer, name)))) return undefined
    const gap = this.#gapIn(node)
    const colon = this.#isAiry(node) ? ': ' : ':'
    return this.#add(node, gap, names.map((name) => JSON.stringify(name) + colon + this.#written(members[name], gap)).join(`,${gap}`))
  }

  /** Adds an element behind the others; undefined when it is no list. */
  push(pointer: string, value: unknown): readonly Edit[] | undefined {
    const node = this.#nodes.get(pointer)
    if (!node || this.#text[node.start] !== '[') return undefined
    const gap = this.#gapIn(node)
    return this.#add(node, gap, this.#written(value, gap))
  }

  #add({ children, start, end }: Node, gap: string, text: string): readonly Edit[] {
    const last = children.at(-1)
    if (last) return [{ start: last.end, end: last.end, text: `,${gap}${text}` }]
    const close = gap.includes('\n') ? gap.slice(0, gap.length - this.#unit().length) : gap
    return [{ start: start + 1, end: end - 1, text: `${gap}${text}${close}` }]
  }

  /** The blanks before each child: as before the last one, else one level deeper than the line of the container. */
  #gapIn(node: Node): string {
    const last = node.children.at(-1)
    if (last) return blanksBefore(this.#text, last.from)
    if (!this.#text.trimEnd().includes('\n')) return ''
    const line = this.#text.lastIndexOf('\n', node.start) + 1
    return this.#eol + (/^[ \t]*/.exec(this.#text.slice(line))?.[0] ?? '') + this.#unit()
  }

  /** One level of indentation, as the root has it. */
  #unit(): string {
    const first = this.#nodes.get('')?.children[0]
    const indent = first && /\n([ \t]+)$/.exec(this.#text.slice(0, first.from))?.[1]
    return indent ?? '  '
  }

  /** A value as the lines around it are written: on one line, or indented. */
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

/** Read backwards: a pattern would begin anew at every blank of every text before. */
function blanksBefore(text: string, end: number): string {
  let start = end
  while (/[ \t\r\n]/.test(text[start - 1] ?? '')) start--
  return text.slice(start, end)
}
