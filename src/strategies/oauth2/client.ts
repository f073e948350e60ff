/** Configures openid-client for a credential, with a `fetch` that sends through the context and checks every response first. */
import type { Configuration, CustomFetchOptions, DPoPHandle, ServerMetadata } from 'openid-client'
import type { Secret } from '../../auth/credential.ts'
import type { PrivateKey } from '../../crypto/private-key.ts'
import { type AuthError, CredentialError, isAuthError, ProtocolError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../stac/document.ts'
import { revealText, unfit } from '../reveal.ts'
import { type Authentication, authenticationOf } from './client-authentication.ts'
import { knowsIssuer, type OAuth2Context, type OAuth2Credential } from './credential.ts'
import { type Endpoint, invalidAnswer, oauthError } from './oauth-error.ts'
import { type Demands, membersOf, type Read, serverOf, taken, tokenMembers } from './server.ts'
import { withTokenRetries } from './token-retries.ts'

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
export interface Conversation {
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
  /** Replaces the token endpoint of the metadata. */
  readonly tokenUrl?: string
  /** Values that errors must not contain, besides the client's secret. */
  readonly secrets?: readonly string[]
}

/** The library's result, and the members of the token response, if there was one. */
export interface Outcome<T> {
  readonly result: T
  readonly members?: JsonObject
}

/**
 * Runs a grant of openid-client.
 *
 * Errors: `OAUTH_ERROR` (the server's `error`, its description cut and cleaned), `OAUTH_RESPONSE_INVALID` (never quotes the
 * response), `OAUTH_TOKEN_TYPE`, `OAUTH_REDIRECT`, `OIDC_ID_TOKEN`, `HTTP_<status>`, those of discovery and transport.
 */
export async function converse<T>(
  context: OAuth2Context,
  conversation: Conversation,
  talk: (client: Client) => Promise<T>,
): Promise<Outcome<T>> {
  const published = await serverOf(context)
  const server = conversation.tokenUrl ? { ...published, token_endpoint: conversation.tokenUrl } : published
  const library = await import('./library.ts')
  const authentication = await authenticationOf(context, library, published)
  const configuration = configured(library, server, authentication, context)
  const key = context.credential.dpop ? await boundKey(context) : undefined
  const options = key ? { DPoP: library.getDPoPHandle(configuration, key.pair) } : {}
  const wire = new Wire(context, conversation, server, authentication)
  configuration[library.customFetch] = (url, request) => wire.fetch(url, request)
  try {
    const result = await talk({ library, configuration, server, options })
    return wire.members ? { result, members: wire.members } : { result }
  } catch (error) {
    throw wire.failure ?? (isAuthError(error) ? error : disbelieved(error, wire.endpoint, wire.members))
  }
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

function configured(library: Library, server: ServerMetadata, { method }: Authentication, { credential, clock }: OAuth2Context) {
  const metadata = { [library.clockTolerance]: 30, [library.clockSkew]: Math.round((clock.now() - Date.now()) / 1000) }
  const configuration = new library.Configuration(server, credential.clientId, metadata, method)
  // Credentials may use http: only on loopback, which was checked on reading.
  if (Object.values(server).some((value) => typeof value === 'string' && value.startsWith('http:'))) {
    library.allowInsecureRequests(configuration)
  }
  // A provider without keys cannot authenticate users.
  if (credential.type === 'openIdConnect' || server.jwks_uri !== undefined) library.enableNonRepudiationChecks(configuration)
  return configuration
}

/** Timeout of one request in milliseconds, so that it ends while a lock is held. */
const TIMEOUT = 30_000

/** Connects the library with the transport. */
class Wire {
  failure: AuthError | undefined
  members: JsonObject | undefined
  endpoint: Endpoint
  readonly #context: OAuth2Context
  readonly #conversation: Conversation
  readonly #server: ServerMetadata
  readonly #certificate: Authentication['certificate']

  constructor(context: OAuth2Context, conversation: Conversation, server: ServerMetadata, { certificate, secrets }: Authentication) {
    this.#context = context
    this.#conversation = conversation
    this.#server = server
    this.#certificate = certificate
    this.endpoint = {
      credential: context.credential.id,
      url: server.token_endpoint ?? '',
      name: conversation.endpoint,
      secrets: [...secrets, ...(conversation.secrets ?? [])].filter((secret) => secret !== ''),
    }
  }

  async fetch(url: string, { method, headers, body }: CustomFetchOptions): Promise<Response> {
    this.failure = undefined
    this.endpoint = { ...this.endpoint, url }
    try {
      return await withTokenRetries(url, this.#context, () => this.#ask(url, method, headers, body), this.#conversation.once)
    } catch (error) {
      if (isAuthError(error)) this.failure = error
      throw error
    }
  }

  async #ask(url: string, method: string, headers: Record<string, string>, body: CustomFetchOptions['body']): Promise<Response> {
    const { send, signal, credential, clock } = this.#context
    const isToken = method === 'POST' && this.#conversation.endpoint === 'token endpoint' && url === this.#server.token_endpoint
    const text = String(body ?? '')
    const request = { method, url, headers, ...(text !== '' && { body: text }) }
    const wanted = isToken && credential.tokenRequest === 'json' ? asJson(request) : request
    const response = await send(wanted, { signal, timeout: TIMEOUT, ...(this.#certificate && { clientCertificate: this.#certificate }) })
    const read = await taken(response, this.endpoint, clock)
    if (isNonceRequest(read)) return answer(read, { ...nonceOf(response), 'www-authenticate': response.headers.get('www-authenticate') })
    if (!isToken) {
      if (read.error !== undefined || read.status >= 400) membersOf(read, this.endpoint)
      // RFC 7009 §2.2: the body of the response has no meaning, and some servers send none.
      if (this.#conversation.endpoint === 'revocation endpoint')
        return answer({ status: read.status === 204 ? 200 : read.status, text: '' }, {})
      return answer(isObject(read.json) ? { ...read, text: JSON.stringify(paced(read.json)) } : read, {})
    }
    this.members = this.#believed(tokenMembers(read, this.endpoint, this.#demands()))
    return answer({ status: 200, text: JSON.stringify(forLibrary(this.members)) }, nonceOf(response))
  }

  /** Drops an ID token when the issuer is unknown: it proves nothing (OpenID Connect Core 1.0 §3.1.3.7). */
  #believed({ id_token: idToken, ...members }: JsonObject): JsonObject {
    const { credential, warn } = this.#context
    if (idToken === undefined) return members
    if (knowsIssuer(credential)) return { ...members, id_token: idToken }
    const message = `the ID token of "${credential.id}" is not used: the credential names no issuer. Add "issuer" to it`
    if (credential.scopes?.includes('openid')) warn({ code: 'ID_TOKEN_UNUSED', message })
    return members
  }

  #demands(): Demands {
    return { tokenType: this.#context.credential.dpop ? 'DPoP' : 'Bearer', exchange: this.#conversation.exchange === true }
  }
}

/** True when the server requires its nonce in the proof; the library sends the request again (RFC 9449 §8). */
function isNonceRequest({ status, error }: Read): boolean {
  return (status === 400 || status === 401) && error === 'use_dpop_nonce'
}

function nonceOf({ headers }: { readonly headers: { get(name: string): string | null } }): Record<string, string | null> {
  return { 'dpop-nonce': headers.get('dpop-nonce') }
}

function answer({ status, text }: Pick<Read, 'status' | 'text'>, headers: Readonly<Record<string, string | null>>): Response {
  const known = Object.entries(headers).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]))
  return new Response(status === 204 ? null : text, { status, headers: [['content-type', 'application/json'], ...known] })
}

/** Removes lifetimes, which are parsed here: the library treats unusual values differently. */
function forLibrary({ expires_in: _life, scope, ...members }: JsonObject): JsonObject {
  return { ...members, ...(typeof scope === 'string' && { scope }) }
}

/** Clamps the interval of a device flow, which may be absent (RFC 8628 §3.2); the library accepts only numbers above 0. */
function paced({ interval, ...members }: JsonObject): JsonObject {
  return typeof interval === 'number' && interval >= 0 ? { ...members, interval: interval || 1 } : members
}

function asJson({ method, url, headers, body }: { method: string; url: string; headers: Record<string, string>; body?: string }) {
  const json = JSON.stringify(Object.fromEntries(new URLSearchParams(body)))
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: json }
}

/** Returns the error for a response that the library rejects. */
function disbelieved(error: unknown, endpoint: Endpoint, members: JsonObject | undefined): AuthError {
  const { code, error: refusal } = error as { code?: unknown; error?: unknown }
  if (typeof refusal === 'string') return oauthError(endpoint, 400, refusal)
  if (members?.id_token === undefined) return invalidAnswer(endpoint, 'is malformed')
  const reason = REASONS[String(code)] ?? 'cannot be verified'
  const claim = claimOf(error)
  const message = `the ID token of "${endpoint.credential}" ${claim && code !== TIMES ? `has a wrong ${claim}` : reason}`
  const hint = claim === 'iss' ? { hint: 'write the "issuer" of the credential exactly as in the discovery document of the provider' } : {}
  return new ProtocolError('OIDC_ID_TOKEN', message, { credential: endpoint.credential, url: endpoint.url, ...hint })
}

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
