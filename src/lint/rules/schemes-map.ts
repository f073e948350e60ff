import { isObject } from '../../stac/document.ts'
import type { Rule, RuleCase, RuleDocs } from '../rule.ts'

/** `auth:schemes` maps names to Scheme Objects. */
const schemesShape: RuleCase = {
  meta: {
    code: 'schemes-shape',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { shape: '{what} must be an object' },
  },
  claim({ place, keyword, pointer, name }, { at }, report) {
    if (keyword !== 'type' || (place !== 'schemes' && place !== 'scheme')) return false
    report(at + pointer, 'shape', { what: place === 'schemes' ? 'auth:schemes' : `scheme "${name}"` })
    return true
  },
}

/** A map of schemes has something in it. */
const schemesEmpty: RuleCase = {
  meta: {
    code: 'schemes-empty',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { empty: 'auth:schemes is empty: define a scheme, or leave it out with the extension' },
  },
  document({ map }, report) {
    if (map && isObject(map.value) && Object.keys(map.value).length === 0) report(map.pointer, 'empty')
  },
}

export const schemesMap: Rule = {
  meta: { id: 'schemes-map', section: 'schemes' },
  cases: [schemesShape, schemesEmpty],
}

export const docs: RuleDocs = {
  'schemes-shape': 'A list, a text or a bare type name where an object is expected cannot be read by any client.',
  'schemes-empty': 'An empty map declares nothing. Leave the field and the extension out when nothing is protected.',
}
