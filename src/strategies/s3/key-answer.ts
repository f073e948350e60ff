/** Keys in the JSON of those who hand them out: key services, `credential_process` programs. */

import { momentOf } from '../../http/moment.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { isObject, own } from '../../stac/json.ts'

/** What each value is called, lower-case initials first (key services), then as AWS writes them. */
const NAMES = {
  accessKeyId: ['accessKeyId', 'AccessKeyId'],
  secretAccessKey: ['secretAccessKey', 'SecretAccessKey'],
  sessionToken: ['sessionToken', 'SessionToken', 'Token'],
  expiration: ['expiration', 'Expiration'],
}

/** What can stand in a header: longer values or other characters are no keys. */
const WORD = /^[!-~]{1,16384}$/

/** The keys; undefined when the answer has none that can be used. An end that cannot be read counts as none. */
export function keysIn(answer: unknown): S3Keys | undefined {
  if (!isObject(answer)) return undefined
  const named = (field: keyof typeof NAMES) => NAMES[field].map((name) => own(answer, name)).find((value) => value != null)
  const accessKeyId = named('accessKeyId')
  const secretAccessKey = named('secretAccessKey')
  const sessionToken = named('sessionToken') ?? ''
  if (!isWord(accessKeyId) || !isWord(secretAccessKey) || (sessionToken !== '' && !isWord(sessionToken))) return undefined
  const expiration = momentOf(named('expiration'))
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== '' && { sessionToken }),
    ...(expiration !== undefined && { expiration }),
  }
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && WORD.test(value)
}
