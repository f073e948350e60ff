import { platform } from '#platform'
import type { LogoutChoice } from '../../auth/auth.ts'
import { type Credential, Secret } from '../../auth/credential.ts'
import type { StorePlace } from '../../auth/session.ts'
import { type AuthFlow, authorized, refreshTime, type TokenState } from '../../auth/strategy.ts'
import { CredentialError, NetworkError, SelectionError, TrustError } from '../../errors.ts'
import { isAccessToken, momentOf } from '../../http/headers.ts'
import { type HttpRequest, type HttpResponse, isRedirect, parsedJson, withHeader, withQueryParameter } from '../../http/message.ts'
import { retryHint, withRetryAfter } from '../../net/retry.ts'
import { isObject } from '../../stac/document.ts'
import { Redactor } from '../../text/redactor.ts'
import { fieldAt, reveal } from '../credential-values.ts'
import { allowAgain, obtainOnce, removeStored, stateAt, storePlace, unlessRefused } from '../stored-token.ts'
import { type RequestedToken, tokenKey } from './bearer.ts'
import type { HttpContext } from './http-strategy.ts'

/** Bearer tokens that an endpoint chosen by the user gives for a password or a key: requested once for all processes, stored and renewed. */

/** A `bearer` credential that requests its token. */
type TokenRequest = Credential & {
  readonly tokenUrl: string
  readonly method?: 'GET' | 'POST'
  readonly tokenParameters?: ReadonlyMap<string, Secret>
  readonly tokenRequest?: 'form' | 'json'
  readonly tokenField?: string
  readonly expiresField?: string
  readonly revocationUrl?: string
  readonly revocationRequest?: 'form' | 'query'
}

/** Sends the request with the token; after a 401 the token is requested anew, and the request repeated if it is another one. */
export async function* requestedSteps(request: HttpRequest, context: HttpContext): AuthFlow {
  const token = await requestedToken(context)
  const response = yield bearerStep(request, token)
  if (response.status !== 401) return
  context.session.invalidate(tokenKey(context.credential), token)
  const next = await requestedToken(context, token)
  if (next.value !== token.value) yield bearerStep(request, next)
}

function bearerStep(request: HttpRequest, { value, expiresAt }: RequestedToken) {
  return authorized(withHeader(request, 'authorization', `Bearer ${value}`), expiresAt)
}

/**
 * Returns the token from the session or the store, else from the endpoint. Errors: `AUTH_REJECTED`, `HTTP_<status>`, `OAUTH_REDIRECT`,
 * `RESPONSE_FIELD_MISSING`, `RESPONSE_TOO_LARGE`, those of the credential that authorizes the request, of the store and of the transport.
 *
 * @param refused a token that is not to be returned from the store
 */
export async function requestedToken(context: HttpContext, refused?: RequestedToken): Promise<RequestedToken> {
  const { session, credential, clock } = context
  const refreshAt = ({ askedAt, expiresAt = Number.POSITIVE_INFINITY }: RequestedToken) =>
    refreshTime(askedAt, expiresAt, session.minValidity)
  const { value } = await session.resolve<RequestedToken>(tokenKey(credential), async (signal) => {
    const called = { ...context, signal }
    const [place, user] = await Promise.all([placeOf(context), userOf(context)])
    const token = await obtainOnce(called, {
      place,
      decode(text) {
        const stored = decodeToken(text)
        return stored?.user === user && stored.value !== refused?.value ? stored : undefined
      },
      isUsable: (stored) => clock.now() < refreshAt(stored),
      isLiving: ({ expiresAt }) => expiresAt !== undefined && clock.now() < expiresAt,
      async prepare() {
        // Sources of secrets may ask a person.
        const account = await accountOf(context)
        return async () => ({ ...(await obtained(called, account)), user })
      },
    })
    return { value: token, refreshAt: refreshAt(token), ...(token.expiresAt !== undefined && { expiresAt: token.expiresAt }) }
  })
  return value
}

/** Requests a token and stores it in place of the present one. Errors: as {@link requestedToken}. */
export async function login(context: HttpContext): Promise<void> {
  const [{ store, key }, user, account] = await Promise.all([placeOf(context), userOf(context), accountOf(context)])
  allowAgain(context)
  const renew = async () => store.write(key, JSON.stringify({ ...(await obtained(context, account)), user }))
  await store.exclusively(key, renew, context.signal)
  context.changed('started')
  forget(context)
}

/** Removes the token, then revokes it where the credential has an endpoint for that. Errors: those of the store and of the endpoint. */
export async function logout(context: HttpContext, { revoke: mayRevoke = true }: LogoutChoice = {}): Promise<void> {
  const token = await removeStored(context, { place: await placeOf(context), decode: decodeToken }, () => forget(context))
  if (token && mayRevoke) await revoke(context, token)
}

/** Returns the state of the stored token; a new one can always be requested. */
export async function tokenState(context: HttpContext): Promise<TokenState> {
  const { store, key } = await placeOf(context)
  const token = decodeToken(await store.read(key))
  const state = token ? stateAt(context.clock.now(), token.expiresAt) : { state: 'none' as const }
  return { ...state, refreshable: true, persistent: true }
}

function forget({ session, credential }: HttpContext): void {
  session.invalidate(tokenKey(credential), session.get(tokenKey(credential))?.value)
}

/** Milliseconds for which a refused account is not sent again. */
const REMEMBERED = 60_000

function obtained(context: HttpContext, account: string): Promise<Omit<RequestedToken, 'user'>> {
  return unlessRefused(context, account, REMEMBERED, () => answered(context))
}

/** Responses hold a token and a few words. */
const MAX_ANSWER = 1_048_576

async function answered(context: HttpContext): Promise<Omit<RequestedToken, 'user'>> {
  const credential = context.credential as TokenRequest
  const { id, tokenUrl: url, tokenField = 'access_token', expiresField = 'expires_in' } = credential
  const askedAt = context.clock.now()
  const { request, secrets } = await tokenRequestOf(credential)
  const response = await sent(context, request, { name: 'token endpoint', secrets })
  const answer = parsedJson(await response.text(MAX_ANSWER))
  const value = fieldAt(answer, tokenField)
  if (typeof value !== 'string' || !isAccessToken(value)) {
    const message = `the response of the token endpoint of "${id}" has no access token in "${tokenField}"`
    const hint = 'set "tokenField" to the member of the response that is the token'
    throw new SelectionError('RESPONSE_FIELD_MISSING', message, { credential: id, url, status: response.status, hint })
  }
  const expiresAt = expiryIn(fieldAt(answer, expiresField), askedAt)
  return { value, askedAt, ...(expiresAt !== undefined && { expiresAt }) }
}

async function tokenRequestOf(credential: TokenRequest): Promise<{ readonly request: HttpRequest; readonly secrets: readonly string[] }> {
  const { tokenUrl: url, method = 'POST', tokenParameters, tokenRequest } = credential
  const accept = { accept: 'application/json' }
  if (!tokenParameters) return { request: { method, url, headers: accept }, secrets: [] }
  const read = async ([name, value]: [string, Secret]) => [name, await reveal(value, `parameter ${name}`, credential)] as const
  const parameters = Object.fromEntries(await Promise.all([...tokenParameters].map(read)))
  const [type, body] =
    tokenRequest === 'json'
      ? ['application/json', JSON.stringify(parameters)]
      : ['application/x-www-form-urlencoded', String(new URLSearchParams(parameters))]
  return { request: { method, url, headers: { ...accept, 'content-type': type }, body }, secrets: Object.values(parameters) }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Revokes a token, by a form as in RFC 7009 §2.1, or with the token in the query. */
async function revoke(context: HttpContext, { value }: RequestedToken): Promise<void> {
  const { revocationUrl: url, revocationRequest } = context.credential as TokenRequest
  if (url === undefined) return
  const request: HttpRequest =
    revocationRequest === 'query'
      ? { method: 'POST', url: withQueryParameter(url, 'token', value), headers: {} }
      : { method: 'POST', url, headers: FORM, body: String(new URLSearchParams({ token: value })) }
  const response = await sent(context, request, { name: 'revocation endpoint', secrets: [value] })
  await response.discard()
}

/** An endpoint of the credential; `secrets` were sent in the body and must not appear in errors. */
interface Endpoint {
  readonly name: string
  readonly secrets: readonly string[]
}

/** Sends as the credential in `with`, if there is one; follows no redirects. Returns a successful response. */
async function sent({ credential, input, send, signal, clock }: HttpContext, request: HttpRequest, { name, secrets }: Endpoint) {
  const response = await (input?.send ?? send)(request, signal ? { signal } : {})
  const { status, headers } = response
  if (status >= 200 && status <= 299) return response
  const fields = { credential: credential.id, url: new URL(request.url).origin + new URL(request.url).pathname, status }
  if (isRedirect(status)) {
    await response.discard()
    throw new TrustError('OAUTH_REDIRECT', `the ${name} of "${credential.id}" sent a redirect. It was not followed`, fields)
  }
  const { says, address } = await wordsOf(response, secrets)
  if (status !== 401 && status !== 403) {
    const failure = { ...fields, retryable: status >= 500 || status === 429 }
    const error = new NetworkError(`HTTP_${status}`, `the ${name} of "${credential.id}" failed with status ${status}${says}`, failure)
    throw withRetryAfter(error, retryHint(headers, clock.now()))
  }
  const check = typeof credential.with === 'string' ? `check the secrets of "${credential.with}"` : 'check the values of "tokenParameters"'
  const hint = address === undefined ? check : `the server names ${address}; ${check}`
  throw new CredentialError('AUTH_REJECTED', `the ${name} of "${credential.id}" refused the request with ${status}${says}`, {
    ...fields,
    hint,
  })
}

/** Returns what a server says, without secrets that it may repeat. */
async function wordsOf(response: HttpResponse, secrets: readonly string[]) {
  const { message, address } = (await response.serverMessage?.()) ?? {}
  await response.discard()
  const redactor = new Redactor()
  for (const secret of secrets) redactor.add(secret)
  const scrubbed = redactor.scrub(address ?? '')
  return { says: message ? `. The server says: ${redactor.scrub(message)}` : '', ...(address && scrubbed === address && { address }) }
}

function placeOf({ credential, stores }: HttpContext): Promise<StorePlace> {
  return storePlace(stores.persistent, credential.id, tokenKey(credential))
}

/** Names of parameters that may be guessed from a hash. */
const GUESSABLE = /pass|secret|key|token|code|pin/i

/**
 * Returns the hash of the user name and of other parameters that are no secrets: a token of one user is never used for another. What a
 * person is asked for does not count, because a stored token needs no question.
 */
async function userOf(context: HttpContext): Promise<string> {
  const { credential, input } = context
  const account = { field: 'username', value: input?.credential.username, of: input?.credential ?? credential }
  const named = [account, ...parametersOf(credential).filter(({ field }) => !GUESSABLE.test(field))]
  const read = async ({ field, value, of }: Named) =>
    value instanceof Secret && !value.isAsked ? [field, await reveal(value, field, of)] : [field]
  return platform.sha256Hex(JSON.stringify(await Promise.all(named.map(read))))
}

/** Returns the hash of all secrets that authorize the request, which is kept in memory only. */
async function accountOf({ credential, input }: HttpContext): Promise<string> {
  const others = input ? Object.entries(input.credential).map(([field, value]) => ({ field, value, of: input.credential })) : []
  const read = async ({ field, value, of }: Named) => (value instanceof Secret ? reveal(value, field, of) : '')
  return platform.sha256Hex(JSON.stringify(await Promise.all([...parametersOf(credential), ...others].map(read))))
}

/** A value, and whose field it is. */
interface Named {
  readonly field: string
  readonly value: unknown
  readonly of: Credential
}

function parametersOf(credential: Credential): readonly Named[] {
  const parameters = (credential as TokenRequest).tokenParameters ?? new Map<string, Secret>()
  return [...parameters].map(([name, value]) => ({ field: `parameter ${name}`, value, of: credential }))
}

/** Decodes a token from a store; undefined for anything else. */
function decodeToken(text: string | undefined): RequestedToken | undefined {
  const token = parsedJson(text ?? '')
  const isToken =
    isObject(token) &&
    typeof token.value === 'string' &&
    isAccessToken(token.value) &&
    typeof token.askedAt === 'number' &&
    typeof token.user === 'string' &&
    ['number', 'undefined'].includes(typeof token.expiresAt)
  return isToken ? (token as unknown as RequestedToken) : undefined
}

/** Longest lifetime in milliseconds: one year. */
const YEAR = 31_536_000_000

/** Smaller numbers are lifetimes in seconds, larger ones moments. */
const FIRST_MOMENT = 100_000_000

/**
 * Returns the epoch milliseconds of the end of a token: of seconds from now, of epoch seconds or milliseconds, of an ISO 8601 date, or of a
 * day as `MM/DD/YYYY`, the end of that day in UTC. Undefined, that is unknown, for anything else and for a moment that is not in the future.
 *
 * @param value a number, or text
 */
export function expiryIn(value: unknown, now: number): number | undefined {
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && /^\d{1,13}(?:\.\d+)?$/.test(value) ? Number(value) : undefined
  const end =
    number === undefined ? (endOfDay(value) ?? momentOf(value)) : number < FIRST_MOMENT ? now + Math.trunc(number) * 1000 : epoch(number)
  return end !== undefined && end > now ? Math.min(end, now + YEAR) : undefined
}

function epoch(number: number): number {
  return number >= 100_000_000_000 ? number : Math.trunc(number) * 1000
}

/** The day may end in any zone: a token that is refused earlier is requested anew. */
function endOfDay(value: unknown): number | undefined {
  const [, month = '', day = '', year] = typeof value === 'string' ? (/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(value) ?? []) : []
  if (year === undefined) return undefined
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  return isDate ? date.getTime() + 86_400_000 : undefined
}
