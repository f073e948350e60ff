/** Reads keys in the answers of services. */
import { isAccessToken, momentOf } from '../../http/headers.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { fieldAt } from '../answer-fields.ts'

/** Names of each value, lower-case initials first (key services), then as AWS writes them. */
const NAMES = {
  accessKeyId: ['accessKeyId', 'AccessKeyId'],
  secretAccessKey: ['secretAccessKey', 'SecretAccessKey'],
  sessionToken: ['sessionToken', 'SessionToken', 'Token'],
  expiration: ['expiration', 'Expiration'],
} as const

/** The fields of keys. */
export const KEY_FIELDS = Object.keys(NAMES) as readonly (keyof typeof NAMES)[]

/**
 * Returns the keys; undefined when the answer has no usable ones. A malformed expiry counts as absent.
 *
 * @param places where the values are, by field; default: the names that services use
 */
export function keysIn(answer: unknown, places?: ReadonlyMap<string, string>): S3Keys | undefined {
  const named = (field: keyof typeof NAMES) => {
    const place = places?.get(field)
    return (place === undefined ? NAMES[field] : [place]).map((name) => fieldAt(answer, name)).find((value) => value != null)
  }
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
  return typeof value === 'string' && isAccessToken(value)
}
