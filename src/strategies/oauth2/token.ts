import { platform } from '#platform'
import type { Secret } from '../../auth/credential.ts'
import type { SessionStore, StorePlace } from '../../auth/session.ts'
import { refreshTime, reserveIn, type Token, type TokenState } from '../../auth/strategy.ts'
import { type AuthError, IntegrityError, isAuthError } from '../../errors.ts'
import { parsedJson } from '../../http/message.ts'
import { isObject } from '../../stac/document.ts'
import { reveal } from '../credential-values.ts'
import { obtainOnce, removeStored, stateAt, storePlace } from '../stored-token.ts'
import { boundKey, rememberEncoding } from './client.ts'
import { needsPerson, type OAuth2Context, type OAuth2Credential, type OAuth2PeekContext } from './credential.ts'
import { LOCKED_REST, loginRequired, untilRested, withAdvice } from './endpoint.ts'
import { clientCredentials, password, refresh, tokenExchange, userName } from './grants.ts'
import { publishedAt, serverOf } from './server.ts'

/** Token sets of a credential: obtained once for all waiting callers, in this process and others, and stored before they are used. */

/** Returns the token set, from session or store, refreshed, or by the credential's grant. Errors: those of the grant, `LOGIN_REQUIRED`. */
export async function resolveTokens(context: OAuth2Context, refused?: TokenSet): Promise<TokenSet> {
  const { value } = await context.session.resolve<TokenSet>(tokenKey(context.credential), async (signal) => {
    const set = await kept({ ...context, signal }, refused)
    return { value: set, refreshAt: refreshTimeOf(set, context), ...(set.expiresAt !== undefined && { expiresAt: set.expiresAt }) }
  })
  return value
}

/** Returns the set if it is known already. */
export function knownTokens({ credential, session }: OAuth2PeekContext): TokenSet | undefined {
  return session.get<TokenSet>(tokenKey(credential))?.value
}

/** Returns a new set in place of one that a server refused; the first caller obtains it for all. */
export function renewTokens(context: OAuth2Context, refused: TokenSet): Promise<TokenSet> {
  context.session.invalidate(tokenKey(context.credential), refused)
  return resolveTokens(context, refused)
}

/** Stores the set of a login. */
export async function keepTokens(context: OAuth2Context, set: TokenSet): Promise<void> {
  const { store, key } = await placeOf(context)
  await store.exclusively(key, () => store.write(key, JSON.stringify(set)), context.signal)
  context.session.invalidate(tokenKey(context.credential), knownTokens(context))
  context.changed('started')
}

/** Removes the set, also in a page without storage, and returns it for revocation. */
export async function dropTokens(context: OAuth2Context): Promise<TokenSet | undefined> {
  const { session, credential } = context
  const stored = { place: await placeOf(context), decode: decodeTokenSet }
  const set = await removeStored(context, stored, () => session.invalidate(tokenKey(credential), knownTokens(context)))
  if (set?.secretEncoding) await rememberEncoding(context, set.secretEncoding)
  return set
}

/** Returns why the user must log in before a token can be obtained; undefined when that is not needed. */
export async function loginProblem(context: OAuth2Context): Promise<AuthError | undefined> {
  const { state, refreshable } = await tokenState(context)
  return state === 'valid' || refreshable ? undefined : loginRequired(context.credential)
}

export async function tokenState(context: OAuth2Context): Promise<TokenState> {
  const { store, key } = await placeOf(context)
  const set = decodeTokenSet(await store.read(key))
  const anew = !needsPerson(context.credential)
  const persistent = !isMemoryOnly(context.credential)
  if (!set) return { state: 'none', refreshable: anew, persistent }
  const { expiresAt, scopes, idToken } = set
  const user = idToken === undefined ? undefined : userName(idToken)
  return {
    ...stateAt(context.clock.now(), expiresAt),
    refreshable: anew || canRefresh(set),
    persistent,
    ...(scopes && { scopes }),
    ...(user !== undefined && { user }),
  }
}

/** True when a refresh can replace what is presented. */
function canRefresh({ refreshToken, idTokenIsLast }: TokenSet): boolean {
  return refreshToken !== undefined && !idTokenIsLast
}

/** Returns the set as input of a chain. */
export async function tokenOf(context: OAuth2Context): Promise<Token> {
  const { accessToken, tokenType, expiresAt, scopes, idToken } = await resolveTokens(context)
  return {
    value: accessToken,
    tokenType,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(scopes && { scopes }),
    ...(idToken !== undefined && { idToken }),
    ...(tokenType === 'DPoP' && { key: await boundKey(context) }),
  }
}

/** Returns the session key with everything that a token depends on; the session adds the credential's id. */
export function tokenKey(credential: OAuth2Credential): string {
  const { tokenUrl, authorizationUrl, clientId, flow, scopes = [], resource, audience, subject, requestedTokenType } = credential
  const server = publishedAt(credential) ?? tokenUrl ?? authorizationUrl
  return JSON.stringify(['token', server, clientId, flow, [...scopes].sort(), resource, audience, subject, requestedTokenType])
}

/** Returns when to replace a set; epoch milliseconds. */
function refreshTimeOf({ askedAt, expiresAt = Number.POSITIVE_INFINITY }: TokenSet, { session }: OAuth2Context): number {
  return refreshTime(askedAt, expiresAt, session.minValidity)
}

async function kept(context: OAuth2Context, refused: TokenSet | undefined): Promise<TokenSet> {
  const { credential, clock } = context
  const [place, user, boundTo] = await Promise.all([placeOf(context), namedUser(credential), thumbprintOf(context)])
  const decode = (text: string | undefined) => {
    const set = decodeTokenSet(text)
    return set?.user === user ? set : undefined
  }
  const run = () =>
    obtainOnce(context, {
      place,
      decode,
      isUsable: (set) => clock.now() < refreshTimeOf(set, context) && set.accessToken !== refused?.accessToken && set.boundTo === boundTo,
      isLiving(old, error) {
        if (!isLiving(old, refused, context)) return false
        if (isAuthError(error) && error.code === NOT_WRITABLE) tellOnce(context, place, error)
        return true
      },
      async prepare() {
        // Slow discovery starts before others have to wait, and fails below if it does; when only a login is left, no request is sent.
        const isRenewable = !needsPerson(credential) || decode(await place.store.read(place.key))?.refreshToken !== undefined
        if (isRenewable) await serverOf(context).catch(() => undefined)
        return async (old) => ({ ...(await refreshed({ ...context, longestRest: LOCKED_REST }, old, refused, place)), user })
      },
      check(set) {
        if (set.idTokenIsLast && !isLiving(set, refused?.idToken === set.idToken ? set : undefined, context))
          throw loginRequired(credential, 'its ID token has expired or was refused, and a refresh returns no other')
      },
    })
  return untilRested(context, run)
}

async function thumbprintOf(context: OAuth2Context): Promise<string | undefined> {
  return context.credential.dpop ? (await boundKey(context)).thumbprint : undefined
}

/** True for a set that is due for refresh and has not expired: usable when the server is unreachable. */
function isLiving({ expiresAt, accessToken }: TokenSet, refused: TokenSet | undefined, { clock }: OAuth2Context): boolean {
  return expiresAt !== undefined && clock.now() < expiresAt && accessToken !== refused?.accessToken
}

/**
 * Obtains a set with the refresh token if there is one, else with the grant. A refused refresh token is removed. A refresh token
 * whose successor could not be stored is not sent: grants without a login are repeated, others fail with `CACHE_NOT_WRITABLE`.
 */
async function refreshed(
  context: OAuth2Context,
  old: TokenSet | undefined,
  refused: TokenSet | undefined,
  place: StorePlace,
): Promise<TokenSet> {
  const { credential } = context
  if (old?.secretEncoding) await rememberEncoding(context, old.secretEncoding)
  if (old === undefined || !canRefresh(old) || !(await isRefreshable(context, old, place))) return byGrant(context)
  try {
    const set = await refresh(context, old)
    return set.idTokenIsLast && !needsPerson(credential) ? await byGrant(context) : set
  } catch (error) {
    if (!isAuthError(error)) throw error
    if (!isRefused(error, credential)) throw needsPerson(credential) ? withLogin(error, credential) : error
    await forgetRefreshToken(context, old, refused, place)
    return byGrant(context, error)
  }
}

/** Removes a refused refresh token; an access token that has not expired stays. */
async function forgetRefreshToken(
  context: OAuth2Context,
  old: TokenSet,
  refused: TokenSet | undefined,
  { store, key }: StorePlace,
): Promise<void> {
  const { refreshToken: _refused, ...rest } = old
  if (isLiving(old, refused, context)) return store.write(key, JSON.stringify(rest))
  await store.remove(key)
  context.changed('removed')
}

const NOT_WRITABLE = 'CACHE_NOT_WRITABLE'
/** Minimum number of characters reserved for a token set, whatever the size of the previous one. */
const ROOM = 16_384
/** Sets whose refresh was reported as impossible, until it is possible again. */
const told = new WeakMap<SessionStore, Set<string>>()

/** True when the new set can be stored, which is checked before the refresh. Errors: `CACHE_*` when a new login would be needed. */
async function isRefreshable(context: OAuth2Context, old: TokenSet, { store, key }: StorePlace): Promise<boolean> {
  const text = JSON.stringify(old)
  try {
    await reserveIn(store, key, text, Math.max(ROOM, 3 * text.length))
    told.get(store)?.delete(key)
    return true
  } catch (error) {
    if (context.signal?.aborted) throw error
    if (needsPerson(context.credential)) throw isAuthError(error) && error.code.startsWith('CACHE_') ? error : notWritable(context, error)
    return false
  }
}

function notWritable({ credential: { id } }: OAuth2Context, reason: unknown): IntegrityError {
  const why = isAuthError(reason) ? reason.message : 'the token store cannot be written'
  const message = `the token of "${id}" was not refreshed: its new refresh token could not be stored: ${why}`
  const hint = 'free space there, or make it writable, and try again: the login is still valid'
  return new IntegrityError(NOT_WRITABLE, message, { credential: id, hint })
}

/** Warns once that the token cannot be refreshed; the access token is used until it expires. */
function tellOnce({ warn }: OAuth2Context, { store, key }: StorePlace, { code, message, hint }: AuthError): void {
  const keys = told.get(store) ?? new Set()
  if (keys.has(key)) return
  told.set(store, keys.add(key))
  warn({ code, message: `${message}. The access token is used until it expires; ${hint}` })
}

/** Refusals that say nothing about the refresh token: of the client, of its proof, for the moment. */
const OTHER_REFUSALS = ['invalid_client', 'invalid_dpop_proof', 'slow_down', 'server_error', 'temporarily_unavailable']

/**
 * True for a refresh token that is no longer valid. RFC 6749 §5.2 has the code `invalid_grant` for that, servers send many others; a status
 * that is none of token endpoints is a fault of its own. For grants without a login every refusal counts: they can be repeated.
 */
function isRefused({ code, status = 400, retryable, actual = '' }: AuthError, credential: OAuth2Credential): boolean {
  if (retryable || OTHER_REFUSALS.includes(actual)) return false
  if (!needsPerson(credential)) return code === 'OAUTH_ERROR' || /^HTTP_4\d\d$/.test(code)
  return code === 'OAUTH_ERROR' ? status <= 403 : code === 'HTTP_400' || code === 'HTTP_401'
}

/** Adds the login to the advice of a refresh that failed for good. */
function withLogin(error: AuthError, { id }: OAuth2Credential): AuthError {
  if (error.retryable || !(error.code === 'OAUTH_ERROR' || /^HTTP_4/.test(error.code))) return error
  return withAdvice(error, `if that stays so: stac-auth login ${id}`)
}

/** @param refusal of the refresh token */
async function byGrant(context: OAuth2Context, refusal?: AuthError): Promise<TokenSet> {
  switch (context.credential.flow) {
    case 'clientCredentials':
      return clientCredentials(context)
    case 'password':
      return password(context)
    case 'tokenExchange':
      return tokenExchange(context)
    default:
      throw loginRequired(context.credential, refusal?.message)
  }
}

/** True for tokens that are kept in memory only: bound to a key that cannot be exported, or derived from another credential's login. */
function isMemoryOnly({ flow, dpop, dpopKey, dpopKeyPair }: OAuth2Credential): boolean {
  return flow === 'tokenExchange' || (dpop === true && dpopKey === undefined && dpopKeyPair === undefined)
}

/** Returns the user name when the credential itself contains it: tokens of one user are never used for another. */
async function userOf({ username }: OAuth2Credential): Promise<string> {
  return username?.isText ? username.reveal() : ''
}

/** Returns further parameters, which may select another account or realm; those from other sources are identified by their names. */
async function parametersOf({ tokenParameters }: OAuth2Credential): Promise<string> {
  if (tokenParameters === undefined) return ''
  const read = async ([name, value]: [string, Secret]) => [name, value.isText ? await value.reveal() : null]
  return JSON.stringify(await Promise.all([...tokenParameters].sort(([a], [b]) => (a < b ? -1 : 1)).map(read)))
}

/** Returns the user name from another source; the set is still found when that source is empty. The user is not asked again. */
async function namedUser(credential: OAuth2Credential): Promise<string | undefined> {
  const { username } = credential
  return username && !username.isText && !username.isAsked ? platform.sha256Hex(await reveal(username, 'username', credential)) : undefined
}

async function placeOf({ credential, stores }: OAuth2Context): Promise<StorePlace> {
  const more = await parametersOf(credential)
  const parts = [credential.id, tokenKey(credential), await userOf(credential), credential.dpop ? 'dpop' : '', ...(more ? [more] : [])]
  return storePlace(isMemoryOnly(credential) ? stores.inMemory : stores.persistent, ...parts)
}

/** The token set of a token response (RFC 6749 §5.1, OpenID Connect Core 1.0 §3.1.3.3), and its form in a store. */
export interface TokenSet {
  readonly accessToken: string
  /** `N_A` can only be used as input of another exchange (RFC 8693 §2.2.1). */
  readonly tokenType: 'Bearer' | 'DPoP' | 'N_A'
  /** Epoch milliseconds of the request. */
  readonly askedAt: number
  /** Epoch milliseconds; absent when unknown. */
  readonly expiresAt?: number
  readonly scopes?: readonly string[]
  readonly refreshToken?: string
  /** Verified before it is stored. */
  readonly idToken?: string
  /** True when a refresh returned no other ID token: this one is the last of the login. */
  readonly idTokenIsLast?: true
  /** How the server takes the client secret, when that is not as in RFC 6749 §2.3.1. */
  readonly secretEncoding?: 'none'
  /** SHA-256, in hex, of the user name, when it comes from another source than the credential. */
  readonly user?: string
  /** Thumbprint of the key that a `DPoP` token is bound to (RFC 9449 §6.1). */
  readonly boundTo?: string
}

/** Decodes a set from a store; undefined for anything else. */
function decodeTokenSet(text: string | undefined): TokenSet | undefined {
  const value = parsedJson(text ?? '')
  const isSet =
    isObject(value) &&
    typeof value.accessToken === 'string' &&
    ['Bearer', 'DPoP', 'N_A'].includes(String(value.tokenType)) &&
    typeof value.askedAt === 'number' &&
    ['number', 'undefined'].includes(typeof value.expiresAt) &&
    ['string', 'undefined'].includes(typeof value.refreshToken) &&
    ['string', 'undefined'].includes(typeof value.idToken) &&
    ['true', 'undefined'].includes(String(value.idTokenIsLast)) &&
    ['none', 'undefined'].includes(String(value.secretEncoding)) &&
    ['string', 'undefined'].includes(typeof value.boundTo) &&
    ['string', 'undefined'].includes(typeof value.user) &&
    (value.scopes === undefined || (Array.isArray(value.scopes) && value.scopes.every((scope) => typeof scope === 'string')))
  return isSet ? (value as unknown as TokenSet) : undefined
}
