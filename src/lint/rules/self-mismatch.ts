import type { Rule, RuleDocs } from '../rule.ts'

/** A document is where it says it is. */
export const selfMismatch: Rule = {
  meta: { id: 'self-mismatch', section: 'crawl' },
  cases: [
    {
      meta: {
        code: 'self-mismatch',
        severity: { recommended: 'info', strict: 'warn', schema: 'off' },
        messages: { elsewhere: 'says that it is at {self}' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'self-mismatch': 'Reported by lint --crawl. A client that resolves relative links against the self link looks for everything elsewhere.',
}
