import { nearMiss } from '../../stac/near.ts'
import type { Rule } from '../rule.ts'

/** The two fields are called `auth:schemes` and `auth:refs`. */
export const misspeltAuthField: Rule = {
  meta: {
    id: 'misspelt-auth-field',
    section: 'placement',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { misspelt: 'unknown field "{field}"' },
    fix: 'suggestion',
  },
  document({ strays }, report) {
    for (const { field, pointer } of strays) {
      const near = nearAuthField(field)
      if (near) report(pointer, 'misspelt', { field, near })
    }
  },
}

/** The field that a name misses narrowly. */
export function nearAuthField(field: string): string | undefined {
  return nearMiss(field, ['auth:schemes', 'auth:refs'], { 'auth:references': 'auth:refs' })
}

/** Why the rule exists, for its page. */
export const docs = 'A misspelt field is ignored without a word, and what it should have protected looks public.'
