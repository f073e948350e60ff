import { valueAt } from '../pointer.ts'
import type { Rule } from '../rule.ts'

/** Refs are a list of names. */
export const refsShape: Rule = {
  meta: {
    id: 'refs-shape',
    section: 'references',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { shape: 'auth:refs must be an array of scheme names', element: 'an element of auth:refs must be the name of a scheme' },
    fix: 'safe',
  },
  claim({ place, keyword, pointer, name }, { at, object }, report) {
    if (place !== 'refs' || keyword !== 'type') return false
    const lone = name === 'auth:refs' && typeof valueAt(object, pointer) === 'string'
    report(at + pointer, name === 'auth:refs' ? 'shape' : 'element', { fix: lone && 'safe' })
    return true
  },
}

/** Why the rule exists, for its page. */
export const docs = 'References look the same on assets and links: an array of strings, also for a single name.'
