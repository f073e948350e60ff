import type { Rule, RuleDocs } from '../rule.ts'

/** What anybody may read is not called protected. */
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
  's3-public-bucket':
    'Reported by lint --online, which asks each bucket once for one of its objects, without any credential. Users are asked for keys that nobody needs.',
}
