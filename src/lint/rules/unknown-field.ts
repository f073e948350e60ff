import { isObject, type JsonObject, ownString, pointer as pointerTo } from '../../stac/json.ts'
import { nearMiss } from '../../stac/near.ts'
import type { Report, Rule } from '../rule.ts'
import { isDefinedType, OAUTH2_FIELDS, PARAMETER_FIELDS, SCHEME_FIELDS, SIGNED_FIELDS } from '../vocabulary.ts'

/** Schemes, flows and parameters have the members that the extension defines; names with a prefix are free. */
export const unknownField: Rule = {
  meta: {
    id: 'unknown-field',
    section: 'schemes',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unknown: '{field} is not defined here' },
    fix: 'suggestion',
  },
  scheme({ value, type, pointer }, report) {
    if (isDefinedType(type)) check(value, SCHEME_FIELDS, pointer, report)
  },
  flow({ value, pointer, scheme }, report) {
    check(value, scheme.type === 'oauth2' ? OAUTH2_FIELDS : SIGNED_FIELDS, pointer, report)
  },
  parameter({ value, pointer }, report) {
    check(value, PARAMETER_FIELDS, pointer, report)
  },
}

function check(object: JsonObject, known: readonly string[], at: string, report: Report): void {
  for (const field in object) {
    if (known.includes(field) || field.includes(':') || field.startsWith('x-')) continue
    const value = object[field]
    // Told by nested-scheme.
    if (isObject(value) && isDefinedType(ownString(value, 'type'))) continue
    report(pointerTo(at, field), 'unknown', { field, near: nearMiss(field, known) })
  }
}

/** Why the rule exists, for its page. */
export const docs = 'Members that nobody defined are ignored, so what they say is not done. Use a prefix (x-… or name:…) for your own.'
