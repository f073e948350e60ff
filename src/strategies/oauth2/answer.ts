/** Reads what an authorization server answers, before anyone believes it. */

import { ProtocolError } from '../../errors.ts'
import { isAccessToken } from '../../http/auth-scheme.ts'
import type { HttpResponse } from '../../http/message.ts'
import { isRedirect } from '../../http/redirect.ts'
import { retryHint } from '../../http/retry-after.ts'
import type { Clock } from '../../net/clock.ts'
import { withRetryAfter } from '../../net/retry.ts'
import { isObject, type JsonObject, ownString } from '../../stac/json.ts'
import { type Endpoint, invalidAnswer, oauthError, redirectRefused, unexpectedStatus } from './oauth-error.ts'

/** Bytes of an answer. */
const MAX_ANSWER = 1_048_576
/** What a refresh token (RFC 6749 Appendix A.17) or an ID token may look like; both can be long. */
const VISIBLE = /^[\x20-\x7e]{1,65536}$/

/** An answer that was taken in whole. */
export interface Read {
  readonly status: number
  /** Milliseconds for which the server wants to be left alone. */
  readonly retryAfter?: number
  readonly text: string
  /** The text as JSON; undefined when it is none. */
  readonly json: unknown
  /** The answer's `error` member. */
  readonly error?: string
}

/** Takes an answer in. Errors: `OAUTH_REDIRECT`, `RESPONSE_TOO_LARGE`, those of the transport. */
export async function taken(response: HttpResponse, endpoint: Endpoint, { now }: Pick<Clock, 'now'>): Promise<Read> {
  if (isRedirect(response.status)) {
    await response.discard()
    throw redirectRefused(endpoint, response)
  }
  const text = await response.text(MAX_ANSWER)
  const json = parsed(text)
  const error = ownString(json, 'error')
  const retryAfter = retryHint(response.headers, now())
  return { status: response.status, text, json, ...(error !== undefined && { error }), ...(retryAfter !== undefined && { retryAfter }) }
}

/** The members of an answer that says yes. Errors: `OAUTH_ERROR`, `HTTP_<status>`, `OAUTH_RESPONSE_INVALID`. */
export function membersOf({ status, json, error, retryAfter }: Read, endpoint: Endpoint, good: readonly number[] = [200]): JsonObject {
  if (error !== undefined) throw withRetryAfter(oauthError(endpoint, status, error, ownString(json, 'error_description')), retryAfter)
  if (!good.includes(status)) throw withRetryAfter(unexpectedStatus(endpoint, status), retryAfter)
  if (!isObject(json)) throw invalidAnswer(endpoint, 'is not a JSON object')
  return json
}

/** What a token answer must have (RFC 6749 §5.1, RFC 9449 §5, RFC 8693 §2.2.1). */
export interface Demands {
  readonly tokenType: 'Bearer' | 'DPoP'
  /** An exchange may also yield what is no access token. */
  readonly exchange: boolean
}

/**
 * The members of a token answer, those with a meaning for the library checked, others left out. Errors: as of
 * {@link membersOf}, `OAUTH_TOKEN_TYPE`.
 */
export function tokenMembers(read: Read, endpoint: Endpoint, { tokenType, exchange }: Demands): JsonObject {
  const answer = membersOf(read, endpoint)
  const token = answer.access_token
  if (typeof token !== 'string' || !isAccessToken(token)) {
    throw invalidAnswer(endpoint, 'has no usable access_token')
  }
  const type = typeof answer.token_type === 'string' ? answer.token_type.toLowerCase() : ''
  if (type !== tokenType.toLowerCase() && !(exchange && type === 'n_a')) throw wrongType(endpoint, tokenType)
  if (exchange && ownString(answer, 'issued_token_type') === undefined) throw invalidAnswer(endpoint, 'has no issued_token_type')
  for (const name of ['refresh_token', 'id_token'] as const) {
    const value = answer[name]
    if (!isAbsent(value) && !(typeof value === 'string' && VISIBLE.test(value))) {
      throw invalidAnswer(endpoint, `has no usable ${name}`)
    }
  }
  const names = ['access_token', 'token_type', 'refresh_token', 'id_token', 'issued_token_type', 'scope', 'expires_in']
  return Object.fromEntries(names.flatMap((name) => (isAbsent(answer[name]) ? [] : [[name, answer[name]]])))
}

/** Servers write null or an empty text for what they do not give. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wrongType({ credential, url, name }: Endpoint, wanted: string): ProtocolError {
  const message = `the ${name} of "${credential}" issued a token of a type other than ${wanted}`
  return new ProtocolError('OAUTH_TOKEN_TYPE', message, { credential, url })
}
