import type { Rule, RuleDocs } from '../rule.ts'

/** Documents that a crawl finds can be read. */
export const unreachable: Rule = {
  meta: { id: 'unreachable', section: 'crawl' },
  cases: [
    {
      meta: {
        code: 'unreachable',
        severity: { recommended: 'error', strict: 'error', schema: 'error' },
        messages: { unread: 'the document could not be read: {reason}' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  unreachable: {
    part: 'fields',
    why: 'Reported by `lint --crawl`. Clients cannot follow the link either, and documents below it are not checked, so the crawl is incomplete.',
    repair: [
      'Open the URL. For 401 and 403 add a credential to the credential file.',
      'For 404 correct the link in the parent document, which the message names.',
      'For a timeout or 5xx run the crawl again, slower with --rate.',
    ],
  },
}
