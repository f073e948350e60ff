import type { Rule, RuleDocs } from '../rule.ts'

/** A bucket that can be read without credentials is not described as protected. */
export const s3PublicBucket: Rule = {
  meta: { id: 's3-public-bucket', section: 'online' },
  cases: [
    {
      meta: {
        code: 's3-public-bucket',
        severity: { recommended: 'info', strict: 'info', schema: 'off' },
        messages: { open: 'the bucket {bucket} can be read without credentials: remove auth:refs' },
      },
    },
  ],
}

export const docs: RuleDocs = {
  's3-public-bucket': {
    part: 'scheme-types',
    why: '`lint --online` requests one object of each bucket without a credential. This bucket answered, so clients ask users for keys that nobody needs.',
    repair: [
      'Check that the bucket is meant to be public; if not, correct its policy.',
      'If it is, remove auth:refs from its assets.',
      'Remove the scheme when nothing else refers to it.',
    ],
  },
}
