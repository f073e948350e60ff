/**
 * Authorizes requests: the context that a strategy receives, and the checks between a strategy and the network. A secret is sent only to
 * allowed URLs, and token and signing requests go only to endpoints of the credential.
 */

import { platform } from '#platform'
import { ConfigurationError, isAuthError, SelectionError, TrustError, UnsupportedError } from '../errors.ts'
import type { Connection, CredentialUse, HttpRequest, HttpResponse, Send, SendOptions, Transport } from '../http/message.ts'
import { addressOf, isAddressProblem, isLoopbackHost, trustHint } from '../http/url.ts'
import { urlSignature } from '../http/url-signature.ts'
import type { Clock } from '../net/clock.ts'
import { isProtected, type Target } from '../stac/target.ts'
import type { AuthorizedRequest } from './auth.ts'
import { type Credential, inputIdOf, Secret, type SecretReader } from './credential.ts'
import { type CredentialMatch, checkReach, type UsableReference } from './select.ts'
import type { EngineMemory, MemorySessions, SessionStore } from './session.ts'
import {
  type AuthContext,
  type AuthFlow,
  type AuthStep,
  type Input,
  type Origin,
  type Resource,
  runFlow,
  type SessionChange,
  type Strategy,
  type Token,
  type Warning,
} from './strategy.ts'

/** The dependencies of an engine. */
export interface EngineContext {
  readonly transport: Transport
  readonly sessions: MemorySessions
  readonly stores: { readonly persistent: SessionStore; readonly inMemory: SessionStore }
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  readonly warn: (warning: Warning) => void
  /** Called when the token of a credential changes. */
  readonly changed: (change: SessionChange) => void
  /** Called with the credential that was accepted and the URL. */
  readonly used: (credential: string, url: string) => void
  /** Origins that the user wrote in credentials. */
  readonly named: ReadonlySet<string>
  /** Ids of credentials that were removed while requests are under way. */
  readonly removed: EngineMemory['removed']
  /** Ids of credentials whose tokens are kept in memory. */
  readonly unstored: EngineMemory['unstored']
  /** Returns the match for the credential with that id. */
  readonly credential: (id: string) => CredentialMatch | undefined
  /** Returns the strategy for URLs with that protocol (`s3:`), if there is one, and a credential that matches the URL. */
  readonly objectStore: (url: URL) => Promise<{ readonly strategy?: Strategy | undefined; readonly credential?: Credential | undefined }>
}

/** Returns the authorized request; every difference from the plain request is marked as secret. */
export function authorizedRequest(
  plain: HttpRequest,
  { request, expiresAt, location, keys }: Omit<AuthStep, 'kind'>,
  { ref, type, match }: Partial<UsableReference> = {},
  target?: Target,
): AuthorizedRequest {
  const { method, url, headers, body } = request
  return {
    method,
    url,
    headers,
    ...(body !== undefined && { body }),
    ...(ref !== undefined && { ref, scheme: type }),
    ...(match && { credential: match.credential.id }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(target && { pointer: target.pointer }),
    ...(location && { location }),
    ...(keys && { keys }),
    // The location of an object is not secret; a presigned or signed URL is.
    secretIn: {
      headers: Object.keys(headers).filter((name) => headers[name] !== plain.headers[name]),
      url: url !== plain.url && !location,
    },
  }
}

/** Returns a request without credentials. */
export function plainRequest(request: HttpRequest, reference?: UsableReference, target?: Target): AuthorizedRequest {
  const { match: _, ...unused } = reference ?? {}
  return authorizedRequest(request, { request, expiresAt: urlSignature(request.url)?.expiresAt }, unused, target)
}

/** Timeout of a token or signing request, in milliseconds. */
const SIDE_TIMEOUT = 60_000

/** Options of one run of a flow. */
interface FlowOptions {
  readonly signal?: AbortSignal
  /** The authorized request is returned instead of sent. */
  readonly unsent?: boolean
}

/** Returns the context of one request. */
export function contextOf(
  engine: EngineContext,
  match: CredentialMatch,
  resource: Resource,
  { signal, unsent = false }: FlowOptions = {},
): AuthContext {
  const { scheme, credential, strategy } = match
  checkPresent(engine, credential.id)
  const endpoints = strategy.endpoints?.(credential, resource) ?? []
  const side =
    (through: Send): Send =>
    (request, options) => {
      if (!endpoints.some((endpoint) => sameEndpoint(endpoint, request.url))) throw foreignEndpoint(credential.id, request)
      return through(request, { signal, timeout: SIDE_TIMEOUT, use: useOf(match, 'endpoint'), ...options })
    }
  const { sessions, clock, random, warn } = engine
  const { inMemory, persistent } = engine.stores
  const stores = { inMemory, persistent: engine.unstored.has(credential.id) ? inMemory : (persistent.of?.(credential) ?? persistent) }
  if (signal) platform.shareSignal(signal)
  const session = sessions.view(credential.id, signal)
  const send = side((request, options) => engine.transport(request, sendOptionsFor(engine, request, options)))
  const connect = (url: string) => connectionTo(url, engine, match, { signal, unsent })
  const changed: AuthContext['changed'] = (change) => engine.changed({ credential: credential.id, change })
  const context = { scheme, credential, resource, session, stores, send, connect, clock, random, signal, warn, changed }
  const via = inputIdOf(credential)
  if (via === undefined) return context
  const input: Input = {
    token: (url) => tokenOf(engine, via, url, signal),
    send: side(sendAs(engine, via)),
    type: chosen(engine, via).credential.type,
    credential: chosen(engine, via).credential,
  }
  return { ...context, input }
}

/**
 * Sends a step of the request for a target. Last check before sending: a secret is only sent to allowed URLs.
 * Errors: `CREDENTIAL_TARGET_UNTRUSTED`.
 */
export function sendStep(
  engine: EngineContext,
  match: CredentialMatch,
  { request, connection }: AuthStep,
  options: SendOptions = {},
): Promise<HttpResponse> {
  checkReach(match, request.url)
  const send = connection ? connection.send : engine.transport
  return send(request, sendOptionsFor(engine, request, { ...options, use: useOf(match, 'resource') }))
}

function useOf({ credential: { id, type } }: CredentialMatch, to: CredentialUse['to']): CredentialUse {
  return { credential: id, type, to }
}

async function connectionTo(
  url: string,
  engine: EngineContext,
  match: CredentialMatch,
  { signal, unsent }: FlowOptions,
): Promise<Connection> {
  checkReach(match, url)
  const { id } = match.credential
  if (unsent) {
    const message = `authorize is not possible with "${id}": its authorization is bound to a connection`
    throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, url, hint: 'send the request with fetch' })
  }
  if (engine.transport.connect) return engine.transport.connect(url, sendOptionsFor(engine, { url }, { signal }))
  const message = `"${id}" needs a dedicated connection, which this transport does not support`
  throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, url, hint: 'use undiciTransport of stac-auth/node' })
}

/** Returns the options, with private networks allowed when the user named that origin. Errors: `NO_CREDENTIAL` for one that was removed. */
export function sendOptionsFor(engine: EngineContext, request: Pick<HttpRequest, 'url'>, options: SendOptions = {}): SendOptions {
  const id = options.use?.credential
  if (id !== undefined) checkPresent(engine, id)
  return { ...options, allowPrivateNetwork: engine.named.has(new URL(request.url).origin) }
}

/** Returns the token of another credential for one URL, which must be among that credential's allowed URLs. */
async function tokenOf(engine: EngineContext, id: string, url: string, signal?: AbortSignal): Promise<Token> {
  const match = chosen(engine, id)
  checkReach(match, url)
  if (!match.strategy.token) throw new ConfigurationError('CONFIG_INVALID', `credential "${id}" cannot provide a token`)
  return match.strategy.token(contextOf(engine, match, { url }, { signal }))
}

/** Errors: `NO_CREDENTIAL` for a credential that was removed while the request was under way. */
export function checkPresent({ removed }: Pick<EngineContext, 'removed'>, id: string): void {
  if (!removed.has(id)) return
  throw new SelectionError('NO_CREDENTIAL', `credential "${id}" was removed while the request was under way`, { credential: id })
}

function chosen(engine: EngineContext, id: string): CredentialMatch {
  const match = engine.credential(id)
  if (!match) throw new ConfigurationError('CONFIG_INVALID', `there is no credential "${id}"`)
  return match
}

/** Returns a function that sends requests authorized by another credential; its allowed URLs are checked as for any request. */
function sendAs(engine: EngineContext, id: string): Send {
  return async (request, options) => {
    const match = chosen(engine, id)
    const context = contextOf(engine, match, { url: request.url }, { signal: options?.signal })
    const result = await runFlow(match.strategy.authorize(request, context), (step) => sendStep(engine, match, step, options))
    if (!result) throw new ConfigurationError('CONFIG_INVALID', `credential "${id}" cannot authorize signing requests`)
    return result.response
  }
}

function sameEndpoint(endpoint: string | Origin, url: string): boolean {
  const { origin, pathname } = new URL(url)
  if (typeof endpoint === 'object') return endpoint.origin === origin
  const own = new URL(endpoint)
  return own.origin === origin && own.pathname === pathname
}

function foreignEndpoint(id: string, { url }: HttpRequest): TrustError {
  return new TrustError(
    'CREDENTIAL_ENDPOINT_UNTRUSTED',
    `${new URL(url).origin} is not an endpoint of credential "${id}". Nothing was sent`,
    {
      credential: id,
      url,
    },
  )
}

/** Error codes of a refused credential: by the server of the data, a signing API, an object store or a token endpoint. */
const REFUSED = ['AUTH_REJECTED', 'OAUTH_ERROR']

/**
 * Returns the result of the attempt; of a second one if the first was refused (401, or an error that says so) and the source of a
 * secret, of this credential or of one that it uses, has another value by now. Concurrent calls share one reading.
 */
export async function withRereadSecrets<Result extends { readonly response: HttpResponse } | undefined>(
  engine: Pick<EngineContext, 'credential'>,
  match: CredentialMatch,
  attempt: () => Promise<Result>,
): Promise<Result> {
  // A source that was not read yet is read for this attempt.
  const readings = readersOf(engine, match).map((reader) => ({ reader, used: Math.max(reader.reading, 1) }))
  const hasNewValue = async () => (await Promise.all(readings.map(({ reader, used }) => reader.isNewer(used)))).includes(true)
  let result: Result
  try {
    result = await attempt()
  } catch (error) {
    if (!isAuthError(error) || !REFUSED.includes(error.code) || !(await hasNewValue())) throw error
    return attempt()
  }
  if (result?.response.status !== 401 || !(await hasNewValue())) return result
  await result.response.discard()
  return attempt()
}

/** Returns the readers of the credential's secrets and of those in `with` and `subject`; such chains are finite. */
function readersOf(engine: Pick<EngineContext, 'credential'>, match: CredentialMatch): readonly SecretReader[] {
  const readers: SecretReader[] = []
  for (let next: CredentialMatch | undefined = match; next; ) {
    const { credential }: CredentialMatch = next
    const values = Object.values(credential).flatMap((value) => (value instanceof Map ? [...value.values()] : [value]))
    for (const value of values) if (value instanceof Secret && value.reader) readers.push(value.reader)
    const via = inputIdOf(credential)
    next = via === undefined ? undefined : engine.credential(via)
  }
  return readers
}

/**
 * Returns the steps of a request without credentials to a URL that is not http(s) (`s3:`); undefined when no strategy supports it. Their
 * URLs follow the rules for URLs in documents. Errors: those of the strategy, `URL_*`.
 */
export async function openFlow(engine: EngineContext, request: HttpRequest, target?: Target): Promise<AuthFlow | undefined> {
  const url = new URL(request.url)
  const { strategy, credential } = await engine.objectStore(url)
  const flow = strategy?.open?.(request, { url: request.url, target }, credential)
  return flow && placed(flow, engine.named, target)
}

/** Checks the host before a step is sent or returned, because the document may have named it. */
async function* placed(flow: AuthFlow, named: ReadonlySet<string>, target: Target | undefined): AuthFlow {
  try {
    let step = await flow.next(undefined as never)
    while (!step.done) {
      checkPlace(step.value.request.url, named, target)
      step = await flow.next(yield step.value)
    }
  } finally {
    await flow.return()
  }
}

function checkPlace(address: string, named: ReadonlySet<string>, target: Target | undefined): void {
  const problem = addressOf(address, { secure: target !== undefined && isProtected(target), named })
  if (!isAddressProblem(problem)) return
  const { origin, protocol, hostname } = new URL(address)
  const isNameable = problem.code === 'URL_ADDRESS_FORBIDDEN' && (protocol === 'https:' || isLoopbackHost(hostname))
  throw new SelectionError(problem.code, `the host of this object is refused: ${origin} ${problem.message}. Nothing was sent`, {
    ...(target && { pointer: `${target.pointer}/href` }),
    ...(isNameable && { hint: trustHint(`${origin}/`) }),
  })
}
