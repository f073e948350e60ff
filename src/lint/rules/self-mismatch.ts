import type { Rule, RuleDocs } from '../rule.ts'

/** The `self` link of a document is the URL that it was read from. */
export const selfMismatch: Rule = {
  meta: { id: 'self-mismatch', section: 'crawl' },
  cases: [
    {
      meta: {
        code: 'self-mismatch',
        severity: { recommended: 'info', strict: 'warn', schema: 'off' },
        messages: { elsewhere: 'the self link is {self}, but the document was read from another URL' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  'self-mismatch': {
    part: 'fields',
    why: 'Reported by `lint --crawl`. A client that resolves relative links against the self link requests them from the wrong place.',
    repair: [
      'Write the URL at which the document is published into the self link.',
      'If the catalog was copied, rewrite its links, or leave the self links out.',
    ],
  },
}
