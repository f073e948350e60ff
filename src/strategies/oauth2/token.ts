/** Token sets of an entry: obtained once for all who wait, in this process and in others, and kept before they are used. */
import { platform } from '#platform'
import type { SessionStore } from '../../auth/session-store.ts'
import type { Token, TokenState } from '../../auth/strategy.ts'
import { type AuthError, isAuthError } from '../../errors.ts'
import { reveal } from '../reveal.ts'
import { boundKey } from './client.ts'
import { needsPerson, type OAuth2Context, type OAuth2Credential, type OAuth2PeekContext } from './credential.ts'
import { loginRequired } from './login-required.ts'
import { publishedAt, serverOf } from './server.ts'
import { decodeTokenSet, encodeTokenSet, renewalOf, type TokenSet } from './token-set.ts'

/** The token set, from session or store, renewed, or by the entry's grant. Errors: those of the grant, `LOGIN_REQUIRED`. */
export async function resolveTokens(context: OAuth2Context, refused?: TokenSet): Promise<TokenSet> {
  const { value } = await context.session.resolve<TokenSet>(tokenKey(context.credential), async (signal) => {
    const set = await kept({ ...context, signal }, refused)
    return { value: set, renewAt: renewalOf(set), ...(set.expiresAt !== undefined && { expiresAt: set.expiresAt }) }
  })
  return value
}

/** The set if it is at hand. */
export function knownTokens({ credential, session }: OAuth2PeekContext): TokenSet | undefined {
  return session.get<TokenSet>(tokenKey(credential))?.value
}

/** A new set in place of one that a server refused; whoever comes first gets it for all. */
export function renewTokens(context: OAuth2Context, refused: TokenSet): Promise<TokenSet> {
  context.session.invalidate(tokenKey(context.credential), refused)
  return resolveTokens(context, refused)
}

/** Keeps a set that a login gave. */
export async function keepTokens(context: OAuth2Context, set: TokenSet): Promise<void> {
  const { store, key } = await placeOf(context)
  await store.exclusively(key, () => store.write(key, encodeTokenSet(set)), context.signal)
  context.session.invalidate(tokenKey(context.credential), knownTokens(context))
  context.changed('started')
}

/** Forgets the set, and gives it back for its revocation. */
export async function dropTokens(context: OAuth2Context): Promise<TokenSet | undefined> {
  const { store, key } = await placeOf(context)
  return store.exclusively(
    key,
    async () => {
      const set = decodeTokenSet(await store.read(key))
      // A page that may keep nothing is logged out as well.
      await store.remove(key).finally(() => {
        context.session.invalidate(tokenKey(context.credential), knownTokens(context))
        if (set) context.changed('ended')
      })
      return set
    },
    context.signal,
  )
}

/** Why a person is needed before a token can be had; undefined when none is. */
export async function hindrance(context: OAuth2Context): Promise<AuthError | undefined> {
  const { state, renewable } = await tokenState(context)
  return state === 'valid' || renewable ? undefined : loginRequired(context.credential)
}

export async function tokenState(context: OAuth2Context): Promise<TokenState> {
  const { store, key } = await placeOf(context)
  const set = decodeTokenSet(await store.read(key))
  const anew = !needsPerson(context.credential)
  const lasts = !isPassing(context.credential)
  if (!set) return { state: 'none', renewable: anew, lasts }
  const { expiresAt, scopes, refreshToken } = set
  const ended = expiresAt !== undefined && expiresAt <= context.clock.now()
  return {
    state: ended ? 'expired' : 'valid',
    renewable: anew || refreshToken !== undefined,
    lasts,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(scopes && { scopes }),
  }
}

/** The set as input of a chain. */
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

/** Everything that a token depends on; the session adds the entry's id. */
export function tokenKey(credential: OAuth2Credential): string {
  const { tokenUrl, authorizationUrl, clientId, flow, scopes = [], resource, audience, subject, requestedTokenType } = credential
  const server = publishedAt(credential) ?? tokenUrl ?? authorizationUrl
  return JSON.stringify(['token', server, clientId, flow, [...scopes].sort(), resource, audience, subject, requestedTokenType])
}

async function kept(context: OAuth2Context, refused: TokenSet | undefined): Promise<TokenSet> {
  const { store, key } = await placeOf(context)
  const user = await namedUser(context.credential)
  const own = async () => {
    const set = decodeTokenSet(await store.read(key))
    return set?.user === user ? set : undefined
  }
  const usable = async () => {
    const set = await own()
    const isUsable = set && context.clock.now() < renewalOf(set) && set.accessToken !== refused?.accessToken
    return isUsable && set.boundTo === (await thumbprintOf(context)) ? set : undefined
  }
  const before = await usable()
  if (before) return before
  // What may take long is begun before others have to wait, and fails below if it does; where only a login is left, nobody is asked.
  const isRenewable = !needsPerson(context.credential) || (await own())?.refreshToken !== undefined
  if (isRenewable) await serverOf(context).catch(() => undefined)
  return store.exclusively(
    key,
    async () => {
      // Another process may have been faster.
      const meanwhile = await usable()
      if (meanwhile) return meanwhile
      const old = await own()
      try {
        const set = { ...(await renewed(context, old, () => store.remove(key))), user }
        // A rotated refresh token is safe before anything can go wrong with the access token.
        await store.write(key, encodeTokenSet(set))
        context.changed(old ? 'renewed' : 'started')
        return set
      } catch (error) {
        if (old && isLiving(old, refused, context)) return old
        throw error
      }
    },
    context.signal,
  )
}

async function thumbprintOf(context: OAuth2Context): Promise<string | undefined> {
  return context.credential.dpop ? (await boundKey(context)).thumbprint : undefined
}

/** A set that should be renewed but has not ended is good enough when the server cannot be reached. */
function isLiving({ expiresAt, accessToken }: TokenSet, refused: TokenSet | undefined, { clock }: OAuth2Context): boolean {
  return expiresAt !== undefined && clock.now() < expiresAt && accessToken !== refused?.accessToken
}

/** By the refresh token where there is one, else by the grant. A refresh token that is refused is forgotten. */
async function renewed(context: OAuth2Context, old: TokenSet | undefined, forget: () => Promise<void>): Promise<TokenSet> {
  if (old?.refreshToken !== undefined) {
    try {
      const { refresh } = await import('./refresh.ts')
      return await refresh(context, old)
    } catch (error) {
      if (!isAuthError(error) || error.code !== 'OAUTH_ERROR' || error.actual !== 'invalid_grant') throw error
      await forget()
      context.changed('ended')
    }
  }
  return byGrant(context)
}

async function byGrant(context: OAuth2Context): Promise<TokenSet> {
  switch (context.credential.flow) {
    case 'clientCredentials':
      return (await import('./client-credentials.ts')).clientCredentials(context)
    case 'password':
      return (await import('./password.ts')).password(context)
    case 'tokenExchange':
      return (await import('./token-exchange.ts')).tokenExchange(context)
    default:
      throw loginRequired(context.credential)
  }
}

/** What must not outlive the engine: tokens of a key that nobody can read out, and those that stand on another entry's login. */
function isPassing({ flow, dpop, dpopKey, dpopKeyPair }: OAuth2Credential): boolean {
  return flow === 'tokenExchange' || (dpop === true && dpopKey === undefined && dpopKeyPair === undefined)
}

/** Whose password it is, where the entry itself says so: a token of one user is never that of another. */
async function userOf({ username }: OAuth2Credential): Promise<string> {
  return username?.isText ? username.reveal() : ''
}

/** The same where another place says it: the set is still found when that place says nothing any more. Nobody is asked anew who they are. */
async function namedUser(credential: OAuth2Credential): Promise<string | undefined> {
  const { username } = credential
  return username && !username.isText && !username.isAsked ? platform.sha256Hex(await reveal(username, 'username', credential)) : undefined
}

/** The store, and the name under which it keeps the entry's set. */
async function placeOf({ credential, stores }: OAuth2Context): Promise<{ store: SessionStore; key: string }> {
  const parts = [credential.id, tokenKey(credential), await userOf(credential), credential.dpop ? 'dpop' : '']
  const key = await platform.sha256Hex(parts.map((part) => `${part.length}:${part}`).join(''))
  return { store: isPassing(credential) ? stores.passing : stores.lasting, key }
}
