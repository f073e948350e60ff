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
          bytes: 'larger than {limit} MiB',
          depth: 'nested deeper than {limit} levels',
          schemes: 'more than {limit} schemes',
          links: 'more than {limit} links',
        },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'document-limit': 'Readers protect themselves with limits on size, depth and number. A document beyond them is not looked at further.',
}
