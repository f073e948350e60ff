import { rule } from '../rule.ts'

/** Fields that a type, a flow or a parameter needs are there. */
export const requiredField = rule('required-field', 'schemes', {
  'required-field': {
    levels: ['error', 'error', 'error'],
    messages: {
      missing: '{object} lacks the required field "{field}"',
      scopes: '{object} lacks the required field "scopes": write {} if the service has none',
    },
    claim({ missing, place, pointer, name }, { at }, report) {
      if (missing === undefined || (place !== 'scheme' && place !== 'field') || missing === 'auth:refs') return false
      report(at + pointer, missing === 'scopes' ? 'scopes' : 'missing', { object: `"${name}"`, field: missing })
      return true
    },
  },
})
