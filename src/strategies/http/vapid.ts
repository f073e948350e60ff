import { type AuthFlow, authorized } from '../../auth/strategy.ts'
import { base64url } from '../../crypto/encoding.ts'
import { compactJws, uncompressedPoint } from '../../crypto/private-key.ts'
import { type HttpRequest, withHeader } from '../../http/message.ts'
import { signingKey } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/** Seconds that a token is valid; RFC 8292 §2 allows 24 hours. */
const LIFETIME = 12 * 60 * 60

/** Milliseconds before its expiry when a token is no longer used. */
const MARGIN = 5 * 60_000

/** Sends a token that is reused until it expires (RFC 8292 §2, §3). */
export async function* vapidFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const { session, clock, credential } = context
  const key = await signingKey(context, ['ES256'])
  const aud = new URL(request.url).origin
  const name = `vapid ${aud} ${key.thumbprint} ${credential.subject}`
  const { value, expiresAt } = await session.resolve(name, async () => {
    const exp = Math.floor(clock.now() / 1000) + LIFETIME
    const token = await compactJws(key, { typ: 'JWT', alg: 'ES256' }, { aud, exp, sub: credential.subject })
    return { value: token, expiresAt: exp * 1000, refreshAt: exp * 1000 - MARGIN }
  })
  const response = yield authorized(
    withHeader(request, 'authorization', `vapid t=${value}, k=${base64url(uncompressedPoint(key.publicJwk))}`),
    expiresAt,
  )
  if (response.status === 401 || response.status === 403) session.invalidate(name, value)
}
