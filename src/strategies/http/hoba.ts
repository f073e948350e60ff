import { type AuthFlow, authorized, handshake } from '../../auth/strategy.ts'
import { base64url } from '../../crypto/encoding.ts'
import type { PrivateKey } from '../../crypto/private-key.ts'
import { authParams } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { challengesFor, originWithPort, signingKey, unanswerable } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/** RSA with SHA-256, in the registry of RFC 7486 §9.3. */
const RSA_SHA256 = '0'

/** A challenge; `expiresAt` in epoch milliseconds, absent when it is for one request only. */
interface HobaChallenge {
  readonly challenge: string
  readonly realm: string
  readonly expiresAt?: number
}

/** Answers a challenge, and sends later requests preemptively until it expires (RFC 7486 §2). */
export async function* hobaFlow(request: HttpRequest, context: HttpContext): AuthFlow {
  const { session, credential } = context
  const key = await signingKey(context, ['RS256'])
  const place = `hoba ${new URL(request.url).origin} ${credential.keyId}`
  const kept = session.get<HobaChallenge>(place)?.value
  const first = yield kept ? authorized(await signed(request, context, key, kept), kept.expiresAt) : handshake(request)
  if (kept && first.status === 401) session.invalidate(place, kept)
  const asked = await remember(first, context, place)
  if (!asked) return
  const second = yield authorized(await signed(request, context, key, asked), asked.expiresAt)
  if (second.status === 401) session.invalidate(place, asked)
}

/** Returns the challenge of a response, cached until it expires; undefined without a challenge. */
async function remember(response: HttpResponse, context: HttpContext, place: string): Promise<HobaChallenge | undefined> {
  const [offer] = challengesFor(response, 'HOBA', context)
  if (!offer) return undefined
  const challenge = offer.params.get('challenge') ?? ''
  const maxAge = offer.params.get('max-age') ?? ''
  // The RFC's own example is plain base64, with `/` and `=`.
  const malformed = (name: string) => unanswerable(response, context, `its "${name}" is missing or malformed`)
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(challenge)) throw malformed('challenge')
  if (!/^\d{1,9}$/.test(maxAge)) throw malformed('max-age')
  const realm = offer.params.get('realm') ?? ''
  if (Number(maxAge) === 0) return { challenge, realm }
  const expiresAt = context.clock.now() + Number(maxAge) * 1000
  const asked = { challenge, realm, expiresAt }
  await context.session.resolve(place, async () => ({ value: asked, expiresAt }))
  return asked
}

/** Returns the answer: key, challenge, nonce and a signature over all of them (§2). */
async function signed(request: HttpRequest, { credential, random }: HttpContext, key: PrivateKey, { challenge, realm }: HobaChallenge) {
  const kid = String(credential.keyId)
  const nonce = base64url(random(16))
  const fields = [nonce, RSA_SHA256, originWithPort(request.url), realm, kid, challenge]
  const signature = await key.sign(fields.map((field) => `${new TextEncoder().encode(field).length}:${field}`).join(''))
  const result = [kid, challenge, nonce, base64url(signature)].join('.')
  return withHeader(request, 'authorization', `HOBA ${authParams([['result', result, 'quoted']])}`)
}
