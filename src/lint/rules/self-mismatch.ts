import { rule } from '../rule.ts'

/** The `self` link of a document is the URL that it was read from. */
export const selfMismatch = rule('self-mismatch', 'crawl', {
  'self-mismatch': {
    levels: ['info', 'warn', 'off'],
    messages: { elsewhere: 'the self link is {self}, but the document was read from another URL' },
  },
})
