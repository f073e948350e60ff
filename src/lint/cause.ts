/** Where a mistake was made that shows in a document inside of a wrapper. */
import { type StacDocument, schemePlaces } from '../stac/document.ts'
import { pointer as append, isObject, own } from '../stac/json.ts'
import type { Part } from './parts.ts'
import { valueAt } from './pointer.ts'
import type { Cause, Problem } from './problem.ts'

/** Codes of findings about schemes that a document does not have, by what its wrapper does about it. */
const SCHEMES: Readonly<Record<string, 'lacks' | 'lends' | undefined>> = {
  'missing-schemes': 'lacks',
  'dangling-ref': 'lacks',
  'scheme-outside-document': 'lends',
}

/** Adds to a finding about a document in a wrapper, or about the wrapper, what the wrapper lacks or lends to its documents. */
export function withCause(problem: Problem, part: Part): Problem {
  const kind = SCHEMES[problem.code]
  const cause = kind && (part.wrapper || part.inside) ? causeOf(problem, kind, part) : undefined
  return cause ? { ...problem, cause } : problem
}

function causeOf(problem: Problem, kind: 'lacks' | 'lends', { wrapper, value, at }: Part): Cause | undefined {
  const around = wrapper ? at.replace(/\/[^/]*\/[^/]*$/, '') : at
  const maps = schemePlaces(wrapper ?? (value as StacDocument))
  if (kind === 'lacks') {
    // A document with schemes of its own lacks one of them itself.
    const isComplete = wrapper !== undefined && isObject(value) && schemePlaces(value).length > 0
    return isComplete ? undefined : { pointer: around + (maps[0]?.pointer ?? '') }
  }
  const ref = String(valueAt(value, problem.pointer.slice(at.length)))
  const map = maps.find(({ schemes }) => own(schemes, ref) !== undefined)
  return map && { pointer: append(around + map.pointer, ref) }
}
