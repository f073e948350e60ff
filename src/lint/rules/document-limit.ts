import type { Rule, RuleDocs } from '../rule.ts'

/** Documents have a size that clients can read. */
export const documentLimit: Rule = {
  meta: { id: 'document-limit', section: 'run' },
  cases: [
    {
      meta: {
        code: 'document-limit',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: {
          bytes: 'the document is larger than {limit} MiB, so it was not checked: split it',
          depth: 'the document is nested deeper than {limit} levels, so it was not checked',
          schemes: 'auth:schemes has more than {limit} schemes, so the document was not checked: split it',
          links: 'the document has more than {limit} links, so it was not checked: split it',
        },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'document-limit': {
    part: 'fields',
    why: 'Clients limit the size, depth and number of what they read from others. A document above a limit is not read further, by them or by the linter.',
    repair: ['Split lists of Items into pages, or write one file per Item.', 'Move large data out of the document, and link to it.'],
  },
}
