import type { Rule } from '../rule.ts'
import { nearAuthField } from './misspelt-auth-field.ts'

/** The prefix `auth:` belongs to the extension. */
export const unknownAuthField: Rule = {
  meta: {
    id: 'unknown-auth-field',
    section: 'placement',
    severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
    messages: { unknown: '"{field}" is not a field of the extension' },
  },
  document({ strays }, report) {
    for (const { field, pointer } of strays) {
      if (field.startsWith('auth:') && field !== 'auth:refs' && field !== 'auth:schemes' && !nearAuthField(field)) {
        report(pointer, 'unknown', { field })
      }
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Fields that the extension does not define are read by nobody, and may get another meaning in a later version.'
