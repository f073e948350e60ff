/** Scheme-level `auth:refs` (extension 1.2.0): each name is an alternative that may supply a scheme's input. */
import { SelectionError } from '../errors.ts'
import { isObject, own, pointer } from '../stac/json.ts'
import type { FoundScheme } from '../stac/scope.ts'

const MAX_DEPTH = 8

interface Problem {
  readonly code: 'SCHEME_CYCLE' | 'SCHEME_NOT_FOUND' | 'SCHEME_INVALID'
  readonly message: string
  readonly pointer: string
}

/** The names in a scheme's own `auth:refs`, at most a hundred. */
export function chainRefs(scheme: unknown): readonly string[] {
  const refs = own(scheme, 'auth:refs')
  return Array.isArray(refs) ? refs.slice(0, 100).filter((ref) => typeof ref === 'string') : []
}

/**
 * What is wrong with the chain below a scheme, or undefined when at least one alternative ends well. Alternatives that
 * lead into a cycle or to a missing name are left out.
 *
 * Codes: `SCHEME_CYCLE`, `SCHEME_NOT_FOUND`, `SCHEME_INVALID` (longer than 8).
 */
export function chainProblem({ value, pointer: at, siblings }: FoundScheme, name: string): SelectionError | undefined {
  const base = at.slice(0, at.lastIndexOf('/'))
  /** Schemes that led nowhere: each is walked once, however many ways lead to it. */
  const dead = new Map<string, Problem>()
  const problem = walk(value, name, [])
  return problem && new SelectionError(problem.code, problem.message, { pointer: problem.pointer })

  function walk(scheme: unknown, current: string, path: readonly string[]): Problem | undefined {
    const refs = own(scheme, 'auth:refs')
    if (!Array.isArray(refs) || refs.length === 0) return undefined
    const trail = [...path, current]
    let first: Problem | undefined
    for (let index = 0; index < refs.length; index++) {
      const problem = follow(refs[index], pointer(base, current, 'auth:refs', index), trail)
      if (!problem) return undefined
      first ??= problem
    }
    return first
  }

  function follow(ref: unknown, place: string, trail: readonly string[]): Problem | undefined {
    if (typeof ref !== 'string') return { code: 'SCHEME_NOT_FOUND', message: 'the chain names something that is no text', pointer: place }
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
