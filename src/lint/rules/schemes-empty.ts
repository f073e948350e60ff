import { isObject } from '../../stac/json.ts'
import type { Rule } from '../rule.ts'

/** A map of schemes has something in it. */
export const schemesEmpty: Rule = {
  meta: {
    id: 'schemes-empty',
    section: 'schemes',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { empty: 'no scheme is defined' },
  },
  document({ map }, report) {
    if (map && isObject(map.value) && Object.keys(map.value).length === 0) report(map.pointer, 'empty')
  },
}

/** Why the rule exists, for its page. */
export const docs = 'An empty map declares nothing. Leave the field and the extension out when nothing is protected.'
