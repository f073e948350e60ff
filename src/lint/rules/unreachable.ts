import { rule } from '../rule.ts'

/** Documents that a crawl finds can be read. */
export const unreachable = rule('unreachable', 'crawl', {
  unreachable: {
    levels: ['error', 'error', 'error'],
    messages: { unread: 'the document could not be read: {reason}' },
  },
})
