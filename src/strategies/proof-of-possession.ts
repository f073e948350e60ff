/** Sends a token bound to a key, with a proof of the key for each step (RFC 9449 §4, §7.1). */

import { type AuthContext, type AuthStep, authorized, remember } from '../auth/strategy.ts'
import { base64url } from '../crypto/encoding.ts'
import { compactJws, type PrivateKey } from '../crypto/private-key.ts'
import { challengesOf } from '../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../http/message.ts'

/** The characters of RFC 9449 §8.1, at a length that fits a header. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,2048}$/

type Context = Pick<AuthContext, 'clock' | 'random' | 'session'>

/** The token that is sent, and its expiry (epoch milliseconds). */
export interface BoundToken {
  readonly value: string
  readonly key: PrivateKey
  readonly expiresAt?: number
}

/**
 * The steps of a request with a bound token; returns the last response. The server's `DPoP-Nonce` goes into the next
 * proof for its origin; when a server requires one first, the request is sent again once (§9).
 */
export async function* boundSteps(
  request: HttpRequest,
  token: BoundToken,
  context: Context,
): AsyncGenerator<AuthStep, HttpResponse, HttpResponse> {
  const place = `dpop nonce ${new URL(request.url).origin} ${token.key.thumbprint}`
  const known = context.session.get<string>(place)?.value
  const first = yield authorized(await bound(request, context, token, known), token.expiresAt)
  const given = await learn(first, context, place)
  if (given === undefined || given === known || !wantsNonce(first)) return first
  const second = yield authorized(await bound(request, context, token, given), token.expiresAt)
  await learn(second, context, place)
  return second
}

/** Returns the request with the token and the proof for its method and URL (§4.2). */
async function bound(request: HttpRequest, { clock, random }: Context, { value, key }: BoundToken, nonce?: string): Promise<HttpRequest> {
  const { origin, pathname } = new URL(request.url)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value)))
  const claims = {
    jti: base64url(random(16)),
    htm: request.method,
    htu: origin + pathname,
    iat: Math.floor(clock.now() / 1000),
    ath: base64url(hash),
    nonce,
  }
  const proof = await compactJws(key, { typ: 'dpop+jwt', alg: key.algorithm, jwk: key.publicJwk }, claims)
  return withHeader(withHeader(request, 'authorization', `DPoP ${value}`), 'dpop', proof)
}

/** Stores the nonce, which every response may replace (§8.2). */
async function learn(response: HttpResponse, { session }: Context, place: string): Promise<string | undefined> {
  const nonce = response.headers.get('dpop-nonce') ?? ''
  if (!NONCE.test(nonce)) return undefined
  if (session.get<string>(place)?.value !== nonce) await remember(session, place, nonce)
  return nonce
}

function wantsNonce(response: HttpResponse): boolean {
  return response.status === 401 && challengesOf(response, 'dpop').some(({ params }) => params.get('error') === 'use_dpop_nonce')
}
