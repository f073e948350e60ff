import { rule } from '../rule.ts'

/** A bucket that can be read without credentials is not described as protected. */
export const s3PublicBucket = rule('s3-public-bucket', 'online', {
  's3-public-bucket': {
    levels: ['info', 'info', 'off'],
    messages: { open: 'the bucket {bucket} can be read without credentials: remove auth:refs' },
  },
})
