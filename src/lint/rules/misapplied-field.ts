import { own, ownString } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'
import { FIELD_TYPES } from '../vocabulary.ts'

/** A field stands on the types that it belongs to. */
export const misappliedField: Rule = {
  meta: {
    id: 'misapplied-field',
    section: 'schemes',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { misapplied: '{field} belongs to {types}, not to {type}' },
    fix: 'suggestion',
  },
  claim({ keyword, pointer, name }, { at, schemes }, report) {
    if (keyword !== 'false schema') return false
    const scheme = schemes.find((candidate) => candidate.pointer === at + pointer.slice(0, pointer.lastIndexOf('/')))
    const types = own(FIELD_TYPES, name) as readonly string[] | undefined
    report(at + pointer, 'misapplied', { field: name, types: types?.join(' and '), type: ownString(scheme?.value, 'type') })
    return true
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The scheme looks as if it did more than its type can do; clients ignore the field. Often the type is the mistake.'
