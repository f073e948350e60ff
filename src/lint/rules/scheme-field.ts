import { isObject, type JsonObject, own, ownString, pointer as pointerTo } from '../../stac/document.ts'
import { nearMiss } from '../../text/suggest.ts'
import { FIELD_TYPES, isDefinedType, OAUTH2_FIELDS, PARAMETER_FIELDS, SCHEME_FIELDS, SIGNED_FIELDS } from '../model.ts'
import { type Report, rule } from '../rule.ts'

export const schemeField = rule('scheme-field', 'schemes', {
  'misapplied-field': {
    levels: ['error', 'error', 'error'],
    messages: { misapplied: '"{field}" is a field of {types}, not of {type}: remove it, or correct the type' },
    fix: 'suggestion',
    claim({ keyword, pointer, name }, { at, schemes }, report) {
      if (keyword !== 'false schema') return false
      const scheme = schemes.find((candidate) => candidate.pointer === at + pointer.slice(0, pointer.lastIndexOf('/')))
      const types = own(FIELD_TYPES, name) as readonly string[] | undefined
      report(at + pointer, 'misapplied', { field: name, types: types?.join(' and '), type: ownString(scheme?.value, 'type') })
      return true
    },
  },
  'custom-type-field': {
    levels: ['warn', 'error', 'error'],
    messages: {
      reserved: 'the published schema refuses "{field}", a field of {types}, on the custom type {type}: use another name',
    },
    scheme({ value, type, pointer, map: { version } }, report) {
      // The schema of 1.0.0 does not look into schemes.
      if (!type || isDefinedType(type) || version === '1.0.0') return
      for (const [field, types] of FIELDS_OF_TYPES)
        if (Object.hasOwn(value, field)) report(`${pointer}/${field}`, 'reserved', { field, types: types.join(' and '), type })
    },
  },
  'unknown-field': {
    levels: ['warn', 'warn', 'off'],
    messages: {
      unknown: 'the extension does not define "{field}" here, so clients ignore it: correct or remove it',
      storage: 'clients ignore "{field}" here: describe the object store in storage:schemes, and name it in storage:refs of the asset',
    },
    fix: 'suggestion',
    scheme({ value, type, pointer }, report) {
      if (isDefinedType(type)) check(value, SCHEME_FIELDS, pointer, report, type === 's3' ? STORAGE_FIELD : undefined)
    },
    flow({ value, pointer, scheme }, report) {
      check(value, scheme.type === 'oauth2' ? OAUTH2_FIELDS : SIGNED_FIELDS, pointer, report)
    },
    parameter({ value, pointer }, report) {
      check(value, PARAMETER_FIELDS, pointer, report)
    },
  },
  'nested-scheme': {
    levels: ['error', 'error', 'off'],
    messages: { nested: 'clients ignore a scheme inside another one: define it in auth:schemes, and refer to it' },
    scheme({ value, type, pointer }, report) {
      if (!isDefinedType(type)) return
      for (const field in value) {
        const inner = value[field]
        if (field !== 'flows' && isObject(inner) && isDefinedType(ownString(inner, 'type'))) report(pointerTo(pointer, field), 'nested')
      }
    },
  },
})

const FIELDS_OF_TYPES = Object.entries(FIELD_TYPES)

/** What the storage extension says of an object store, in any spelling. */
const STORAGE_FIELD = /^(?:aws)?[-_]?(?:region|endpoint|platform|bucket|requester[-_]?pays)/i

function check(object: JsonObject, known: readonly string[], at: string, report: Report, ofStorage?: RegExp): void {
  for (const field in object) {
    if (known.includes(field) || field.includes(':') || field.startsWith('x-')) continue
    const value = object[field]
    // Reported by nested-scheme.
    if (isObject(value) && isDefinedType(ownString(value, 'type'))) continue
    const near = nearMiss(field, known)
    report(pointerTo(at, field), near === undefined && ofStorage?.test(field) ? 'storage' : 'unknown', { field, near })
  }
}
