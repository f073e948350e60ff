import type { Rule } from '../rule.ts'

/** `auth:schemes` maps names to Scheme Objects. */
export const schemesShape: Rule = {
  meta: {
    id: 'schemes-shape',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { shape: '{what} must be an object' },
  },
  claim({ place, keyword, pointer, name }, { at }, report) {
    if (keyword !== 'type' || (place !== 'schemes' && place !== 'scheme')) return false
    report(at + pointer, 'shape', { what: place === 'schemes' ? 'auth:schemes' : `scheme "${name}"` })
    return true
  },
}

/** Why the rule exists, for its page. */
export const docs = 'A list, a text or a bare type name where an object is expected cannot be read by any client.'
