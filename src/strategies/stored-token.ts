/** Tokens and keys that a credential obtains: once for all waiting callers, in this process and others, and stored before they are used. */
import { platform } from '#platform'
import type { SessionStore, StorePlace } from '../auth/session.ts'
import { type AuthContext, remember, type Token, type TokenState } from '../auth/strategy.ts'
import { fromBase64url } from '../crypto/encoding.ts'
import { type AuthError, ConfigurationError, CredentialError, isAuthError } from '../errors.ts'
import { parsedJson } from '../http/message.ts'
import { isObject, type JsonObject } from '../stac/document.ts'

/** How one kind of token is stored and obtained. */
interface StoredToken<T> {
  readonly place: StorePlace
  /** Returns the token in a stored text; undefined for anything else, and for a token of another user. */
  decode(text: string | undefined): T | undefined
  /** True for a token that is neither refused nor due for refresh. */
  isUsable(token: T): boolean | Promise<boolean>
  /** True for a token that may still be used after a new one could not be obtained. */
  isLiving(token: T, error: unknown): boolean
  /** Does what may take long, then returns the request for a new token, during which others wait. */
  prepare(): Promise<(old: T | undefined) => Promise<T>>
  /** Throws for a new token that cannot be used; it is stored nevertheless. */
  check?(token: T): void
}

type Caller = Pick<AuthContext, 'signal' | 'changed'>

/** Returns the stored token, or a new one in its place. Errors: those of the store and of the request. */
export async function obtainOnce<T>({ signal, changed }: Caller, token: StoredToken<T>): Promise<T> {
  const { store, key } = token.place
  const stored = async () => token.decode(await store.read(key))
  const usable = async () => {
    const present = await stored()
    return present && (await token.isUsable(present)) ? present : undefined
  }
  const before = await usable()
  if (before) return before
  const request = await token.prepare()
  const renew = async () => {
    // Another process may have obtained it meanwhile.
    const meanwhile = await usable()
    if (meanwhile) return meanwhile
    const old = await stored()
    try {
      const fresh = await request(old)
      await store.write(key, JSON.stringify(fresh))
      changed(old ? 'refreshed' : 'started')
      token.check?.(fresh)
      return fresh
    } catch (error) {
      if (old && token.isLiving(old, error)) return old
      throw error
    }
  }
  return store.exclusively(key, renew, signal, usable)
}

/** Removes the stored token and returns it for revocation; `forget` drops it from the session, also when the store cannot be written. */
export async function removeStored<T>(
  { signal, changed }: Caller,
  { place: { store, key }, decode }: Pick<StoredToken<T>, 'place' | 'decode'>,
  forget: () => void,
): Promise<T | undefined> {
  const remove = async () => {
    const token = decode(await store.read(key))
    await store.remove(key).finally(() => {
      forget()
      if (token) changed('removed')
    })
    return token
  }
  return store.exclusively(key, remove, signal)
}

/** Returns the place of a token that depends on these texts. */
export async function storePlace(store: SessionStore, ...parts: readonly string[]): Promise<StorePlace> {
  return { store, key: await platform.sha256Hex(parts.map((part) => `${part.length}:${part}`).join('')) }
}

/** Returns the state of a token with that end in epoch milliseconds. */
export function stateAt(now: number, expiresAt: number | undefined): Pick<TokenState, 'state' | 'expiresAt'> {
  return expiresAt === undefined ? { state: 'valid' } : { state: expiresAt <= now ? 'expired' : 'valid', expiresAt }
}

/** An account that a server refused. */
interface Refusal {
  /** Digest of the values that identify it. */
  readonly account: string
  readonly error: AuthError
}

const REFUSED = 'refused account'

/** Sends a token request unless the server refused the same account in the last `rest` milliseconds: accounts are often locked after a few attempts. */
export async function unlessRefused<T>(
  { session, clock }: Pick<AuthContext, 'session' | 'clock'>,
  account: string,
  rest: number,
  request: () => Promise<T>,
): Promise<T> {
  const known = session.get<Refusal>(REFUSED)?.value
  if (known?.account === account) throw known.error
  try {
    return await request()
  } catch (error) {
    if (isAuthError(error) && (error.code === 'AUTH_REJECTED' || error.actual === 'invalid_grant'))
      await remember<Refusal>(session, REFUSED, { account, error }, clock.now() + rest)
    throw error
  }
}

/** Allows a refused account again, for an explicit login. */
export function allowAgain({ session }: Pick<AuthContext, 'session'>): void {
  session.invalidate(REFUSED, session.get(REFUSED)?.value)
}

/** Returns the header (0) or the claims (1) of a JWT (RFC 7519 §3.1); no members for a malformed one. */
export function jwtPart(token: string, part: 0 | 1): JsonObject {
  const value = parsedJson(new TextDecoder().decode(fromBase64url(token.split('.')[part] ?? '')))
  return isObject(value) ? value : {}
}

/** Returns the expiry of an ID token in epoch milliseconds; undefined when there is none. */
export function endOfIdToken(token: string): number | undefined {
  const { exp } = jwtPart(token, 1)
  return typeof exp === 'number' ? exp * 1000 : undefined
}

/** Returns the ID token of the login `from`, for the credential `id`. Errors: `CONFIG_INVALID` without one, `LOGIN_REQUIRED` for an expired one. */
export function livingIdToken(token: Token | undefined, from: unknown, id: string, now: number): string {
  const idToken = token?.idToken
  if (idToken === undefined) {
    const message = `"${from}" has no ID token for "${id}": it needs the scope "openid"`
    throw new ConfigurationError('CONFIG_INVALID', message, { credential: id })
  }
  if ((endOfIdToken(idToken) ?? Number.POSITIVE_INFINITY) > now) return idToken
  throw new CredentialError('LOGIN_REQUIRED', `the ID token of "${from}" has expired: "${from}" needs a new login`, {
    credential: String(from),
    hint: `stac-auth login ${from}; if its provider refreshes ID tokens, set "present": "id_token" in "${from}"`,
  })
}
