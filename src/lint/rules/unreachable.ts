import type { Rule } from '../rule.ts'

/** A document that a crawl is led to can be read. */
export const unreachable: Rule = {
  meta: {
    id: 'unreachable',
    section: 'crawl',
    severity: { recommended: 'error', strict: 'error', schema: 'error' },
    messages: { unread: 'could not be read: {code}' },
  },
}

/** Why the rule exists, for its page. */
export const docs = 'Reported by lint --crawl. What is below such a document is not known either, so the crawl is incomplete.'
