/** A walk over everything in a value, so that what is rare can be skipped when it cannot be there. */
import { pointer } from '../stac/json.ts'

/** Depth of nesting that is still read. */
export const DEPTH_LIMIT = 64

/** What a walk counted. */
export interface Survey {
  /** Members of objects, and strings that are values: together they tell how many quotes a text must have. */
  members: number
  strings: number
  /** Members whose names could be fields of the extension, also misspelt. */
  fields: number
  /** Pointer of the first value below the depth limit; the walk ends there. */
  tooDeep: string | undefined
}

/** Walks a value that stands at `depth`; `skip` names a member of the root that is left out but for its own name. */
export function survey(value: unknown, depth: number, skip?: string): Survey {
  const result = emptySurvey()
  countIn(value, depth, result, skip)
  return result
}

/** A survey of nothing yet. */
export function emptySurvey(): Survey {
  return { members: 0, strings: 0, fields: 0, tooDeep: undefined }
}

/** True for names like `auth:refs`, `auth_schemes`, `AuthRefs` or `atuh:refs`, not for `author`, `authorizationUrl` or `auto:refs`. */
export function looksLikeField(name: string): boolean {
  return /^auth[:_\-. rs]/i.test(name) || MISSPELT_PREFIX.test(name)
}

/** One slip away from `auth`, which leaves out words that others may have as their prefix, and then one of the two fields. */
const MISSPELT_PREFIX = /^(?:ath|auh|aut|auht|atuh|auths|aauth|auuth|autth|authh|au[a-z]h|aut[a-np-z])[:_\-. ](?:ref|scheme)s?$/i

/** Counts the name of a member; true when it could be a field of the extension. */
export function countName(name: string, result: Survey): boolean {
  result.members++
  // Nearly all names differ from all that the patterns match in one of the first two letters: a, then u, t or a.
  if ((name.charCodeAt(0) | 32) !== 97) return false
  const second = name.charCodeAt(1) | 32
  if ((second !== 117 && second !== 116 && second !== 97) || !looksLikeField(name)) return false
  result.fields++
  return true
}

/** Adds a value that stands at `depth`. A pointer to what is too deep starts at the value. */
export function countIn(value: unknown, depth: number, result: Survey, skip?: string): void {
  if (typeof value === 'string') {
    result.strings++
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > DEPTH_LIMIT) {
    result.tooDeep = ''
    return
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const element = value[index]
      if (typeof element === 'number') continue
      countIn(element, depth + 1, result)
      if (result.tooDeep !== undefined) {
        result.tooDeep = `/${index}${result.tooDeep}`
        return
      }
    }
    return
  }
  walkObject(value as Record<string, unknown>, depth, result, skip)
}

function walkObject(object: Record<string, unknown>, depth: number, result: Survey, skip: string | undefined): void {
  for (const name in object) {
    countName(name, result)
    if (name === skip) continue
    const value = object[name]
    if (typeof value === 'string') result.strings++
    else if (typeof value === 'object' && value !== null) {
      countIn(value, depth + 1, result)
      if (result.tooDeep !== undefined) {
        result.tooDeep = pointer('', name) + result.tooDeep
        return
      }
    }
  }
}
