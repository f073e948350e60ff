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

/** A map of schemes is not empty. */
const schemesEmpty: RuleCase = {
  meta: {
    code: 'schemes-empty',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { empty: 'auth:schemes is empty: define a scheme, or leave it out' },
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
  'schemes-shape': {
    part: 'authentication-scheme-object',
    why: 'Clients expect a map from names to objects. They cannot read a list, a text or the bare name of a type, and treat the scheme as undefined.',
    repair: [
      'Write auth:schemes as an object whose members are named schemes.',
      'Write each scheme as an object with a type: { "type": "http", "scheme": "basic" }.',
    ],
  },
  'schemes-empty': {
    part: 'fields',
    why: 'An empty map defines nothing, but clients load the extension and validators accept the document as if it described authentication.',
    repair: [
      'Add the schemes that the assets and links need.',
      'If nothing is protected, remove auth:schemes and the extension from stac_extensions.',
    ],
  },
}
