import type { Rule, RuleDocs } from '../rule.ts'

/** A document is where it says it is. */
export const selfMismatch: Rule = {
  meta: { id: 'self-mismatch', section: 'crawl' },
  cases: [
    {
      meta: {
        code: 'self-mismatch',
        severity: { recommended: 'info', strict: 'warn', schema: 'off' },
        messages: { elsewhere: 'the self link says {self}, which is not where the document was read from' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'self-mismatch': 'Reported by lint --crawl. A client that resolves relative links against the self link looks for everything elsewhere.',
}
