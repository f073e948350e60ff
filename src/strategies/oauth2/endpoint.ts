import type { AuthContext } from '../../auth/strategy.ts'
import { type AuthError, CredentialError, isAuthError, NetworkError, ProtocolError, TrustError, UnsupportedError } from '../../errors.ts'
import { isAccessToken } from '../../http/headers.ts'
import { type HttpResponse, isRedirect, parsedJson } from '../../http/message.ts'
import { sleep, throwIfAborted } from '../../net/cancellation.ts'
import { type Clock, skewFrom } from '../../net/clock.ts'
import { Pacer } from '../../net/pacer.ts'
import { backoffBefore, type RetryPolicy, retryAfterOf, retryHint, withRetryAfter } from '../../net/retry.ts'
import { isObject, type JsonObject, ownString } from '../../stac/document.ts'
import { Redactor } from '../../text/redactor.ts'
import { expiresIn } from '../credential-values.ts'

/** Responses of the endpoints of an authorization server: read, with what real servers do differently brought to the standards, and errors. */

/** An endpoint of a credential; `secrets` must not appear in errors. */
export interface Endpoint {
  readonly credential: string
  readonly url: string
  /** `token endpoint`, `discovery document`, … */
  readonly name: string
  readonly secrets?: readonly string[]
}

/** Maximum bytes of a response. */
const MAX_ANSWER = 1_048_576

/** Allowed characters of a refresh token (RFC 6749 Appendix A.17) or an ID token; both can be long. */
const VISIBLE = /^[\x20-\x7e]{1,65536}$/

/** A response that was read completely. */
export interface EndpointResponse {
  readonly status: number
  /** Milliseconds of `Retry-After`. */
  readonly retryAfter?: number
  /** How far the server's clock is ahead, in milliseconds, by its `Date`; undefined when it names none, and beyond a day. */
  readonly skew?: number
  readonly text: string
  /** The parsed JSON; undefined when malformed. */
  readonly json: unknown
  /** The response's `error` member. */
  readonly error?: string
}

/** Reads a response. Errors: `OAUTH_REDIRECT`, `RESPONSE_TOO_LARGE`, those of the transport. */
export async function readResponse(response: HttpResponse, endpoint: Endpoint, { now }: Pick<Clock, 'now'>): Promise<EndpointResponse> {
  if (isRedirect(response.status)) {
    await response.discard()
    throw redirectRefused(endpoint, response)
  }
  const text = await response.text(MAX_ANSWER)
  const json = parsedJson(text)
  const error = ownString(json, 'error')
  const retryAfter = retryHint(response.headers, now())
  const skew = skewFrom(Date.parse(response.headers.get('date') ?? ''), now())
  return {
    status: response.status,
    text,
    json,
    ...(error !== undefined && { error }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(skew !== undefined && { skew }),
  }
}

/** Returns the members of a successful response. Errors: `OAUTH_ERROR`, `HTTP_<status>`, `OAUTH_RESPONSE_INVALID`. */
export function membersOf({ status, json, error, retryAfter }: EndpointResponse, endpoint: Endpoint): JsonObject {
  if (error !== undefined) throw withRetryAfter(oauthError(endpoint, status, error, ownString(json, 'error_description')), retryAfter)
  // 201 is also seen at token and device endpoints, whose standards say 200, and 200 where they say 201.
  if (status < 200 || status > 299) throw withRetryAfter(unexpectedStatus(endpoint, status), retryAfter)
  if (!isObject(json)) throw invalidAnswer(endpoint, 'is not a JSON object')
  return json
}

/** Requirements of a token response (RFC 6749 §5.1, RFC 9449 §5, RFC 8693 §2.2.1). */
interface TokenRequirements {
  readonly tokenType: 'Bearer' | 'DPoP'
  /** An exchange may also return something other than an access token. */
  readonly exchange: boolean
  /** The member that the user names as the access token. */
  readonly tokenField?: string | undefined
}

/**
 * Returns the members of a token response by the names of RFC 6749 §5.1: those that the library reads are checked, others are dropped. The
 * access token may be in `token`, as in token servers of container registries, or where the user says; without a type it is a bearer token.
 *
 * Errors: as of {@link membersOf}, `OAUTH_TOKEN_TYPE`.
 */
export function tokenMembers(read: EndpointResponse, endpoint: Endpoint, requirements: TokenRequirements): JsonObject {
  const { tokenField } = requirements
  const response = membersOf(read, endpoint)
  const named = tokenField === undefined ? ['access_token', 'token'] : [tokenField]
  const name = named.find((one) => Object.hasOwn(response, one) && !isAbsent(response[one]))
  if (name === undefined) throw withoutToken(response, endpoint, tokenField)
  const token = response[name]
  if (typeof token !== 'string' || !isAccessToken(token)) throw invalidAnswer(endpoint, `has no usable ${plainName(name) ?? 'token'}`)
  const answer: JsonObject = { ...response, access_token: token, token_type: typeOf(response.token_type, endpoint, requirements) }
  if (answer.token_type === 'n_a' && isAbsent(answer.issued_token_type)) {
    throw invalidAnswer(endpoint, 'has no issued_token_type, which says what it is', 'ask the provider: RFC 8693 §2.2.1 requires it')
  }
  for (const member of ['refresh_token', 'id_token'] as const) {
    const value = answer[member]
    if (!isAbsent(value) && !(typeof value === 'string' && VISIBLE.test(value))) {
      throw invalidAnswer(endpoint, `has no usable ${member}`)
    }
  }
  const names = ['access_token', 'token_type', 'refresh_token', 'id_token', 'issued_token_type', 'scope', 'expires_in']
  return Object.fromEntries(names.flatMap((member) => (isAbsent(answer[member]) ? [] : [[member, answer[member]]])))
}

/** Returns the type in lower case. Only a token that is bound to a key must say so: there a bearer token would be weaker than requested. */
function typeOf(given: unknown, endpoint: Endpoint, { tokenType, exchange }: TokenRequirements): string {
  if (isAbsent(given) && tokenType === 'Bearer') return 'bearer'
  const type = typeof given === 'string' ? given.trim().toLowerCase() : ''
  if (type === tokenType.toLowerCase() || (exchange && type === 'n_a')) return type
  const { credential, url, name } = endpoint
  const what = isAbsent(given) ? `without a token_type, which must be ${tokenType}` : `of a type other than ${tokenType}`
  throw new ProtocolError('OAUTH_TOKEN_TYPE', `the ${name} of "${credential}" issued a token ${what}`, {
    credential,
    url,
    ...(tokenType === 'DPoP' && { hint: 'if the server binds no tokens to keys, remove "dpop" from the credential' }),
  })
}

/** Says which members there are, by name: one of them may be the token. */
function withoutToken(response: JsonObject, endpoint: Endpoint, tokenField: string | undefined): ProtocolError {
  const { secrets = [] } = endpoint
  const present = Object.keys(response).flatMap((name) => plainName(name) ?? [])
  const shown = present.filter((name) => !secrets.some((secret) => name.includes(secret))).slice(0, MAX_NAMES)
  const wanted = tokenField === undefined ? 'access_token' : `"${tokenField}", the "tokenField" of the credential`
  const found = shown.length > 0 ? `; it has ${shown.join(', ')}` : ''
  return invalidAnswer(
    endpoint,
    `has no ${wanted}${found}`,
    'if one of its members is the access token, name it as "tokenField" in the credential; else check "tokenUrl" and "flow"',
  )
}

const MAX_NAMES = 10

/** Returns a member name that can be shown. */
function plainName(name: string): string | undefined {
  return /^[A-Za-z][A-Za-z_-]{0,30}$/.test(name) ? name : undefined
}

/** Seconds that a device code is valid when the server does not say; RFC 8628 §3.2 requires it. */
const DEVICE_LIFE = 600

/**
 * Returns the members of a device authorization response by the names of RFC 8628 §3.2: Google writes `verification_url`, others omit
 * `expires_in`, or write numbers as text. Errors: as of {@link membersOf}; it names what is missing.
 */
export function deviceMembers(read: EndpointResponse, endpoint: Endpoint): JsonObject {
  const { verification_url: url, verification_url_complete: complete, interval, expires_in: life, ...members } = membersOf(read, endpoint)
  const pause = typeof interval === 'string' && /^\d+$/.test(interval) ? Number(interval) : interval
  const answer: JsonObject = {
    ...members,
    ...(isAbsent(members.verification_uri) && { verification_uri: url }),
    ...(isAbsent(members.verification_uri_complete) && { verification_uri_complete: isAbsent(complete) ? undefined : complete }),
    expires_in: typeof life === 'number' ? Math.max(0, life) : (expiresIn(life) ?? DEVICE_LIFE),
    // The library accepts only numbers above 0.
    ...(typeof pause === 'number' && pause >= 0 && { interval: pause || 1 }),
  }
  const missing = ['device_code', 'user_code', 'verification_uri'].filter((name) => typeof answer[name] !== 'string' || answer[name] === '')
  if (missing.length === 0) return answer
  throw invalidAnswer(
    endpoint,
    `has no ${missing.join(' and no ')}`,
    `log in with a browser: stac-auth login ${endpoint.credential} --browser`,
  )
}

/** Servers write null or an empty text for absent members. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/**
 * Advice for the codes of RFC 6749 §5.2, RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 8628 §3.5, RFC 8693 §2.2.2 and RFC 8707 §2; unregistered
 * codes are not shown.
 */
const REMEDIES: { readonly [code: string]: string } = {
  invalid_client: 'check clientId and clientSecret; if the server expects them in the body, set "clientAuthentication": "post"',
  invalid_scope: 'check "scopes" of the credential',
  unauthorized_client: 'this client may not use this flow: ask the provider',
  unsupported_grant_type: 'the server does not support this flow: check "flow" and "tokenUrl"',
  invalid_request: 'check the fields of the credential against the documentation of the provider',
  invalid_grant: 'the grant has expired or was revoked',
  invalid_token: 'the token has expired or was revoked',
  unsupported_token_type: 'the server does not revoke tokens of this type: they expire',
  invalid_target: 'check "resource" and "audience" of the credential',
  invalid_dpop_proof: 'check the clock of this machine',
  access_denied: 'the login was refused',
  authorization_pending: 'the login is not finished',
  slow_down: 'the server limits the polling rate',
  expired_token: 'the login timed out',
  login_required: 'log in again',
  consent_required: 'log in again',
  interaction_required: 'log in again',
  server_error: 'try again later',
  temporarily_unavailable: 'try again later',
}

/** A code of words, as the registered ones are: it cannot be a secret that the server repeats. */
const CODE = /^[a-z]{2,20}(?:[_-][a-z]{1,20}){0,5}$/

/** Returns `OAUTH_ERROR`; `actual` is the server's code when it is registered, or of words and no secret. */
export function oauthError(
  { credential, url, name, secrets = [] }: Endpoint,
  status: number,
  code: string,
  description = '',
): CredentialError {
  const hint = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined
  const words = plainWords(description, secrets)
  const isShown = hint !== undefined || (CODE.test(code) && !secrets.some((secret) => code.includes(secret)))
  const message = `the ${name} refused "${credential}" with ${isShown ? code : 'an unregistered error code'}${words && `: ${words}`}`
  // A busy server did not process the request.
  const retryable = status === 429 || status >= 500
  return new CredentialError('OAUTH_ERROR', message, {
    credential,
    url,
    status,
    retryable,
    ...(hint && { hint }),
    ...(isShown && { actual: code }),
  })
}

/** Returns the error with more advice. */
export function withAdvice(error: AuthError, advice: string): AuthError {
  const Family = error.constructor as typeof CredentialError
  return new Family(error.code, error.message, { ...error, hint: error.hint === undefined ? advice : `${error.hint}; ${advice}` })
}

/** Returns `OAUTH_RESPONSE_INVALID`; the error never quotes the response. */
export function invalidAnswer({ credential, url, name }: Endpoint, why: string, hint?: string): ProtocolError {
  const message = `the response of the ${name} of "${credential}" ${why}`
  return new ProtocolError('OAUTH_RESPONSE_INVALID', message, { credential, url, ...(hint !== undefined && { hint }) })
}

/** Returns `OAUTH_REDIRECT`. */
function redirectRefused({ credential, name }: Endpoint, { url, status }: HttpResponse): TrustError {
  const message = `the ${name} of "${credential}" sent a redirect. It was not followed`
  return new TrustError('OAUTH_REDIRECT', message, { credential, url, status })
}

/** Returns `HTTP_<status>`, or `OAUTH_RESPONSE_INVALID` for a status that is not an error. */
export function unexpectedStatus(endpoint: Endpoint, status: number): AuthError {
  const { credential, url, name } = endpoint
  if (status < 400) return invalidAnswer(endpoint, `has the unexpected status ${status}`)
  const message = `the ${name} of "${credential}" failed with status ${status}`
  return new NetworkError(`HTTP_${status}`, message, { credential, url, status, retryable: status >= 500 || status === 429 })
}

/**
 * Returns the plain words of a server's description: servers repeat requests, and a secret has many
 * encodings. Words with digits, capitals or signs are removed, and everything when it contains a secret.
 */
function plainWords(description: string, secrets: readonly string[] = []): string {
  const redactor = new Redactor()
  for (const secret of secrets) redactor.add(secret)
  if (redactor.scrub(description) !== description || secrets.some((secret) => description.includes(secret))) return ''
  const words = description.slice(0, 2000).split(/\s+/)
  const plain = words.map((word) => (/^["'(]?[A-Za-z]?[a-z]{0,19}["'),.;:!?]{0,3}$/.test(word) ? word : '...'))
  return plain
    .join(' ')
    .replace(/\.\.\.(?: \.\.\.)+/g, '...')
    .slice(0, 200)
}

/** Returns `LOGIN_DENIED`, with the words of the provider. */
export function loginDenied(credential: string, description = ''): CredentialError {
  const words = plainWords(description)
  return new CredentialError('LOGIN_DENIED', `the login for "${credential}" was refused at the provider${words && `: ${words}`}`, {
    credential,
  })
}

/** Returns `LOGIN_REQUIRED`: the user must log in; `why` says what became of the previous login. */
export function loginRequired({ id }: { readonly id: string }, why?: string): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `"${id}" needs a login${why === undefined ? '' : `: ${why}`}`, {
    credential: id,
    hint: `stac-auth login ${id}; in code, auth.login("${id}", …); or add a finished token as a credential of type "http", scheme "bearer"`,
  })
}

/** Returns `SCHEME_UNSUPPORTED`: the response is in a fragment, which only a web page can read. */
export function fragmentsUnseen(credential: string): UnsupportedError {
  return new UnsupportedError('SCHEME_UNSUPPORTED', `the implicit flow of "${credential}" works in browsers only`, {
    credential,
    hint: 'use the flow authorizationCode, or a finished token in a credential of type "http", scheme "bearer"',
  })
}

/** Returns `LOGIN_REQUIRED` for a login that has no way to reach the user. */
export function interactionMissing({ id }: { readonly id: string }): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `the login of "${id}" was given no way to show the login page to the user`, {
    credential: id,
    hint: `auth.login("${id}", { redirect: loopbackRedirect(…) }) with stac-auth/node; in pages, createLogins of stac-auth/browser`,
  })
}

/** Retries of token requests. */

/** The retry policy of token requests; no attempt starts later than {@link LAST_ATTEMPT}. */
const TOKEN_RETRIES: RetryPolicy = {
  retries: 4,
  backoff: { first: 500, longest: 4000, fixed: 1, random: 0.5 },
  retryAfter: { longest: 60_000 },
}
/** Milliseconds after which no attempt starts, so that a lock is released in time. */
const LAST_ATTEMPT = 20_000
/** The longest wait in milliseconds while a lock is held; for longer ones the lock is released. */
export const LOCKED_REST = 10_000
/** After this many consecutive failures, no request is sent for `rest` milliseconds. */
const FAILURE_LIMIT = { failures: 5, rest: 10_000 }

type Context = Pick<AuthContext, 'clock' | 'random' | 'session' | 'signal' | 'credential'> & { readonly longestRest?: number }

/** The state of an endpoint, shared by all requests of a credential. */
interface EndpointState {
  readonly pacer: Pacer
  /** Failures in a row that are not refusals, and until when they prevent requests. */
  failures: number
  until: number
  last?: AuthError
}

/**
 * Sends a token request at the pace of the endpoint, and again until it succeeds or fails permanently. Refusals (429, 529) are waited for up to
 * a minute in total, as is `Retry-After`; after five other failures in a row no request is sent for ten seconds. `once` is for requests that
 * must not be sent twice.
 */
export async function withTokenRetries<T>(url: string, context: Context, ask: () => Promise<T>, once = false): Promise<T> {
  const { clock, session, credential, signal } = context
  const random = () => (context.random(1)[0] ?? 0) / 256
  const { value: state } = await session.resolve<EndpointState>(`endpoint ${url}`, async () => ({
    value: { pacer: new Pacer(clock, random), failures: 0, until: 0 },
  }))
  const { pacer } = state
  let begun = clock.now()
  const { retries, backoff, retryAfter } = TOKEN_RETRIES
  const longest = context.longestRest ?? retryAfter.longest
  let [rested, attempt] = [0, 1]
  for (;;) {
    if (state.last && clock.now() < state.until) {
      const why = `${new URL(url).origin} failed ${FAILURE_LIMIT.failures} times in a row; try again after ${FAILURE_LIMIT.rest / 1000} s`
      throw because(state.last, why, credential.id)
    }
    if (state.last && rested === 0 && pacer.pause > longest) throw tooLong(state.last, pacer.pause)
    if (state.until > 0) Object.assign(state, { failures: 0, until: 0 })
    throwIfAborted(signal)
    if (!pacer.tryEnter()) {
      const queued = clock.now()
      await pacer.enter(signal, { priority: rested > 0 ? 'again' : undefined })
      begun += clock.now() - queued
    }
    let error: AuthError
    try {
      const answer = await ask()
      pacer.succeeded()
      state.failures = 0
      return answer
    } catch (failure) {
      if (!isAuthError(failure) || !failure.retryable) throw failure
      error = failure
      const wait = backoffBefore(backoff, attempt, random())
      if (isPaced(error)) pacer.refused(error.status === 503 ? Math.max(wait, retryAfterOf(error) ?? 0) : retryAfterOf(error) || undefined)
    } finally {
      pacer.leave()
    }
    const isRefused = isPaced(error) && error.status !== 503
    state.last = error
    if (!isRefused && ++state.failures >= FAILURE_LIMIT.failures) state.until = clock.now() + FAILURE_LIMIT.rest
    if (once || (!isRefused && attempt++ > retries) || clock.now() - begun > LAST_ATTEMPT) throw error
    const wanted = retryAfterOf(error) ?? 0
    const pause = isRefused ? pacer.pause : wanted
    if (rested + pause > longest) throw wanted > 0 ? tooLong(error, wanted) : error
    rested += pause
    if (isPaced(error)) continue
    begun += wanted
    await sleep(Math.max(wanted, backoffBefore(backoff, attempt - 1, random())), clock, signal)
  }
}

/** True for a response that asks for fewer requests. */
function isPaced({ status }: AuthError): boolean {
  return status === 429 || status === 503 || status === 529
}

function tooLong(error: AuthError, wanted: number): AuthError {
  const why = `Retry-After of ${Math.ceil(wanted / 1000)} s exceeds the limit of ${TOKEN_RETRIES.retryAfter.longest / 1000} s`
  return withRetryAfter(because(error, why), wanted)
}

/** Returns the error once more, so that the reason is known also where it was not shown. */
function because(error: AuthError, why: string, credential = error.credential): AuthError {
  const Family = error.constructor as typeof NetworkError
  return new Family(error.code, `${error.message}: ${why}`, { ...error, credential, retryable: true })
}

/**
 * Runs a function that takes a lock, again after `Retry-After`, which is waited for without the lock and up to a minute in
 * total. Errors: those of `run`.
 */
export async function untilRested<T>(context: Context, run: () => Promise<T>): Promise<T> {
  for (let rested = 0; ; ) {
    try {
      return await run()
    } catch (error) {
      const wanted = isAuthError(error) ? (retryAfterOf(error) ?? 0) : 0
      if (wanted <= LOCKED_REST || rested + wanted > TOKEN_RETRIES.retryAfter.longest) throw error
      rested += wanted
      await sleep(wanted, context.clock, context.signal)
    }
  }
}
