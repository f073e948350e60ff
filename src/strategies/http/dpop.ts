import { authorized } from '../../auth/flow.ts'
import { base64url } from '../../crypto/base64url.ts'
import { compactJws } from '../../crypto/jws.ts'
import type { PrivateKey } from '../../crypto/private-key.ts'
import { parseChallenges } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { accessToken } from './access-token.ts'
import { privateKeyField, signingKey } from './signing-key.ts'
import type { HttpContext, HttpWord } from './word.ts'

/** The characters of RFC 9449 §8.1, and no more of them than a header has room for. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,2048}$/

/**
 * A token bound to a key, and a proof of the key made for each leg (RFC 9449 §4, §7.1). What a server gives as `DPoP-Nonce`
 * goes into the next proof to its origin; a server that wants one first is asked again once (§9).
 */
export const dpop: HttpWord = {
  word: 'dpop',
  fields: {
    token: { kind: 'secret', label: 'Access token', required: true },
    privateKey: { ...privateKeyField, required: true },
  },
  about: { standard: 'RFC 9449', browsers: 'yes', legs: 'a; again for a nonce', testedAgainst: 'oidc-provider' },
  async *authorize(request, context) {
    const key = await signingKey(context, ['ES256', 'EdDSA', 'RS256'])
    const token = await accessToken(context.credential)
    const place = `dpop nonce ${new URL(request.url).origin} ${key.thumbprint}`
    const known = context.session.get<string>(place)?.value
    const first = yield authorized(await bound(request, context, key, token, known))
    const given = await learn(first, context, place)
    if (given === undefined || given === known || !wantsNonce(first)) return
    const second = yield authorized(await bound(request, context, key, token, given))
    await learn(second, context, place)
  },
}

/** The request with the token and the proof for its method and address (§4.2). */
async function bound(request: HttpRequest, { clock, random }: HttpContext, key: PrivateKey, token: string, nonce?: string) {
  const { origin, pathname } = new URL(request.url)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  const claims = {
    jti: base64url(random(16)),
    htm: request.method,
    htu: origin + pathname,
    iat: Math.floor(clock.now() / 1000),
    ath: base64url(hash),
    nonce,
  }
  const proof = await compactJws(key, { typ: 'dpop+jwt', alg: key.algorithm, jwk: key.publicJwk }, claims)
  return withHeader(withHeader(request, 'authorization', `DPoP ${token}`), 'dpop', proof)
}

/** Every answer may bring a new nonce (§8.2). */
async function learn(response: HttpResponse, { session }: HttpContext, place: string): Promise<string | undefined> {
  const nonce = response.headers.get('dpop-nonce') ?? ''
  if (!NONCE.test(nonce)) return undefined
  const old = session.get<string>(place)?.value
  if (old === nonce) return nonce
  session.invalidate(place, old)
  await session.resolve(place, async () => ({ value: nonce }))
  return nonce
}

function wantsNonce({ status, headers }: HttpResponse): boolean {
  if (status !== 401) return false
  const { challenges } = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.some(({ scheme, params }) => scheme.toLowerCase() === 'dpop' && params.get('error') === 'use_dpop_nonce')
}
