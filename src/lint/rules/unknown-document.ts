import type { Rule, RuleDocs } from '../rule.ts'

/** What is linted is a STAC document. */
export const unknownDocument: Rule = {
  meta: { id: 'unknown-document', section: 'run' },
  cases: [
    {
      meta: {
        code: 'unknown-document',
        severity: { recommended: 'warn', strict: 'warn', schema: 'off' },
        messages: { unknown: 'JSON, but no Item, Collection, Catalog or list of them' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'unknown-document': 'The kind of a document is told by its member type, never by its file name.',
}
