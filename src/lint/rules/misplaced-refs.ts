import type { Rule } from '../rule.ts'

/** `auth:refs` stands on what it protects. */
export const misplacedRefs: Rule = {
  meta: {
    id: 'misplaced-refs',
    section: 'placement',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { misplaced: 'auth:refs belongs on assets, links and (1.2.0) schemes, not on {place}' },
  },
  claim: ({ keyword, name }) => keyword === 'false schema' && name === 'auth:refs',
  document({ strays, kind }, report) {
    for (const { field, pointer, place, holder } of strays) {
      const onDocument = holder === 'properties' || (holder === 'document' && (kind === 'collection' || kind === 'catalog'))
      if (field === 'auth:refs' && !onDocument) report(pointer, 'misplaced', { place })
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Only assets, alternate assets, links and, from 1.2.0 on, schemes refer to schemes. Refs elsewhere protect nothing.'
