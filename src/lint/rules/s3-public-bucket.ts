import type { Rule } from '../rule.ts'

/** What anybody may read is not called protected. */
export const s3PublicBucket: Rule = {
  meta: {
    id: 's3-public-bucket',
    section: 'online',
    severity: { recommended: 'info', strict: 'info', schema: 'off' },
    messages: { open: '{bucket} is public' },
  },
}

/** Why the rule exists, for its page. */
export const docs =
  'Reported by lint --online, which asks each bucket once for one of its objects, without any credential. Users are asked for keys that nobody needs.'
