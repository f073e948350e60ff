import type { Rule } from '../rule.ts'

/** An empty list is a statement. */
export const refsEmpty: Rule = {
  meta: {
    id: 'refs-empty',
    section: 'references',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { empty: 'an empty auth:refs says: no authentication' },
  },
  target({ refs, pointer }, report) {
    if (refs?.length === 0) report(`${pointer}/auth:refs`, 'empty')
  },
}

/** Why the rule exists, for its page. */
export const docs = 'An empty list is useful on an alternate of a protected asset. Elsewhere it may be left out.'
