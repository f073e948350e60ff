import type { Rule } from '../rule.ts'

/** What is linted is a STAC document. */
export const unknownDocument: Rule = {
  meta: {
    id: 'unknown-document',
    section: 'run',
    severity: { recommended: 'info', strict: 'warn', schema: 'off' },
    messages: { unknown: 'JSON, but no Item, Collection, Catalog or list of them' },
  },
}

/** Why the rule exists, for its page. */
export const docs = 'The kind of a document is told by its member type, never by its file name.'
