/** Cycles among the `auth:refs` of schemes. */
import { own, pointer } from '../stac/json.ts'
import type { SchemeNode } from './model.ts'

/** A cycle, told at its first scheme in document order. */
export interface Cycle {
  /** Names from the first scheme around to itself. */
  readonly path: readonly string[]
  /** Pointer of the ref in the first scheme that enters the cycle. */
  readonly pointer: string
}

/** One path for each group of schemes that refer to each other, shortest first. */
export function cyclesIn(schemes: readonly SchemeNode[]): readonly Cycle[] {
  const chained = schemes.filter(({ value }) => Array.isArray(own(value, 'auth:refs')))
  if (chained.length === 0) return []
  const found: Cycle[] = []
  const told = new Set<SchemeNode>()
  for (const scheme of chained) {
    if (told.has(scheme)) continue
    const path = wayBack(scheme)
    if (!path) continue
    for (const member of path) told.add(member)
    const names = [...path, scheme].map(({ name }) => name)
    found.push({ path: names, pointer: pointer(scheme.pointer, 'auth:refs', refsOf(scheme).indexOf(names[1])) })
  }
  return found
}

/** The shortest way from a scheme to itself, without the return; breadth first, so that no depth can exhaust the stack. */
function wayBack(start: SchemeNode): readonly SchemeNode[] | undefined {
  const byName = new Map(start.map.schemes.map((scheme) => [scheme.name, scheme]))
  const cameFrom = new Map<SchemeNode, SchemeNode>()
  const queue = [start]
  for (const scheme of queue) {
    for (const ref of refsOf(scheme)) {
      const next = typeof ref === 'string' ? byName.get(ref) : undefined
      if (next === start) return trace(scheme, start, cameFrom)
      if (!next || cameFrom.has(next)) continue
      cameFrom.set(next, scheme)
      queue.push(next)
    }
  }
  return undefined
}

function trace(end: SchemeNode, start: SchemeNode, cameFrom: ReadonlyMap<SchemeNode, SchemeNode>): readonly SchemeNode[] {
  const path: SchemeNode[] = []
  for (let scheme: SchemeNode | undefined = end; scheme && scheme !== start; scheme = cameFrom.get(scheme)) path.unshift(scheme)
  return [start, ...path]
}

function refsOf({ value }: SchemeNode): readonly unknown[] {
  const refs = own(value, 'auth:refs')
  return Array.isArray(refs) ? refs : []
}
