import { platform } from '#platform'
import type { LogoutChoice } from '../../auth/auth.ts'
import type { Secret } from '../../auth/credential.ts'
import type { CacheEntry, StorePlace } from '../../auth/session.ts'
import type { AuthContext, PeekContext, TokenState } from '../../auth/strategy.ts'
import { ConfigurationError } from '../../errors.ts'
import { isAccessToken, momentOf } from '../../http/headers.ts'
import { parsedJson } from '../../http/message.ts'
import type { S3Keys } from '../../platform/platform.ts'
import { own } from '../../stac/document.ts'
import type { S3Scheme } from '../../stac/scheme.ts'
import { atHand, fieldAt, reveal, unfit, whenThere } from '../credential-values.ts'
import { obtainOnce, removeStored, stateAt } from '../stored-token.ts'
import type { S3Credential } from './endpoint.ts'

/** The keys of an `s3` credential: its own, or those of its source, which are cached until shortly before they expire. */

export type S3Context = AuthContext<S3Scheme, S3Credential>
export type S3PeekContext = PeekContext<S3Scheme, S3Credential>

/** Keys that a service gave, and when, in epoch milliseconds. */
interface GivenKeys extends S3Keys {
  readonly givenAt: number
}

/** Temporary keys are refreshed this long before they expire; shorter-lived ones after half of the remaining time. */
const MARGIN = 5 * 60_000
/** Stores may not know new keys for some seconds, in milliseconds. */
const SETTLING = 30_000
const KEYS = 'keys'

/** Returns the keys to sign with. Errors: those of the source, `CREDENTIAL_VALUE_INVALID`. */
export async function keysOf(context: S3Context, refused?: S3Keys): Promise<S3Keys> {
  const { credential, session } = context
  if (!hasSource(credential)) return ownKeys(credential)
  return (await session.resolve(KEYS, (signal) => obtained({ ...context, signal }, refused))).value
}

/** Returns the keys when they are known without a source. */
export function keysAtHand({ credential, session }: S3PeekContext): S3Keys | undefined {
  // Functions and sources are called once per request, so `peek` must not call them.
  if (!atHand(credential)) return undefined
  const keys = hasSource(credential) ? session.get<S3Keys>(KEYS)?.value : ownKeys(credential)
  return keys instanceof Promise ? undefined : keys
}

/** Reads the source again after a service refused its keys; true when the keys changed. */
export async function refreshKeys(refused: S3Keys, context: S3Context): Promise<boolean> {
  if (!hasSource(context.credential)) return false
  context.session.invalidate(KEYS, refused)
  return !areSame(await keysOf(context, refused), refused)
}

/** True for keys that a service gave so recently that the store may not know them yet. */
export function areSettling(keys: S3Keys, { clock }: S3Context): boolean {
  return isGiven(keys) && clock.now() - keys.givenAt < SETTLING
}

/** True for keys that a service gave: others can be requested. */
export function isGiven(keys: S3Keys): keys is GivenKeys {
  return 'givenAt' in keys
}

/** Returns the state of keys from a source; undefined before they were obtained, and for keys of the credential itself. */
export async function keyState(context: S3Context): Promise<TokenState | undefined> {
  const { credential, session, clock } = context
  const persistent = isAsked(credential)
  const keys = session.get<S3Keys>(KEYS)?.value ?? (persistent ? await storedKeys(context) : undefined)
  return keys && { ...stateAt(clock.now(), keys.expiration), refreshable: true, persistent }
}

/**
 * Forgets the keys that a service gave, and deletes them there where the credential says how. Errors: those of the store and of the
 * deletion; `CONFIG_INVALID` for keys that no service gives.
 */
export async function logout(context: S3Context, { revoke = true }: LogoutChoice = {}): Promise<void> {
  const { credential, session, clock } = context
  const { id, releaseUrl } = credential
  if (!isAsked(credential))
    throw new ConfigurationError('CONFIG_INVALID', `credential "${id}" of type s3 has no login: its keys are not from a service`, {
      credential: id,
    })
  const stored = { place: await placeOf(context), decode: decodeKeys }
  const keys = await removeStored(context, stored, () => session.invalidate(KEYS, session.get(KEYS)?.value))
  const isLiving = keys && stateAt(clock.now(), keys.expiration).state === 'valid'
  if (revoke && releaseUrl !== undefined && isLiving) await (await import('./key-service.ts')).releaseKeys(keys, context)
}

/** True for keys that a service gives for another credential. */
function isAsked({ credentialsUrl, stsEndpoint }: S3Credential): boolean {
  return (credentialsUrl ?? stsEndpoint) !== undefined
}

function hasSource(credential: S3Credential): boolean {
  return credential.keys !== undefined || isAsked(credential)
}

function areSame(one: S3Keys, other: S3Keys): boolean {
  return one.accessKeyId === other.accessKeyId && one.sessionToken === other.sessionToken
}

async function obtained(context: S3Context, refused: S3Keys | undefined): Promise<CacheEntry<S3Keys>> {
  const { credential, clock, warn } = context
  const value = credential.keys
    ? await credential.keys((message) => warn({ code: 'CREDENTIAL_SOURCE', message }))
    : await sharedKeys(context, refused)
  const { expiration } = value
  if (expiration === undefined) return { value }
  return { value, expiresAt: expiration, refreshAt: dueAt(value, isGiven(value) ? value.givenAt : clock.now()) }
}

/** Returns when to replace keys, in epoch milliseconds. */
function dueAt({ expiration = Number.POSITIVE_INFINITY }: S3Keys, since: number, minValidity = 0): number {
  const life = expiration - since
  return expiration - Math.max(Math.min(MARGIN, life / 2), minValidity < life ? minValidity : 0)
}

/** Returns keys of a service: those in the store, else new ones, which are requested once for all processes. */
async function sharedKeys(context: S3Context, refused: S3Keys | undefined): Promise<S3Keys> {
  const { clock, session } = context
  const isRefused = (keys: S3Keys) => refused !== undefined && areSame(keys, refused)
  return obtainOnce(context, {
    place: await placeOf(context),
    decode: decodeKeys,
    isUsable: (keys) => clock.now() < dueAt(keys, keys.givenAt, session.minValidity) && !isRefused(keys),
    isLiving: (keys) => keys.expiration !== undefined && clock.now() < keys.expiration && !isRefused(keys),
    async prepare() {
      const ask = await asking(context)
      return async () => ({ ...(await ask()), givenAt: clock.now() })
    },
  })
}

/**
 * Returns the request for keys. The token of a login is obtained first: it has a lock of its own, and may take long; without one the
 * request fails, so that keys which have not expired are used.
 */
async function asking(context: S3Context): Promise<() => Promise<S3Keys>> {
  const { identityToken, keysForToken, keysFromService } = await import('./key-service.ts')
  if (context.credential.stsEndpoint === undefined) return () => keysFromService(context)
  try {
    const token = await identityToken(context)
    return () => keysForToken(context, token)
  } catch (error) {
    return () => Promise.reject(error)
  }
}

/** Returns the place of the keys, which depend on all that the service is asked, and as whom. */
async function placeOf({ credential, stores }: S3Context): Promise<StorePlace> {
  const { id, with: login, credentialsUrl, method, body, bodyType, stsEndpoint, roleArn, roleSessionName, durationSeconds } = credential
  const asked = body && [...body].map(([name, value]) => [name, value])
  const service = [credentialsUrl, method, bodyType, asked, stsEndpoint, roleArn, roleSessionName, durationSeconds]
  const key = await platform.sha256Hex(JSON.stringify(['keys', id, login, ...service, credential.webIdentityToken]))
  return { store: stores.persistent, key }
}

async function storedKeys(context: S3Context): Promise<GivenKeys | undefined> {
  const { store, key } = await placeOf(context)
  return decodeKeys(await store.read(key))
}

function decodeKeys(text = ''): GivenKeys | undefined {
  const value = parsedJson(text)
  const keys = keysIn(value)
  const [givenAt, expiration] = ['givenAt', 'expiration'].map((name) => own(value, name))
  if (!keys || typeof givenAt !== 'number') return undefined
  return { ...keys, ...(typeof expiration === 'number' && { expiration }), givenAt }
}

/** Reads the credential's own keys in order: synchronously when they were given as text. */
function ownKeys(credential: S3Credential): S3Keys | Promise<S3Keys> {
  const { accessKeyId, secretAccessKey, sessionToken } = credential
  const read = (secret: Secret | undefined, field: string) => (secret ? reveal(secret, field, credential) : '')
  return whenThere(read(accessKeyId, 'accessKeyId'), (id) =>
    whenThere(read(secretAccessKey, 'secretAccessKey'), (key) =>
      whenThere(read(sessionToken, 'sessionToken'), (token) => keysFrom([id, key, token], credential)),
    ),
  )
}

function keysFrom([accessKeyId = '', secretAccessKey = '', sessionToken = '']: readonly string[], { id }: S3Credential): S3Keys {
  // Both are sent in headers; only the secret key is not sent.
  const odd = isAccessToken(accessKeyId) ? sessionToken && !isAccessToken(sessionToken) && 'sessionToken' : 'accessKeyId'
  if (odd) throw unfit(odd, id, 'contains a blank or a character that is not visible ASCII')
  return sessionToken ? { accessKeyId, secretAccessKey, sessionToken } : { accessKeyId, secretAccessKey }
}

/** Reads keys in the answers of services. */

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
