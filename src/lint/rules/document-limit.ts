import { rule } from '../rule.ts'

/** Documents have a size that clients can read. */
export const documentLimit = rule('document-limit', 'run', {
  'document-limit': {
    levels: ['error', 'error', 'error'],
    messages: {
      bytes: 'the document is larger than {limit} MiB, so it was not checked: split it',
      depth: 'the document is nested deeper than {limit} levels, so it was not checked',
      schemes: 'auth:schemes has more than {limit} schemes, so the document was not checked: split it',
      links: 'the document has more than {limit} links, so it was not checked: split it',
    },
  },
})
