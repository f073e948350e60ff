import type { Rule, RuleDocs } from '../rule.ts'

/** Fields that a type, a flow or a parameter needs are there. */
export const requiredField: Rule = {
  meta: { id: 'required-field', section: 'schemes' },
  cases: [
    {
      meta: {
        code: 'required-field',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: { missing: '{object} lacks the required field "{field}"' },
      },
      claim({ missing, place, pointer, name }, { at }, report) {
        if (missing === undefined || (place !== 'scheme' && place !== 'field') || missing === 'auth:refs') return false
        report(at + pointer, 'missing', { object: `"${name}"`, field: missing })
        return true
      },
    },
  ],
}

export const docs: RuleDocs = {
  'required-field': {
    part: 'authentication-scheme-object',
    why: 'The field tells the client whom to ask, or where to put the credential. Without it the client cannot start.',
    repair: ['Look up the value in the documentation of the service.', 'Add the field at the object that the message names.'],
  },
}
