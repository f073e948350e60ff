import { type Credential, Secret } from '../../auth/credential.ts'
import { type AuthFlow, authorized, handshake, refusedCall } from '../../auth/strategy.ts'
import { base64, base64url, fromBase64url, sameBytes } from '../../crypto/encoding.ts'
import { CredentialError, ProtocolError, UnsupportedError } from '../../errors.ts'
import { authParams, type Challenge } from '../../http/challenge.ts'
import { type HttpRequest, type HttpResponse, withHeader } from '../../http/message.ts'
import { originOf } from '../../http/url.ts'
import type { BlindingClient, PrivacyPass } from '../../platform/platform.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { revealText, unfit } from '../credential-values.ts'
import { challengesFor, unanswerable } from './challenge-response.ts'
import type { HttpContext } from './http-strategy.ts'

/** A supported challenge, and its expiry (epoch milliseconds). */
interface SupportedChallenge extends TokenChallenge {
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

function tokensIn(text: string, name: string, { id }: Credential): readonly PrivateToken[] {
  const tokens = privateTokens(text)
  if (typeof tokens === 'string') throw unfit(name, id, tokens)
  return tokens
}

/** Maximum number of challenges that an error explains. */
const EXPLAINED = 4

/** Returns the supported challenges, in the server's order; none when there is no challenge. Errors: `AUTH_CHALLENGE_UNSUPPORTED`. */
async function usable(offers: readonly Challenge[], response: HttpResponse, context: HttpContext): Promise<readonly SupportedChallenge[]> {
  const read = await Promise.all(offers.map((offer) => asked(offer, response, context)))
  const good = read.filter((one) => typeof one !== 'string')
  if (good.length > 0 || offers.length === 0) return good
  throw unanswerable(response, context, [...new Set(read)].slice(0, EXPLAINED).join('; '))
}

/** Returns the challenge; a text says why it is unsupported. */
async function asked(
  { params }: Challenge,
  { url }: HttpResponse,
  { credential, clock }: HttpContext,
): Promise<SupportedChallenge | string> {
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
  wanted: readonly SupportedChallenge[],
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
async function fromIssuer(challenge: SupportedChallenge, context: HttpContext, load: LoadPrivacyPass): Promise<Answer> {
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

/** A challenge for a token (RFC 9577 §2.1.1). */
export interface TokenChallenge {
  /** In the registry of RFC 9578 §8.2: 1 is VOPRF(P-384, SHA-384), 2 is Blind RSA (2048-bit). */
  readonly tokenType: number
  /** A host, with its port unless it is the default. */
  readonly issuerName: string
  /** 32 bytes, or none. */
  readonly redemptionContext: Uint8Array
  /** The origins where the token may be redeemed, in the form of `issuerName`; empty means any. */
  readonly originInfo: readonly string[]
  /** The structure as the server sent it, and its SHA-256, which a token is bound to. */
  readonly bytes: Uint8Array
  /** SHA-256 of `bytes`. */
  readonly digest: Uint8Array
  /** The issuer's public key, when the server sends it, and its SHA-256. */
  readonly tokenKey?: Uint8Array
  /** SHA-256 of `tokenKey`. */
  readonly tokenKeyId?: Uint8Array
}

/** Token types of RFC 9578 §8.2.1 and §8.2.2, with the length of their authenticators in bytes. */
const AUTHENTICATOR_BYTES: ReadonlyMap<number, number> = new Map([
  [0x0001, 48],
  [0x0002, 256],
])

/** Parses a challenge in base64url or base64, padded or not; a returned text says what is wrong, never quoting it. */
export async function tokenChallenge(challenge = '', tokenKey?: string): Promise<TokenChallenge | string> {
  const bytes = bytesOf(challenge)
  if (!bytes || bytes.length < 2) return 'its "challenge" is missing or malformed'
  const type = uint16(bytes, 0)
  if (!AUTHENTICATOR_BYTES.has(type)) return `unsupported token type ${typeName(type)}`
  const fields = fieldsOf(bytes)
  if (!fields) return 'its "challenge" is malformed'
  const read = { tokenType: type, ...fields, bytes, digest: await sha256(bytes) }
  if (tokenKey === undefined) return read
  const key = bytesOf(tokenKey)
  return key && key.length > 0 ? { ...read, tokenKey: key, tokenKeyId: await sha256(key) } : 'its "token-key" is malformed'
}

/** Formats a number as in the registry. */
function typeName(type: number): string {
  return `0x${type.toString(16).toUpperCase().padStart(4, '0')}`
}

/** True when the token may be redeemed at that URL; a name without a port means the default port (RFC 9577 §2.1.3). */
function isForOrigin({ originInfo }: TokenChallenge, url: string): boolean {
  const { protocol, host } = new URL(url)
  return originInfo.length === 0 || originInfo.some((name) => hostOf(protocol, name) === host)
}

/** Decodes base64url or base64; undefined for anything else. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  return /^[\w+/-]+={0,2}$/.test(text) ? fromBase64url(text) : undefined
}

/** Returns the canonical host and port. */
function hostOf(protocol: string, name: string): string | undefined {
  return /[/?#@\\]/.test(name) || !canParseUrl(`${protocol}//${name}`) ? undefined : new URL(`${protocol}//${name}`).host
}

/** Parses the length-prefixed fields; every byte must belong to one. */
function fieldsOf(bytes: Uint8Array): Pick<TokenChallenge, 'issuerName' | 'redemptionContext' | 'originInfo'> | undefined {
  const issuer = field(bytes, 2, 2)
  const context = issuer && field(bytes, issuer.end, 1)
  const origins = context && field(bytes, context.end, 2)
  if (!origins || origins.end !== bytes.length) return undefined
  const [issuerName, originInfo] = [issuer.value, origins.value].map((value) => String.fromCharCode(...value))
  if (!issuerName || originInfo === undefined || /[^\x21-\x7e]/.test(issuerName + originInfo)) return undefined
  if (context.value.length !== 0 && context.value.length !== 32) return undefined
  return { issuerName, redemptionContext: context.value, originInfo: originInfo === '' ? [] : originInfo.split(',') }
}

/** Returns a field after its length; undefined when there are fewer bytes than it says. */
function field(bytes: Uint8Array, at: number, width: 1 | 2): { readonly value: Uint8Array; readonly end: number } | undefined {
  const start = at + width
  if (start > bytes.length) return undefined
  const end = start + (width === 1 ? (bytes[at] ?? 0) : uint16(bytes, at))
  return end > bytes.length ? undefined : { value: bytes.slice(start, end), end }
}

/** Encodes two bytes, big-endian. */
function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/** Requests tokens from an issuer (RFC 9578); an optional package does the blinding. */

/**
 * Returns one token for that challenge, or several separated by blanks, in base64url: the field `issuer` of a credential
 * in code. Surplus tokens are kept for later requests.
 */
export type TokenIssuer = (challenge: TokenChallenge) => Promise<string>

const PACKAGE = '@cloudflare/privacypass-ts'

/** Imports the package that does the blinding. */
export type LoadPrivacyPass = () => Promise<PrivacyPass>

/** Maximum lengths of public keys: a compressed point of P-384, and RSA with 2048 bits as RSASSA-PSS. */
const MAX_KEY_BYTES = new Map([
  [0x0001, 49],
  [0x0002, 400],
])

/** An evaluated element with its proof is 145 bytes, a blind signature 256. */
const MAX_ANSWER = 1024

/**
 * Returns one token from the credential's `issuerRequestUri`, in base64url (RFC 9578 §5, §6); the server cannot choose where the
 * request goes. Errors: `SCHEME_UNSUPPORTED` without the package, `AUTH_CHALLENGE_UNSUPPORTED` for a key that cannot be used,
 * `AUTH_REJECTED`, `HTTP_<status>`, `RESPONSE_TOO_LARGE`, `AUTH_SERVER_UNPROVEN` for a response not made with the key.
 */
async function issuedToken(load: LoadPrivacyPass, challenge: TokenChallenge, context: HttpContext): Promise<string> {
  const { credential } = context
  const client = await blindingClient(load, challenge.tokenType)
  const body = Uint8Array.from(await blinded(client, challenge, context))
  const url = String(credential.issuerRequestUri)
  const request: HttpRequest = {
    method: 'POST',
    url,
    headers: { accept: 'application/private-token-response', 'content-type': 'application/private-token-request' },
    body,
  }
  const response = await (context.input?.send ?? context.send)(request)
  const { status } = response
  if (status !== 200) {
    await response.discard()
    throw refusedCall('token issuer', 'token requests', response, credential.id)
  }
  const answer = await response.bytes(MAX_ANSWER)
  try {
    return base64url((await client.finalize(client.deserializeTokenResponse(answer) as never)).serialize())
  } catch {
    const message = `the token issuer ${originOf(url)} sent "${credential.id}" a response that was not made with its key`
    throw new ProtocolError('AUTH_SERVER_UNPROVEN', message, { url, status, credential: credential.id })
  }
}

async function blinded(client: BlindingClient, challenge: TokenChallenge, context: HttpContext): Promise<Uint8Array> {
  const key = challenge.tokenKey ?? new Uint8Array()
  try {
    if (key.length > (MAX_KEY_BYTES.get(challenge.tokenType) ?? 0)) throw new Error('too long')
    const originInfo = [...challenge.originInfo]
    return (await client.createTokenRequest({ ...challenge, originInfo, serialize: () => challenge.bytes }, key)).serialize()
  } catch {
    throw unanswerable(context.resource, context, 'its "token-key" is missing or not a key of its token type')
  }
}

/** Returns a client for one token: it keeps the blinding state. */
async function blindingClient(load: LoadPrivacyPass, tokenType: number): Promise<BlindingClient> {
  let installed: PrivacyPass
  try {
    installed = await load()
  } catch {
    const message = `requesting tokens from an issuer needs the optional package ${PACKAGE}`
    throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { hint: `npm install ${PACKAGE}` })
  }
  const { privateVerif, publicVerif } = installed
  return tokenType === 1 ? new privateVerif.Client() : new publicVerif.Client(publicVerif.BlindRSAMode.PSS)
}
