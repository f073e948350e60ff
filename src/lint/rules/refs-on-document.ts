import type { Rule } from '../rule.ts'

/** A whole document cannot be protected by refs. */
export const refsOnDocument: Rule = {
  meta: {
    id: 'refs-on-document',
    section: 'placement',
    severity: { recommended: 'warn', strict: 'error', schema: 'error' },
    messages: { 'on-document': 'auth:refs protects nothing here: put it on assets and links' },
  },
  document({ strays, kind }, report) {
    for (const { field, pointer, holder } of strays) {
      const onDocument = holder === 'properties' || (holder === 'document' && (kind === 'collection' || kind === 'catalog'))
      if (field === 'auth:refs' && onDocument) report(pointer, 'on-document')
    }
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Credentials go only to assets and links that ask for them; refs of a document are not passed on to what is in it.'
