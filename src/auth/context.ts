/** Creates the context that a strategy receives for one request; token and signing requests go only to endpoints of the credential. */
import { platform } from '#platform'
import { ConfigurationError, TrustError, UnsupportedError } from '../errors.ts'
import type { Connection, HttpRequest, HttpResponse, Send, SendOptions, Transport } from '../http/message.ts'
import { LastOrigin } from '../http/url.ts'
import type { Clock } from '../net/clock.ts'
import type { AuthStep } from './flow.ts'
import { runFlow } from './flow.ts'
import { type CredentialMatch, checkReach } from './scheme-matching.ts'
import type { MemorySessions } from './session.ts'
import type { AuthContext, Input, Origin, Resource, SessionChange, Token, Warning } from './strategy.ts'
import type { SessionStore } from './token-store.ts'

/** Timeout of a token or signing request, in milliseconds. */
const SIDE_TIMEOUT = 60_000

/** Caches the origin: consecutive requests usually go to the same one. */
const ORIGIN = new LastOrigin()

/** The dependencies of an engine. */
export interface World {
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
  /** Returns the match for the credential with that id. */
  readonly credential: (id: string) => CredentialMatch | undefined
}

/** Options of one run of a flow. */
interface Purpose {
  readonly signal?: AbortSignal
  /** The authorized request is returned instead of sent. */
  readonly unsent?: boolean
}

/** Returns the context of one request. */
export function contextOf(world: World, match: CredentialMatch, resource: Resource, { signal, unsent = false }: Purpose = {}): AuthContext {
  const { scheme, credential, strategy } = match
  const endpoints = strategy.endpoints?.(credential) ?? []
  const side =
    (through: Send): Send =>
    (request, options) => {
      if (!endpoints.some((endpoint) => sameEndpoint(endpoint, request.url))) throw foreignEndpoint(credential.id, request)
      return through(request, { signal, timeout: SIDE_TIMEOUT, ...options })
    }
  const { sessions, stores, clock, random, warn } = world
  if (signal) platform.shareSignal(signal)
  const session = sessions.view(credential.id, signal)
  const send = side((request, options) => world.transport(request, granted(world, request, options)))
  const connect = (url: string) => connectionTo(url, world, match, { signal, unsent })
  const changed: AuthContext['changed'] = (change) => world.changed({ credential: credential.id, change })
  const context = { scheme, credential, resource, session, stores, send, connect, clock, random, signal, warn, changed }
  const via = credential.with ?? credential.subject
  if (typeof via !== 'string') return context
  const input: Input = {
    token: (url) => tokenOf(world, via, url, signal),
    send: side(sendAs(world, via)),
    type: world.credential(via)?.credential.type ?? '',
  }
  return { ...context, input }
}

/**
 * Sends a step of the request for a target. Last check before sending: a secret is only sent to allowed URLs.
 * Errors: `CREDENTIAL_TARGET_UNTRUSTED`.
 */
export function sendStep(
  world: World,
  match: CredentialMatch,
  { request, connection }: AuthStep,
  options: SendOptions = {},
): Promise<HttpResponse> {
  checkReach(match, request.url)
  const send = connection ? connection.send : world.transport
  return send(request, granted(world, request, options))
}

async function connectionTo(url: string, world: World, match: CredentialMatch, { signal, unsent }: Purpose): Promise<Connection> {
  checkReach(match, url)
  const { id } = match.credential
  if (unsent) {
    const message = `authorize is not possible with "${id}": its authorization is bound to a connection`
    throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, url, hint: 'send the request with fetch' })
  }
  if (world.transport.connect) return world.transport.connect(url, granted(world, { url }, { signal }))
  const message = `"${id}" cannot be used: its authorization needs a dedicated connection, which this transport does not support`
  throw new UnsupportedError('SCHEME_UNSUPPORTED', message, { credential: id, url, hint: 'use undiciTransport of stac-auth/node' })
}

/** Returns the options, with private networks allowed when the user named that origin. */
export function granted(world: World, request: Pick<HttpRequest, 'url'>, options: SendOptions = {}): SendOptions {
  return { ...options, allowPrivateNetwork: world.named.has(ORIGIN.of(request.url)) }
}

/** Returns the token of another credential for one URL, which must be among that credential's allowed URLs. */
async function tokenOf(world: World, id: string, url: string, signal?: AbortSignal): Promise<Token> {
  const match = chosen(world, id)
  checkReach(match, url)
  if (!match.strategy.token) throw new ConfigurationError('CONFIG_INVALID', `credential "${id}" cannot provide a token`)
  return match.strategy.token(contextOf(world, match, { url }, { signal }))
}

function chosen(world: World, id: string): CredentialMatch {
  const match = world.credential(id)
  if (!match) throw new ConfigurationError('CONFIG_INVALID', `there is no credential "${id}"`)
  return match
}

/** Returns a function that sends requests authorized by another credential; its allowed URLs are checked as for any request. */
function sendAs(world: World, id: string): Send {
  return async (request, options) => {
    const match = chosen(world, id)
    const context = contextOf(world, match, { url: request.url }, { signal: options?.signal })
    const result = await runFlow(match.strategy.authorize(request, context), (step) => sendStep(world, match, step, options))
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
