import type { Rule } from '../rule.ts'

/** A document is where it says it is. */
export const selfMismatch: Rule = {
  meta: {
    id: 'self-mismatch',
    section: 'crawl',
    severity: { recommended: 'info', strict: 'warn', schema: 'off' },
    messages: { elsewhere: 'says that it is at {self}' },
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Reported by lint --crawl. A client that resolves relative links against the self link looks for everything elsewhere.'
