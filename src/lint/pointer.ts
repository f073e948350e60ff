/** RFC 6901 pointers: their names, their values, and the lines and columns of the values in the parsed text. */
import { type Path, type Span, scan } from '../stac/json-text.ts'

/** Returns the names of a pointer, unescaped. */
export function namesOf(pointer: string): string[] {
  const names = pointer.split('/').slice(1)
  return pointer.includes('~') ? names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')) : names
}

/** Returns the own member or element of that name, else undefined. */
export function inside(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

/** Returns the value at the pointer, or undefined. */
export function valueAt(value: unknown, pointer: string): unknown {
  return namesOf(pointer).reduce(inside, value)
}

/**
 * Returns the pointer of the scheme of a finding about a type: the finding is at the `type`, or at the scheme that has none, which
 * may be named "type" itself.
 */
export function schemeOfType(pointer: string): string {
  return pointer.replace(/((?:\/summaries\/auth:schemes\/\d+|(?<!\/summaries)\/auth:schemes)\/[^/]*)\/type$/, '$1')
}

/** Lines and columns from 1, columns in UTF-16 units; the end is exclusive. A byte order mark is not counted. */
export interface Position {
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

/**
 * Returns the positions of pointers in a JSON text, found in one pass. A pointer to a missing member gets the position of the object
 * that lacks it. Of a repeated name the last member counts, as in `JSON.parse`.
 */
export function locate(text: string, pointers: Iterable<string>): ReadonlyMap<string, Position> {
  const wanted = new Set(pointers)
  const root: Step = { inside: new Map(), span: { start: 0, end: 0 } }
  for (const pointer of wanted) stepsOf(root, pointer)
  scan(text, {
    enter: (path) => (find(root, path)?.inside.size ?? 0) > 0,
    value(path, span) {
      const step = find(root, path)
      if (step) step.span = span
    },
  })
  const lines = lineStarts(text)
  return new Map([...wanted].map((pointer) => [pointer, positionOf(nearest(root, pointer), lines)]))
}

/** A node of the tree of pointers that are searched. */
interface Step {
  readonly inside: Map<string, Step>
  span?: Span
}

/** Returns the position of an offset, one character wide. */
export function positionAt(text: string, offset: number): Position {
  return positionOf({ start: offset, end: offset + 1 }, lineStarts(text))
}

/** Returns the node of a pointer; missing nodes on the way are added. */
function stepsOf(root: Step, pointer: string): readonly Step[] {
  const steps = [root]
  let step = root
  for (const name of namesOf(pointer)) {
    const next: Step = step.inside.get(name) ?? { inside: new Map() }
    step.inside.set(name, next)
    steps.push(next)
    step = next
  }
  return steps
}

function find(root: Step, path: Path): Step | undefined {
  let step: Step | undefined = root
  for (let index = 0; step && index < path.length; index++) step = step.inside.get(String(path[index]))
  return step
}

/** Returns the position of the pointer's value, or of the innermost present value around it. */
function nearest(root: Step, pointer: string): Span {
  return stepsOf(root, pointer).findLast((step) => step.span)?.span ?? { start: 0, end: 0 }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', feed + 1)) starts.push(feed + 1)
  return starts
}

function positionOf({ start, end }: Span, lines: readonly number[]): Position {
  const [line, column] = lineAndColumn(start, lines)
  const [endLine, endColumn] = lineAndColumn(end, lines)
  return { line, column, endLine, endColumn }
}

function lineAndColumn(offset: number, lines: readonly number[]): [number, number] {
  let low = 0
  let high = lines.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((lines[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return [low + 1, offset - (lines[low] ?? 0) + 1]
}
