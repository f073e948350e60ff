import { isObject, type JsonObject, own, ownString, pointer as pointerTo } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { FIELD_TYPES, isDefinedType, OAUTH2_FIELDS, PARAMETER_FIELDS, SCHEME_FIELDS, SIGNED_FIELDS } from '../model.ts'
import type { Report, Rule, RuleCase, RuleDocs } from '../rule.ts'

/** A field is used with the types that define it. */
const misappliedField: RuleCase = {
  meta: {
    code: 'misapplied-field',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { misapplied: '"{field}" is a field of {types}, not of {type}: remove it, or correct the type' },
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

/** Schemes, flows and parameters have the members that the extension defines; names with a prefix are free. */
const unknownField: RuleCase = {
  meta: {
    code: 'unknown-field',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unknown: 'the extension does not define "{field}" here, so clients ignore it: correct or remove it' },
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
    // Reported by nested-scheme.
    if (isObject(value) && isDefinedType(ownString(value, 'type'))) continue
    report(pointerTo(at, field), 'unknown', { field, near: nearMiss(field, known) })
  }
}

/** Schemes are not nested; they refer to each other. */
const nestedScheme: RuleCase = {
  meta: {
    code: 'nested-scheme',
    severity: { recommended: 'error', strict: 'error', schema: 'off' },
    messages: { nested: 'clients ignore a scheme inside another one: define it in auth:schemes, and refer to it' },
  },
  scheme({ value, type, pointer }, report) {
    if (!isDefinedType(type)) return
    for (const field in value) {
      const inner = value[field]
      if (field !== 'flows' && isObject(inner) && isDefinedType(ownString(inner, 'type'))) report(pointerTo(pointer, field), 'nested')
    }
  },
}

export const schemeField: Rule = {
  meta: { id: 'scheme-field', section: 'schemes' },
  cases: [misappliedField, unknownField, nestedScheme],
}

export const docs: RuleDocs = {
  'misapplied-field': {
    part: 'authentication-scheme-object',
    why: 'Clients ignore a field of another type, so the scheme does less than it says. Often the type is the mistake.',
    repair: ['If the field describes what the service does, change the type to the one that has it.', 'Otherwise remove the field.'],
  },
  'unknown-field': {
    part: 'authentication-scheme-object',
    why: 'Clients ignore fields that the extension does not define, so what they require is not done.',
    repair: [
      'If it is a typing error, correct the name.',
      'If it is information for people, write it into description.',
      'For your own programs, use a prefix: x-name or mycatalog:name.',
    ],
  },
  'nested-scheme': {
    part: 'authentication-scheme-object',
    why: 'Clients do not read a scheme inside another one, so its part of the login is missing.',
    repair: [
      'Move the inner scheme to auth:schemes under a name of its own.',
      'Declare version 1.2.0, and name it in auth:refs of the outer scheme.',
    ],
  },
}
