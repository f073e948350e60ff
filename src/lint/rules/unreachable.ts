import type { Rule, RuleDocs } from '../rule.ts'

/** A document that a crawl is led to can be read. */
export const unreachable: Rule = {
  meta: { id: 'unreachable', section: 'crawl' },
  cases: [
    {
      meta: {
        code: 'unreachable',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: { unread: 'the document could not be read: {code}' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  unreachable: 'Reported by lint --crawl. What is below such a document is not known either, so the crawl is incomplete.',
}
