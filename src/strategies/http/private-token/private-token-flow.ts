import { type Credential, Secret } from '../../../auth/credential.ts'
import { type AuthFlow, authorized, handshake } from '../../../auth/strategy.ts'
import { base64, sameBytes } from '../../../crypto/encoding.ts'
import { ChallengeError, CredentialError } from '../../../errors.ts'
import { authParams, type Challenge } from '../../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../../http/message.ts'
import { originOf } from '../../../http/network-error.ts'
import { revealText, unfit } from '../../reveal.ts'
import { challengesFor } from '../challenge-response.ts'
import type { HttpContext } from '../scheme.ts'
import { issuedToken, type LoadPrivacyPass, type TokenIssuer } from './issuance.ts'
import { AUTHENTICATOR_BYTES, bytesOf, isForOrigin, type TokenChallenge, tokenChallenge, typeName, uint16 } from './token-challenge.ts'

/** A supported challenge, and its expiry (epoch milliseconds). */
interface Asked extends TokenChallenge {
  readonly expiresAt?: number
}

interface Answer {
  readonly token: PrivateToken
  readonly expiresAt?: number
}

/** Answers the server's challenge with a token (RFC 9577 §2). */
export async function* privateTokenFlow(request: HttpRequest, context: HttpContext, load: LoadPrivacyPass): AuthFlow {
  const ready = await readyTokens(context.credential)
  const response = yield handshake(request)
  const offers = challengesFor(response, 'PrivateToken', context)
  const [first, ...more] = await usable(offers, response, context)
  if (!first) return
  const { token, expiresAt } = ready ? await oneOf(ready, [first, ...more], response, context) : await fromIssuer(first, context, load)
  yield authorized(withHeader(request, 'authorization', `PrivateToken ${authParams([['token', token.text, 'quoted']])}`), expiresAt)
}

/** Returns the tokens of the credential, read before anything is sent; undefined when it names an issuer. */
async function readyTokens(credential: Credential): Promise<readonly PrivateToken[] | undefined> {
  if (credential.token === undefined) return undefined
  return tokensIn(await revealText(credential.token as Secret, 'token', credential), 'token', credential)
}

function tokensIn(text: string, field: string, { id }: Credential): readonly PrivateToken[] {
  const tokens = privateTokens(text)
  if (typeof tokens === 'string') throw unfit(field, id, tokens)
  return tokens
}

/** Maximum number of challenges that an error explains. */
const EXPLAINED = 4

/** Returns the supported challenges, in the server's order; none when there is no challenge. Errors: `AUTH_CHALLENGE_UNSUPPORTED`. */
async function usable(offers: readonly Challenge[], response: HttpResponse, context: HttpContext): Promise<readonly Asked[]> {
  const read = await Promise.all(offers.map((offer) => asked(offer, response, context)))
  const good = read.filter((one) => typeof one !== 'string')
  if (good.length > 0 || offers.length === 0) return good
  throw unanswerable(response, context, [...new Set(read)].slice(0, EXPLAINED).join('; '))
}

/** Returns the challenge; a text says why it is unsupported. */
async function asked({ params }: Challenge, { url }: HttpResponse, { credential, clock }: HttpContext): Promise<Asked | string> {
  const challenge = await tokenChallenge(params.get('challenge'), params.get('token-key'))
  if (typeof challenge === 'string') return challenge
  const { issuerName, tokenKey } = challenge
  if (!isForOrigin(challenge, url)) return `the token would be for ${short(challenge.originInfo.join(', '))}`
  if (credential.issuerName !== undefined && credential.issuerName !== issuerName) {
    return `the token would be from the issuer ${short(issuerName)} instead of ${credential.issuerName}`
  }
  if (credential.issuerRequestUri !== undefined && tokenKey === undefined) return 'its "token-key" is missing'
  const maxAge = params.get('max-age')
  if (maxAge === undefined) return challenge
  return /^\d{1,9}$/.test(maxAge) ? { ...challenge, expiresAt: clock.now() + Number(maxAge) * 1000 } : 'its "max-age" is malformed'
}

/** Returns a ready token that was issued for one of the challenges. Errors: `AUTH_CHALLENGE_UNSUPPORTED`, `CREDENTIAL_SOURCE`. */
async function oneOf(
  ready: readonly PrivateToken[],
  wanted: readonly Asked[],
  response: HttpResponse,
  context: HttpContext,
): Promise<Answer> {
  const pool = await poolOf(context)
  pool.add(ready)
  for (const challenge of wanted) {
    const token = pool.take(challenge)
    if (token) return { token, expiresAt: challenge.expiresAt }
  }
  if (!wanted.some((challenge) => ready.some((token) => answers(token, challenge)))) {
    throw unanswerable(response, context, `no token of "${context.credential.id}" was issued for this challenge`)
  }
  throw usedUp(context, 'all tokens were sent before, and each is for one request')
}

/** Returns an unused token, or a new one. Errors: `CREDENTIAL_SOURCE`, `CREDENTIAL_VALUE_INVALID`, and those of the issuer. */
async function fromIssuer(challenge: Asked, context: HttpContext, load: LoadPrivacyPass): Promise<Answer> {
  const { credential } = context
  const pool = await poolOf(context)
  const { expiresAt } = challenge
  const left = pool.take(challenge)
  if (left) return { token: left, expiresAt }
  const issuer = credential.issuer as TokenIssuer | undefined
  const text = issuer
    ? await revealText(new Secret(() => issuer(challenge)), 'issuer', credential)
    : await issuedToken(load, challenge, context)
  pool.add(tokensIn(text, 'issuer', credential))
  const token = pool.take(challenge)
  if (token) return { token, expiresAt }
  throw usedUp(context, 'the issuer returned no new token for the challenge')
}

/** Returns the credential's unused tokens; each token names its challenge and key. */
async function poolOf({ session, credential }: HttpContext): Promise<TokenPool> {
  const key = `privatetoken ${credential.issuerName ?? ''}`
  return (await session.resolve(key, async () => ({ value: new TokenPool() }))).value
}

function usedUp({ credential: { id } }: HttpContext, why: string): CredentialError {
  return new CredentialError('CREDENTIAL_SOURCE', `"${id}" has no token to send: ${why}`, {
    credential: id,
    hint: 'put new tokens into the credential, or set issuerName and issuerRequestUri',
  })
}

function unanswerable({ url, status }: HttpResponse, { credential: { id } }: HttpContext, why: string): ChallengeError {
  const message = `"${id}" has no token for the PrivateToken challenge of ${originOf(url)}: ${why}. No token was sent`
  return new ChallengeError('AUTH_CHALLENGE_UNSUPPORTED', message, { url, status, credential: id })
}

function short(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}

/** A token that can be redeemed once (RFC 9577 §2.2.1). */
interface PrivateToken {
  readonly tokenType: number
  readonly challengeDigest: Uint8Array
  readonly tokenKeyId: Uint8Array
  /** Base64url with padding, as it is sent; unique per token. */
  readonly text: string
}

/** Type, nonce, challenge digest and key id. */
const INPUT_BYTES = 98

/** Parses tokens in base64url separated by blanks or line breaks; a returned text says what is wrong, never quoting a token. */
export function privateTokens(text: string): readonly PrivateToken[] | string {
  const read = text.trim().split(/\s+/).map(privateToken)
  const problem = read.find((token) => typeof token === 'string')
  return problem ?? (read as readonly PrivateToken[])
}

function privateToken(text: string): PrivateToken | string {
  const bytes = bytesOf(text)
  if (!bytes || bytes.length < 2) return 'is not a token in base64url'
  const tokenType = uint16(bytes, 0)
  const authenticator = AUTHENTICATOR_BYTES.get(tokenType)
  if (authenticator === undefined) return 'has an unsupported token type'
  const length = INPUT_BYTES + authenticator
  if (bytes.length !== length) return `has ${bytes.length} bytes; a token of type ${typeName(tokenType)} has ${length}`
  const padded = base64(bytes).replaceAll('+', '-').replaceAll('/', '_')
  return { tokenType, challengeDigest: bytes.slice(34, 66), tokenKeyId: bytes.slice(66, INPUT_BYTES), text: padded }
}

/** True when the token was issued for that challenge, by the server's key. */
export function answers(token: PrivateToken, { tokenType, digest, tokenKeyId }: TokenChallenge): boolean {
  if (token.tokenType !== tokenType || !sameBytes(token.challengeDigest, digest)) return false
  return tokenKeyId === undefined || sameBytes(token.tokenKeyId, tokenKeyId)
}

/** Maximum number of tokens kept, the latest ones. */
const MAX_TOKENS = 10_000

/** The tokens of one issuer, each of which is returned once. */
class TokenPool {
  readonly #unspent = new Map<string, PrivateToken>()
  readonly #spent = new Set<string>()

  /** Adds tokens; one that was taken before is ignored. */
  add(tokens: readonly PrivateToken[]): void {
    for (const token of tokens) if (!this.#spent.has(token.text)) this.#unspent.set(token.text, token)
    shorten(this.#unspent)
  }

  /** Removes and returns a token for that challenge synchronously: no other request gets the same. */
  take(challenge: TokenChallenge): PrivateToken | undefined {
    for (const token of this.#unspent.values()) {
      if (!answers(token, challenge)) continue
      this.#unspent.delete(token.text)
      this.#spent.add(token.text)
      shorten(this.#spent)
      return token
    }
    return undefined
  }
}

function shorten(collection: Map<string, unknown> | Set<string>): void {
  for (const oldest of collection.keys()) {
    if (collection.size <= MAX_TOKENS) return
    collection.delete(oldest)
  }
}
