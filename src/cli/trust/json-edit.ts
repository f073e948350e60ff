/** Changes to a JSON text that leave the rest of it as its author wrote it. */
import { isDeepStrictEqual } from 'node:util'
import { type Path, type Span, scan } from '../../stac/json-scan.ts'

/** An object or array, and where each member (with its name) or element begins and ends. */
interface Container {
  readonly span: Span
  readonly items: readonly Span[]
}

/** The text with one more element at the end of the array, or undefined when there is no array at that path. */
export function appended(text: string, path: Path, value: unknown): string | undefined {
  const array = containerAt(text, path)
  if (array === undefined || text[array.span.start] !== '[') return undefined
  return withItem(text, array, (space, indent) => stringify(value, space, indent))
}

/** The text with one more member at the end of the object, or undefined when there is no object at that path. */
export function extended(text: string, path: Path, name: string, value: unknown): string | undefined {
  const object = containerAt(text, path)
  if (object === undefined || text[object.span.start] !== '{') return undefined
  return withItem(text, object, (space, indent) => `${JSON.stringify(name)}: ${stringify(value, space, indent)}`)
}

/** Writes an item after the last one, in the same way: on a line of its own or not. */
function withItem(text: string, { span, items }: Container, write: (space: number, indent: string) => string): string {
  const last = items.at(-1)
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n'
  const put = (at: number, end: number, item: string) => text.slice(0, at) + item.replace(/\r?\n/g, lineBreak) + text.slice(end)
  if (!last) {
    const indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, span.start))?.[1] ?? ''
    const [open, close] = [text[span.start], text[span.end - 1]]
    return put(span.start, span.end, `${open}\n${indent}  ${write(2, `${indent}  `)}\n${indent}${close}`)
  }
  const gap = /\s*$/.exec(text.slice(0, last.start))?.[0] ?? ''
  const indent = gap.includes('\n') ? gap.slice(gap.lastIndexOf('\n') + 1) : undefined
  const between = indent === undefined && items.length === 1 && gap === '' ? ' ' : gap
  return put(last.end, last.end, `,${between}${indent === undefined ? write(0, '') : write(2, indent)}`)
}

function stringify(value: unknown, space: number, indent: string): string {
  return JSON.stringify(value, undefined, space).replaceAll('\n', `\n${indent}`)
}

/** Of a name that stands twice the last one is meant, as `JSON.parse` takes it. */
function containerAt(text: string, path: Path): Container | undefined {
  let span: Span | undefined
  let items: { start: number; end: number }[] = []
  const within = (at: Path, length: number) => at.length === length && isDeepStrictEqual(at.slice(0, path.length), path.slice(0, length))
  const problem = scan(text, {
    enter(at) {
      if (within(at, path.length)) items = []
      return at.length <= path.length && within(at, at.length)
    },
    member(at, { start }) {
      if (within(at, path.length + 1)) items.push({ start, end: start })
    },
    value(at, found) {
      if (within(at, path.length)) span = found
      if (!within(at, path.length + 1)) return
      const item = items.at(-1)
      if (typeof at.at(-1) === 'string' && item) item.end = found.end
      else items.push({ ...found })
    },
  })
  return problem === undefined && span ? { span, items } : undefined
}
