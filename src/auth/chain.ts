/** Scheme-level `auth:refs` (extension 1.2.0): each name is an alternative that may supply a scheme's input. */
import { SelectionError } from '../errors.ts'
import { isObject, own, pointer } from '../stac/json.ts'
import type { FoundScheme } from '../stac/scope.ts'
import { readRefs } from '../stac/target.ts'

const MAX_DEPTH = 8

interface Problem {
  readonly code: 'SCHEME_CYCLE' | 'SCHEME_NOT_FOUND' | 'SCHEME_INVALID'
  readonly message: string
  readonly pointer: string
}

/** The names in a scheme's own `auth:refs`, at most a hundred. */
export function chainRefs(scheme: unknown): readonly string[] {
  return readRefs(scheme, '').refs
}

/**
 * What is wrong with the chain below a scheme, or undefined when at least one alternative ends well. Alternatives that
 * lead into a cycle or to a missing name are left out.
 *
 * Codes: `SCHEME_CYCLE`, `SCHEME_NOT_FOUND`, `SCHEME_INVALID` (longer than 8, or not a list of names).
 */
export function chainProblem({ value, pointer: at, siblings }: FoundScheme, name: string): SelectionError | undefined {
  const base = at.slice(0, at.lastIndexOf('/'))
  /** Schemes that led nowhere: each is walked once, however many ways lead to it. */
  const dead = new Map<string, Problem>()
  const problem = walk(value, name, [])
  return problem && new SelectionError(problem.code, problem.message, { pointer: problem.pointer })

  function walk(scheme: unknown, current: string, path: readonly string[]): Problem | undefined {
    const { refs, malformedRefs = [] } = readRefs(scheme, pointer(base, current))
    const trail = [...path, current]
    let first: Problem | undefined
    for (const ref of refs) {
      const problem = follow(ref, placeOf(scheme, ref, pointer(base, current, 'auth:refs')), trail)
      if (!problem) return undefined
      first ??= problem
    }
    const [malformed] = malformedRefs
    if (malformed) first ??= { code: 'SCHEME_INVALID', message: 'the chain names something that is not text', pointer: malformed.pointer }
    return first
  }

  function follow(ref: string, place: string, trail: readonly string[]): Problem | undefined {
    if (!Object.hasOwn(siblings, ref) || !isObject(siblings[ref])) {
      return { code: 'SCHEME_NOT_FOUND', message: `the chain names "${ref}", which is not in auth:schemes`, pointer: place }
    }
    if (trail.includes(ref)) {
      return { code: 'SCHEME_CYCLE', message: `schemes refer to each other: ${[...trail, ref].join(' → ')}`, pointer: place }
    }
    if (trail.length >= MAX_DEPTH) {
      return { code: 'SCHEME_INVALID', message: `the chain of schemes is longer than ${MAX_DEPTH}`, pointer: place }
    }
    const problem = dead.get(ref) ?? walk(siblings[ref], ref, trail)
    if (problem) dead.set(ref, problem)
    return problem
  }
}

function placeOf(scheme: unknown, ref: string, at: string): string {
  const refs = own(scheme, 'auth:refs')
  return Array.isArray(refs) ? pointer(at, refs.indexOf(ref)) : at
}
