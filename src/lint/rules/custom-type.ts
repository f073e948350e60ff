import type { Rule } from '../rule.ts'
import { isDefinedType, RETIRED_TYPES } from '../vocabulary.ts'
import { nearType } from './type-near-miss.ts'

/** Custom types are allowed, and need clients that know them. */
export const customType: Rule = {
  meta: {
    id: 'custom-type',
    section: 'schemes',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { custom: 'clients need a handler for "{type}"' },
  },
  scheme(scheme, report) {
    const { type, pointer } = scheme
    if (!type || isDefinedType(type) || (RETIRED_TYPES as readonly string[]).includes(type)) return
    if (!nearType(scheme)) report(`${pointer}/type`, 'custom', { type })
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Any type may be used. Say in the description what a client has to do.'
