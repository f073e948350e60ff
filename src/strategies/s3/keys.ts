/** The keys of an `s3` credential: its own, or those of its source, which are cached until shortly before they expire. */
import type { Secret } from '../../auth/credential.ts'
import type { CacheEntry } from '../../auth/session.ts'
import type { AuthContext, PeekContext, TokenState } from '../../auth/strategy.ts'
import { isAccessToken } from '../../http/headers.ts'
import type { S3Keys } from '../../platform/platform.ts'
import type { S3Scheme } from '../../stac/scheme.ts'
import { atHand, reveal, unfit } from '../reveal.ts'
import type { S3Credential } from './access.ts'
import { whenThere } from './sigv4.ts'

export type S3Context = AuthContext<S3Scheme, S3Credential>
export type S3PeekContext = PeekContext<S3Scheme, S3Credential>

/** Temporary keys are refreshed this long before they expire; shorter-lived ones after half of the remaining time. */
const MARGIN = 5 * 60_000
const KEYS = 'keys'

/** Returns the keys to sign with. Errors: those of the source, `CREDENTIAL_VALUE_INVALID`. */
export async function keysOf(context: S3Context): Promise<S3Keys> {
  const { credential, session } = context
  return hasSource(credential) ? (await session.resolve(KEYS, (signal) => obtained(context, signal))).value : ownKeys(credential)
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
  const { accessKeyId, sessionToken } = await keysOf(context)
  return accessKeyId !== refused.accessKeyId || sessionToken !== refused.sessionToken
}

/** Returns the state of keys from a source; undefined before they were obtained, and for keys of the credential itself. */
export function keyState({ session, clock }: S3PeekContext): TokenState | undefined {
  const known = session.get<S3Keys>(KEYS)
  if (!known) return undefined
  const { expiresAt } = known
  const state = expiresAt !== undefined && expiresAt <= clock.now() ? 'expired' : 'valid'
  return { state, refreshable: true, persistent: false, ...(expiresAt !== undefined && { expiresAt }) }
}

function hasSource({ keys, credentialsUrl }: S3Credential): boolean {
  return (keys ?? credentialsUrl) !== undefined
}

async function obtained(context: S3Context, signal: AbortSignal): Promise<CacheEntry<S3Keys>> {
  const value = await keysFromSource(context, signal)
  const { expiration } = value
  if (expiration === undefined) return { value }
  return { value, expiresAt: expiration, refreshAt: expiration - Math.min(MARGIN, (expiration - context.clock.now()) / 2) }
}

async function keysFromSource({ credential, input, send, warn }: S3Context, signal: AbortSignal): Promise<S3Keys> {
  const { id, keys, credentialsUrl: url = '' } = credential
  if (keys) return keys((message) => warn({ code: 'CREDENTIAL_SOURCE', message }))
  const { keysFromService } = await import('./key-service.ts')
  return keysFromService({ id, url, send: input?.send ?? send, signal })
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
