/** Names of findings that outlive edits. */
import { pointer as append, ownString } from '../stac/json.ts'
import { inside, namesOf } from './pointer.ts'
import type { Problem } from './problem.ts'
import type { About } from './runner.ts'

/**
 * What names a finding from one edit of a catalog to the next: its code, the `id` (or else the name) of its document, and
 * its pointer from there, in which elements go by what they are instead of by their number. Several findings may share one.
 */
function fingerprintOf({ code, id, document: name = '', pointer }: Problem, { document, at }: About): string {
  let value = document
  let path = ''
  for (const name of namesOf(pointer.slice(at.length))) {
    const inner = inside(value, name)
    path = append(path, (Array.isArray(value) && labelOf(inner)) || name)
    value = inner
  }
  return `${code} ${id ?? name} ${path}`
}

/** The finding with its fingerprint. */
export function withFingerprint(problem: Problem, about: About): Problem {
  return { ...problem, fingerprint: fingerprintOf(problem, about) }
}

/** Queries may hold secrets, and change with them. */
function labelOf(element: unknown): string | undefined {
  const label = typeof element === 'string' ? element : (ownString(element, 'rel') ?? ownString(element, 'id'))
  return label?.replace(/[?#].*/s, '').slice(0, 100)
}
