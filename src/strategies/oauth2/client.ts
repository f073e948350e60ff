import type { ClientAuth, Configuration, CustomFetchOptions, DPoPHandle, ServerMetadata } from 'openid-client'
import type { Secret } from '../../auth/credential.ts'
import { remember } from '../../auth/strategy.ts'
import { base64, fromBase64url } from '../../crypto/encoding.ts'
import type { PrivateKey } from '../../crypto/private-key.ts'
import { type AuthError, CredentialError, isAuthError, ProtocolError } from '../../errors.ts'
import type { ClientCertificate } from '../../http/message.ts'
import type { JsonObject } from '../../stac/document.ts'
import { reveal, revealText, unfit } from '../credential-values.ts'
import { jwtPart } from '../stored-token.ts'
import { knowsIssuer, methodOf, type OAuth2Context, type OAuth2Credential } from './credential.ts'
import {
  deviceMembers,
  type Endpoint,
  type EndpointResponse,
  invalidAnswer,
  membersOf,
  oauthError,
  readResponse,
  tokenMembers,
  withTokenRetries,
} from './endpoint.ts'
import { serverOf } from './server.ts'

/** Configures openid-client for a credential, with a `fetch` that sends through the context and checks every response first. */

type Library = typeof import('./library.ts')

/** The input of a grant. */
export interface Client {
  readonly library: Library
  readonly configuration: Configuration
  readonly server: ServerMetadata
  /** For grants that return bound tokens. */
  readonly options: { readonly DPoP?: DPoPHandle }
}

/** Options of a grant. */
export interface EndpointCall {
  /** The endpoint in errors. Servers may have one URL for several, so it also decides how a response is read. */
  readonly endpoint:
    | 'token endpoint'
    | 'device endpoint'
    | 'revocation endpoint'
    | 'endpoint for pushed requests'
    | 'authorization endpoint'
  /** Nothing is sent a second time. */
  readonly once?: boolean
  readonly exchange?: boolean
  /** The response must have an ID token. */
  readonly idToken?: boolean
  /** Replaces the token endpoint of the metadata. */
  readonly tokenUrl?: string
  /** Values that errors must not contain, besides the client's secret. */
  readonly secrets?: readonly string[]
}

/** The library's result, and the members of the token response, if there was one. */
export interface EndpointResult<T> {
  readonly result: T
  readonly members?: JsonObject
  /** How far the server's clock was ahead in that response, in milliseconds; 0 for less than {@link TOLERANCE}. */
  readonly skew: number
}

/** How much the clocks of server and machine may differ, in milliseconds, without a correction. */
const TOLERANCE = 30_000

/**
 * Runs a grant of openid-client. Where a server takes the client secret only without the encoding of RFC 6749 §2.3.1, or its clock is off,
 * that is corrected once, and known from then on.
 *
 * Errors: `OAUTH_ERROR` (the server's `error`, its description cut and cleaned), `OAUTH_RESPONSE_INVALID` (never quotes the
 * response), `OAUTH_TOKEN_TYPE`, `OAUTH_REDIRECT`, `OIDC_ID_TOKEN`, `HTTP_<status>`, those of discovery and transport.
 */
export async function callEndpoint<T>(
  context: OAuth2Context,
  call: EndpointCall,
  talk: (client: Client) => Promise<T>,
): Promise<EndpointResult<T>> {
  const published = await serverOf(context)
  const server = call.tokenUrl ? { ...published, token_endpoint: call.tokenUrl } : published
  const library = await import('./library.ts')
  const authentication = await authenticationOf(context, library, published)
  const key = context.credential.dpop ? await boundKey(context) : undefined
  const corrected = new Set<Correction>()
  let encoding = secretEncoding(context)
  let given: TokenResponse | undefined
  for (;;) {
    const skew = given?.skew ?? context.session.get<number>(skewKey(server))?.value ?? 0
    const attempt: Attempt = { context, call, server, authentication, encoding, skew, given }
    const configuration = configured(library, attempt)
    const options = key ? { DPoP: library.getDPoPHandle(configuration, key.pair) } : {}
    const checked = new CheckedFetch(attempt)
    configuration[library.customFetch] = (url, request) => checked.fetch(url, request)
    try {
      const result = await talk({ library, configuration, server, options })
      await rememberEncoding(context, encoding)
      const members = checked.given && { members: checked.given.members }
      return { result, skew: Math.abs(checked.skew) < TOLERANCE ? 0 : checked.skew, ...members }
    } catch (error) {
      const failure = checked.failure ?? (isAuthError(error) ? error : libraryError(error, checked.endpoint, checked.given?.members))
      const correction = checked.unread ? 'reading' : correctionOf(failure, attempt, checked.skew - skew)
      if (correction === undefined || corrected.has(correction)) {
        if (failure.actual !== 'invalid_client') await rememberEncoding(context, encoding)
        throw failure
      }
      corrected.add(correction)
      if (correction === 'encoding') encoding = encoding === 'form' ? 'none' : 'form'
      if (correction === 'clock') await remember(context.session, skewKey(server), checked.skew)
      if (correction === 'reading') given = checked.given
    }
  }
}

type Correction = 'encoding' | 'clock' | 'reading'

/** Returns what may make a refused request succeed; undefined when nothing does. */
function correctionOf({ actual }: AuthError, { authentication, context }: Attempt, drift: number): Correction | undefined {
  const signs = ['secretJwt', 'privateKeyJwt'].includes(methodOf(context.credential))
  // A client JWT and a proof name the time at which they were made.
  const isDated = actual === 'invalid_dpop_proof' || (actual === 'invalid_client' && signs)
  if (isDated && Math.abs(drift) >= TOLERANCE) return 'clock'
  return actual === 'invalid_client' && authentication.unencoded !== undefined ? 'encoding' : undefined
}

/** How client id and secret are written into Basic credentials: `form` as in RFC 6749 §2.3.1, `none` for servers that do not decode. */
export type SecretEncoding = 'form' | 'none'

const ENCODING = 'secret encoding'

/** Returns the encoding that the server of the credential accepted last. */
export function secretEncoding({ session }: Pick<OAuth2Context, 'session'>): SecretEncoding {
  return session.get<SecretEncoding>(ENCODING)?.value ?? 'form'
}

export async function rememberEncoding(context: Pick<OAuth2Context, 'session'>, encoding: SecretEncoding): Promise<void> {
  if (encoding !== secretEncoding(context)) await remember(context.session, ENCODING, encoding)
}

const skewKey = ({ token_endpoint: url, issuer }: ServerMetadata) => `clock ${new URL(url ?? issuer).origin}`

/** A token response. The library reads it again when its configuration, which cannot change meanwhile, does not suit it. */
interface TokenResponse {
  readonly members: JsonObject
  /** Of the server's clock, as of {@link EndpointResult}. */
  readonly skew: number
  /** True for an ID token whose signature by the client secret is verified already: the library verifies those by public keys only. */
  readonly isVerified: boolean
}

/** Returns the key that tokens of the credential are bound to: its own, or one for the lifetime of the engine. */
export async function boundKey({ credential, session }: OAuth2Context): Promise<PrivateKey> {
  const text = credential.dpopKey && (await revealText(credential.dpopKey as Secret, 'dpopKey', credential))
  const { value } = await session.resolve<PrivateKey>('dpop key', async () => {
    if (credential.dpopKeyPair) return { value: await givenKey(credential) }
    const { generatePrivateKey, importPrivateKey } = await import('../../crypto/private-key.ts')
    const key = text === undefined ? await generatePrivateKey() : await importPrivateKey(text, ['ES256', 'EdDSA', 'RS256'])
    if ('problem' in key) throw unfit('dpopKey', credential.id, key.problem)
    return { value: key }
  })
  return value
}

/** Returns the key from the user's function, whose error may contain secrets and is not attached. */
async function givenKey({ id, dpopKeyPair }: OAuth2Credential): Promise<PrivateKey> {
  let pair: unknown
  try {
    pair = await dpopKeyPair?.()
  } catch (error) {
    if (isAuthError(error)) throw error
    throw new CredentialError('CREDENTIAL_SOURCE', `dpopKeyPair of "${id}": its function failed`, { credential: id })
  }
  const { adoptKeyPair } = await import('../../crypto/private-key.ts')
  const key = await adoptKeyPair(pair)
  if ('problem' in key) throw unfit('dpopKeyPair', id, key.problem)
  return key
}

/** One attempt of a call, and what the library is configured for in it. */
interface Attempt {
  readonly context: OAuth2Context
  readonly call: EndpointCall
  readonly server: ServerMetadata
  readonly authentication: Authentication
  readonly encoding: SecretEncoding
  readonly skew: number
  readonly given: TokenResponse | undefined
}

function configured(library: Library, { context, server, authentication, encoding, skew, given }: Attempt): Configuration {
  const { credential, clock } = context
  const algorithm = given?.isVerified ? algorithmOf(String(given.members.id_token)) : undefined
  const metadata = {
    [library.clockTolerance]: TOLERANCE / 1000,
    [library.clockSkew]: Math.round((clock.now() - Date.now() + skew) / 1000),
    ...(algorithm !== undefined && { id_token_signed_response_alg: algorithm }),
  }
  const method = (encoding === 'none' && authentication.unencoded) || authentication.method
  const configuration = new library.Configuration(server, credential.clientId, metadata, method)
  // Credentials may use http: only on loopback, which was checked on reading.
  if (Object.values(server).some((value) => typeof value === 'string' && value.startsWith('http:'))) {
    library.allowInsecureRequests(configuration)
  }
  // A provider without keys cannot authenticate users.
  if (algorithm === undefined && (credential.type === 'openIdConnect' || server.jwks_uri !== undefined))
    library.enableNonRepudiationChecks(configuration)
  return configuration
}

/** Timeout of one request in milliseconds, so that it ends while a lock is held. */
const TIMEOUT = 30_000

/** Connects the library with the transport. */
class CheckedFetch {
  failure: AuthError | undefined
  /** The token response. */
  given: TokenResponse | undefined
  /** True when the library must read that with another configuration. */
  unread = false
  /** By the last response. */
  skew: number
  endpoint: Endpoint
  readonly #attempt: Attempt

  constructor(attempt: Attempt) {
    const { context, call, server, authentication, given, skew } = attempt
    this.#attempt = attempt
    this.given = given
    this.skew = skew
    this.endpoint = {
      credential: context.credential.id,
      url: server.token_endpoint ?? '',
      name: call.endpoint,
      secrets: [...authentication.secrets, ...(call.secrets ?? [])].filter((secret) => secret !== ''),
    }
  }

  async fetch(url: string, { method, headers, body }: CustomFetchOptions): Promise<Response> {
    this.failure = undefined
    this.endpoint = { ...this.endpoint, url }
    try {
      return await withTokenRetries(url, this.#attempt.context, () => this.#ask(url, method, headers, body), this.#attempt.call.once)
    } catch (error) {
      if (isAuthError(error)) this.failure = error
      throw error
    }
  }

  async #ask(url: string, method: string, headers: Record<string, string>, body: CustomFetchOptions['body']): Promise<Response> {
    const { context, call, server, authentication, skew: configuredSkew, given } = this.#attempt
    const { send, signal, credential, clock } = context
    const isToken = method === 'POST' && call.endpoint === 'token endpoint' && url === server.token_endpoint
    if (isToken && given) return tokenAnswer(given)
    const text = String(body ?? '')
    const request = { method, url, headers, ...(text !== '' && { body: text }) }
    const wanted = isToken && credential.tokenRequest === 'json' ? asJson(request) : request
    const { certificate } = authentication
    const response = await send(wanted, { signal, timeout: TIMEOUT, ...(certificate && { clientCertificate: certificate }) })
    const read = await readResponse(response, this.endpoint, clock)
    this.skew = read.skew ?? this.skew
    if (isNonceRequest(read)) return answer(read, { ...nonceOf(response), 'www-authenticate': response.headers.get('www-authenticate') })
    if (!isToken) return this.#otherResponse(read, method)
    const requirements = {
      tokenType: credential.dpop ? 'DPoP' : 'Bearer',
      exchange: call.exchange === true,
      tokenField: credential.tokenField,
    } as const
    this.given = await this.#withCheckedIdToken(tokenMembers(read, this.endpoint, requirements))
    const { members, skew, isVerified } = this.given
    this.unread = members.id_token !== undefined && (isVerified || Math.abs(skew - configuredSkew) >= TOLERANCE)
    if (this.unread) throw new Error('the response is read again')
    return tokenAnswer(this.given, nonceOf(response))
  }

  /** Returns a response of another endpoint as the library expects it. */
  #otherResponse(read: EndpointResponse, method: string): Response {
    if (read.error !== undefined || read.status >= 400) membersOf(read, this.endpoint)
    if (method !== 'POST') return answer({ ...read, status: 200 }, {})
    switch (this.#attempt.call.endpoint) {
      case 'revocation endpoint':
        // RFC 7009 §2.2: the body of the response has no meaning, and some servers send none.
        return answer({ status: 200, text: '' }, {})
      case 'device endpoint':
        return answer({ status: 200, text: JSON.stringify(deviceMembers(read, this.endpoint)) }, {})
      default:
        if (typeof membersOf(read, this.endpoint).request_uri !== 'string') throw invalidAnswer(this.endpoint, 'has no request_uri')
        return answer({ ...read, status: 201 }, {})
    }
  }

  /** Drops an ID token when the issuer is unknown: it proves nothing (OpenID Connect Core 1.0 §3.1.3.7). */
  async #withCheckedIdToken({ id_token: idToken, ...members }: JsonObject): Promise<TokenResponse> {
    const { credential, warn } = this.#attempt.context
    const given = { members, skew: this.skew, isVerified: false }
    if (idToken === undefined) {
      if (!this.#attempt.call.idToken) return given
      const hint = 'add "openid" to "scopes"; for a server without OpenID Connect use a credential of type "oauth2"'
      throw invalidAnswer(this.endpoint, 'has no id_token', hint)
    }
    if (knowsIssuer(credential)) {
      return { ...given, members: { ...members, id_token: idToken }, isVerified: await this.#isSignedWithSecret(String(idToken)) }
    }
    const message = `the ID token of "${credential.id}" is not used: the credential names no issuer. Add "issuer" to it`
    if (credential.scopes?.includes('openid')) warn({ code: 'ID_TOKEN_UNUSED', message })
    return given
  }

  /** Verifies an ID token that is signed with the client secret; false for other signatures. Errors: `OIDC_ID_TOKEN`. */
  async #isSignedWithSecret(idToken: string): Promise<boolean> {
    const { credential, url } = this.endpoint
    const algorithm = algorithmOf(idToken)
    if (algorithm === undefined) return false
    const { clientSecret } = this.#attempt.authentication
    if (clientSecret !== undefined && (await isSignedWithSecret(idToken, algorithm, clientSecret))) return true
    const [what, hint] =
      clientSecret === undefined
        ? [
            'signed with a client secret, and the credential has none',
            'add "clientSecret" to the credential, or ask the provider for ID tokens that are signed with RS256',
          ]
        : ['not signed with its client secret']
    throw new ProtocolError('OIDC_ID_TOKEN', `the ID token of "${credential}" is ${what}`, { credential, url, hint })
  }
}

/** True when the server requires its nonce in the proof; the library sends the request again (RFC 9449 §8). */
function isNonceRequest({ status, error }: EndpointResponse): boolean {
  return (status === 400 || status === 401) && error === 'use_dpop_nonce'
}

function nonceOf({ headers }: { readonly headers: { get(name: string): string | null } }): Record<string, string | null> {
  return { 'dpop-nonce': headers.get('dpop-nonce') }
}

function answer({ status, text }: Pick<EndpointResponse, 'status' | 'text'>, headers: Readonly<Record<string, string | null>>): Response {
  const known = Object.entries(headers).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]))
  return new Response(status === 204 ? null : text, { status, headers: [['content-type', 'application/json'], ...known] })
}

/** Returns the token response without lifetimes, which are parsed here: the library treats unusual values differently. */
function tokenAnswer({ members }: TokenResponse, headers: Readonly<Record<string, string | null>> = {}): Response {
  const { expires_in: _life, scope, ...others } = members
  return answer({ status: 200, text: JSON.stringify({ ...others, ...(typeof scope === 'string' && { scope }) }) }, headers)
}

/** Returns the algorithm of an ID token that is signed with a secret (RFC 7518 §3.2); undefined for all others. */
function algorithmOf(idToken: string): Hmac | undefined {
  const algorithm = jwtPart(idToken, 0).alg
  return HMACS.find((one) => one === algorithm)
}

function asJson({ method, url, headers, body }: { method: string; url: string; headers: Record<string, string>; body?: string }) {
  const json = JSON.stringify(Object.fromEntries(new URLSearchParams(body)))
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: json }
}

/** Returns the error for a response that the library rejects. */
function libraryError(error: unknown, endpoint: Endpoint, members: JsonObject | undefined): AuthError {
  const { code, error: refusal, error_description: words } = error as { code?: unknown; error?: unknown; error_description?: unknown }
  if (typeof refusal === 'string') return oauthError(endpoint, 400, refusal, typeof words === 'string' ? words : '')
  if (members?.id_token === undefined) return invalidAnswer(endpoint, 'is malformed')
  const reason = REASONS[String(code)] ?? 'cannot be verified'
  const claim = claimOf(error)
  const message = `the ID token of "${endpoint.credential}" ${claim && code !== TIMES ? `has a wrong ${claim}` : reason}`
  const advice = code === TIMES ? 'set the clock of this machine' : claim === 'iss' ? ISSUER_ADVICE : undefined
  const hint = advice === undefined ? {} : { hint: advice }
  return new ProtocolError('OIDC_ID_TOKEN', message, { credential: endpoint.credential, url: endpoint.url, ...hint })
}

const ISSUER_ADVICE = 'write the "issuer" of the credential exactly as in the discovery document of the provider'

const TIMES = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'

/** Where the library names no claim, and for times: there the clock is what is wrong. */
const REASONS: Readonly<Record<string, string>> = {
  [TIMES]: 'has expired or is not valid yet: check the clock',
  OAUTH_KEY_SELECTION_FAILED: 'is signed with an unknown key',
  OAUTH_PARSE_ERROR: 'is malformed',
}

/** Returns the name of a claim of the standard; nothing else of the library's error is shown. */
function claimOf(error: unknown): string | undefined {
  const cause = (error as { cause?: { cause?: { claim?: unknown } } }).cause?.cause
  return typeof cause?.claim === 'string' && /^[a-z_]{1,20}$/.test(cause.claim) ? cause.claim : undefined
}

/** Client authentication of a credential, and the secrets it uses. */
interface Authentication {
  readonly method: ClientAuth
  /** Basic credentials without the encoding of RFC 6749 §2.3.1, where that makes a difference. */
  readonly unencoded?: ClientAuth
  readonly clientSecret?: string
  readonly secrets: readonly string[]
  /** For the TLS connection (RFC 8705 §2), PEM. */
  readonly certificate?: ClientCertificate
}

/**
 * Returns the authentication by the method of the credential (RFC 6749 §2.3, RFC 7523, RFC 8705), and never by another. Errors:
 * `CREDENTIAL_VALUE_INVALID`, `CREDENTIAL_SOURCE`.
 */
async function authenticationOf(
  { credential }: OAuth2Context,
  client: typeof import('./library.ts'),
  server: ServerMetadata,
): Promise<Authentication> {
  const { clientSecret } = credential
  const method = methodOf(credential)
  if (method === 'none') return { method: client.None(), secrets: [] }
  const assertion = { [client.modifyAssertion]: addressedTo(assertionAudience(credential, server)) }
  if (method === 'privateKeyJwt') return { method: client.PrivateKeyJwt(await signer(credential), assertion), secrets: [] }
  if (method === 'tls') return { method: client.TlsClientAuth(), secrets: [], certificate: await certificateOf(credential) }
  const secret = clientSecret ? await reveal(clientSecret, 'clientSecret', credential) : ''
  const methods = {
    basic: basicAuthentication(formEncoded(credential.clientId), formEncoded(secret)),
    post: client.ClientSecretPost(secret),
    secretJwt: client.ClientSecretJwt(secret, assertion),
  }
  const isPlain = formEncoded(credential.clientId + secret) === credential.clientId + secret
  // RFC 7617 §2: without encoding a client id must not contain a colon.
  const hasOther = method === 'basic' && !isPlain && !credential.clientId.includes(':')
  const unencoded = hasOther ? { unencoded: basicAuthentication(credential.clientId, secret) } : {}
  return { method: methods[method], ...unencoded, secrets: [secret], ...(secret !== '' && { clientSecret: secret }) }
}

/**
 * Returns the audience of a client JWT: from the credential, else the issuer (draft-ietf-oauth-rfc7523bis), else, when it is unknown,
 * the token endpoint (RFC 7523 §3).
 */
function assertionAudience(credential: OAuth2Credential, { issuer, token_endpoint: tokenUrl = issuer }: ServerMetadata): string {
  return credential.assertionAudience ?? (knowsIssuer(credential) ? issuer : tokenUrl)
}

function addressedTo(audience: string) {
  return (_header: unknown, payload: Record<string, unknown>) => {
    payload.aud = audience
  }
}

async function signer(credential: OAuth2Credential) {
  const { importPrivateKey } = await import('../../crypto/private-key.ts')
  const text = await revealText(credential.privateKey as Secret, 'privateKey', credential)
  const key = await importPrivateKey(text, ['ES256', 'EdDSA', 'RS256'])
  if ('problem' in key) throw unfit('privateKey', credential.id, key.problem)
  return { key: key.pair.privateKey, ...(credential.keyId && { kid: credential.keyId }) }
}

async function certificateOf(credential: OAuth2Credential) {
  const [cert, key] = await Promise.all([
    revealText(credential.certificate as Secret, 'certificate', credential),
    revealText(credential.privateKey as Secret, 'privateKey', credential),
  ])
  return { cert, key }
}

/** Encodes as in RFC 6749 §2.3.1 and Appendix B. `-`, `.` and `_` stay unencoded, which also suits servers that do not decode. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

/** Algorithms of JWTs that are signed with a secret (RFC 7518 §3.2). */
const HMACS = ['HS256', 'HS384', 'HS512'] as const

type Hmac = (typeof HMACS)[number]

/** True for a JWT that is signed with the client secret (OpenID Connect Core 1.0 §10.1). */
async function isSignedWithSecret(jwt: string, algorithm: Hmac, secret: string): Promise<boolean> {
  const end = jwt.lastIndexOf('.')
  const signature = fromBase64url(jwt.slice(end + 1))
  if (signature === undefined) return false
  const bytes = (text: string) => new TextEncoder().encode(text)
  const hmac = { name: 'HMAC', hash: `SHA-${algorithm.slice(2)}` }
  const key = await crypto.subtle.importKey('raw', bytes(secret), hmac, false, ['verify'])
  return crypto.subtle.verify(hmac, key, new Uint8Array(signature), bytes(jwt.slice(0, end)))
}

function basicAuthentication(clientId: string, secret: string): ClientAuth {
  const credentials = base64(new TextEncoder().encode(`${clientId}:${secret}`))
  return (_server, _client, _body, headers) => headers.set('authorization', `Basic ${credentials}`)
}
