/** The transport of Node: sends through undici, to checked addresses, directly or through a proxy, and reuses connections. */
import { TLSSocket } from 'node:tls'
import type * as undici from 'undici'
import type { Dispatcher } from 'undici'
import { NetworkError } from '../../errors.ts'
import type { ClientCertificate, Connect, Connection, HttpRequest, Send, SendOptions } from '../../http/message.ts'
import { exchangeTimeout, failure, withProgress } from '../../http/network-error.ts'
import { LastOrigin, originOf } from '../../http/url.ts'
import { exchangeEnd, throwIfAborted } from '../../net/cancellation.ts'
import { shareSignal } from '../../platform/node.ts'
import { AMOUNT, checkNamed, FUNCTION, OBJECT, type Table, TEXT } from '../base/check-options.ts'
import { trustedAuthorities } from './certificate-authorities.ts'
import { type ConnectHooks, guardedConnect } from './guarded-connect.ts'
import { environmentProxies, forwardingProxy, loginRequired, type Proxies, proxyAuthorization } from './proxies.ts'
import { Agent, Client } from './undici-parts.ts'
import { UndiciExchange, UndiciResponse } from './undici-response.ts'

/** Options of `undiciTransport`. */
export interface UndiciTransportOptions extends ConnectHooks {
  /**
   * Certificate authorities to trust, PEM; default: those of Node, and those that `SSL_CERT_FILE`, `CURL_CA_BUNDLE`, `REQUESTS_CA_BUNDLE`
   * and `AWS_CA_BUNDLE` name. Verification cannot be disabled.
   */
  readonly ca?: string
  /** Timeouts in milliseconds: to connect (10 000), until the headers arrive (30 000), between two chunks of a body (30 000). */
  readonly timeouts?: { readonly connect?: number; readonly headers?: number; readonly body?: number }
  /** Environment with proxies (`https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`) and certificate authorities; default `process.env`. */
  readonly env?: NodeJS.ProcessEnv
}

const MAX_HEADER_SIZE = 16_384

const OPTIONS: Table<UndiciTransportOptions> = { ca: TEXT, timeouts: OBJECT, env: OBJECT, lookup: FUNCTION, connect: FUNCTION }
const TIMEOUTS: Table<NonNullable<UndiciTransportOptions['timeouts']>> = { connect: AMOUNT, headers: AMOUNT, body: AMOUNT }

/**
 * Sends requests with undici, with connection reuse and without following redirects.
 *
 * Without `allowPrivateNetwork` IP addresses must be public; the address that is dialled is checked. Headers are limited to 16 KiB; gzip,
 * deflate and br are decoded, at most two of them. Proxies of the environment forward requests for `http:` URLs; for all others they open
 * tunnels.
 *
 * Errors: `NetworkError` (`NETWORK_*`, `TLS_*`, `PROXY_*`, `RESPONSE_*`), `TimeoutError` (`TIMEOUT_*`), `TrustError`
 * (`URL_ADDRESS_FORBIDDEN`, `TLS_DISABLED`), `AbortedError`; at once `CONFIG_INVALID` for a variable whose certificates cannot be read.
 *
 * @example createAuth({ credentials, transport: undiciTransport({ ca: await readFile('company.pem', 'utf8') }) })
 */
export function undiciTransport(options: UndiciTransportOptions = {}): Send & { readonly connect: Connect; readonly streams: true } {
  checkNamed('undiciTransport', options, OPTIONS)
  const { timeouts = {}, env = process.env, ca = trustedAuthorities(env), ...hooks } = options
  checkNamed('timeouts', timeouts, TIMEOUTS)
  const proxies = environmentProxies(env)
  const common = { ...hooks, timeout: timeouts.connect ?? 10_000, ...(ca && { ca }), ...(proxies && { proxies }) }
  /** Connector for dedicated connections, which open a tunnel through every proxy. */
  const connector = (allowPrivateNetwork: boolean, shown?: ClientCertificate) =>
    guardedConnect({ ...common, ...shown, allowPrivateNetwork })
  const limits = {
    maxHeaderSize: MAX_HEADER_SIZE,
    headersTimeout: timeouts.headers ?? 30_000,
    bodyTimeout: timeouts.body ?? 30_000,
    // An idle connection is closed so many milliseconds before the end that its server announced.
    keepAliveTimeoutThreshold: 1000,
  }
  const agent = (allowPrivateNetwork: boolean) =>
    new Agent({ ...limits, connect: guardedConnect({ ...common, allowPrivateNetwork, forwards: true }) })
  const guarded = agent(false)
  const unguarded = agent(true)
  const send = (request: HttpRequest, sending: SendOptions = {}) => {
    if (sending.clientCertificate)
      return shownTo(request, sending, connector(sending.allowPrivateNetwork === true, sending.clientCertificate))
    return exchange(sending.allowPrivateNetwork ? unguarded : guarded, request, sending, proxies)
  }
  /** A separate pool, so that no other request uses a connection with a client certificate. */
  const shownTo = async (request: HttpRequest, sending: SendOptions, opener: undici.buildConnector.connector) => {
    const connection = await undiciConnection(request.url, opener, limits, sending)
    try {
      return await connection.send(request, sending)
    } finally {
      connection.close()
    }
  }
  const connect = (url: string, sending: SendOptions = {}) =>
    undiciConnection(url, connector(sending.allowPrivateNetwork === true), limits, sending)
  return Object.assign(send, { connect, streams: true as const })
}

type Socket = Exclude<Parameters<undici.buildConnector.Callback>[1], null>

/**
 * Opens one connection to the origin of that URL. Errors: as for {@link exchange}; a request after the connection was lost is
 * `NETWORK_RESET`.
 */
async function undiciConnection(
  url: string,
  connector: undici.buildConnector.connector,
  limits: undici.Client.Options,
  options: SendOptions,
): Promise<Connection> {
  const socket = await opened(url, connector, options)
  const origin = originOf(url)
  let taken = false
  // undici does not expect a response before the request is complete.
  const connect: undici.buildConnector.connector = (_to, callback) =>
    queueMicrotask(() => {
      if (taken || socket.destroyed) return callback(lost(origin), null)
      taken = true
      callback(null, socket)
    })
  const client = new Client(origin, { ...limits, connect })
  return {
    send: async (request, sending = {}) => {
      if (originOf(request.url) !== origin) throw new TypeError(`this connection is to ${origin}, not to ${originOf(request.url)}`)
      return exchange(client, request, sending)
    },
    keyingMaterial: (length, label, context) =>
      socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3'
        ? socket.exportKeyingMaterial(length, label, Buffer.from(context))
        : undefined,
    close: () => {
      if (!taken) socket.destroy()
      void client.close()
    },
  }
}

async function opened(url: string, connector: undici.buildConnector.connector, options: SendOptions): Promise<Socket> {
  throwIfAborted(options.signal)
  shareSignal(options.signal)
  const end = exchangeEnd(options, (timeout) => exchangeTimeout(url, timeout))
  try {
    return await dialled(new URL(url), connector, end.signal)
  } catch (error) {
    throw failure(error, end.signal, url)
  } finally {
    end.clear()
  }
}

/** Closes a connection that is established after the abort. */
function dialled(
  { protocol, hostname, host, port }: URL,
  connector: undici.buildConnector.connector,
  signal?: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    connector({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port }, (error, socket) => {
      signal?.removeEventListener('abort', abort)
      if (!socket) return reject(error)
      // The caller handles errors from here on; earlier ones would be unhandled.
      socket.on('error', () => {})
      if (signal?.aborted) socket.destroy()
      resolve(socket)
    })
  })
}

function lost(origin: string): NetworkError {
  return new NetworkError('NETWORK_RESET', `${origin} closed the connection that the authorization is bound to`, { retryable: true })
}

/**
 * Sends one request through that dispatcher, whose connector must choose by {@link forwardingProxy} too where there are proxies.
 *
 * Errors: `NetworkError`, `TimeoutError`, `TrustError`, `AbortedError`.
 */
async function exchange(dispatcher: Dispatcher, request: HttpRequest, options: SendOptions, proxies?: Proxies): Promise<UndiciResponse> {
  throwIfAborted(options.signal)
  shareSignal(options.signal)
  const { signal, clear } = exchangeEnd(options, (timeout) => exchangeTimeout(request.url, timeout))
  const abort = () => exchanged.abort(signal?.reason)
  const exchanged = new UndiciExchange(() => {
    signal?.removeEventListener('abort', abort)
    clear()
  })
  signal?.addEventListener('abort', abort)
  try {
    const proxy = proxies && forwardingProxy(proxies, request.url)
    dispatcher.dispatch(dispatchOptions(request, options, proxy), exchanged)
    const arrived = await exchanged.response
    // A 407 comes from the proxy (RFC 9110 §15.5.8), never from the origin server.
    if (proxy && arrived.status === 407) throw loginRequired(proxy, arrived.status, arrived.fields['proxy-authenticate'])
    return new UndiciResponse(request, arrived, signal)
  } catch (error) {
    exchanged.abort(error)
    throw withProgress(failure(error, signal, request.url), exchanged.progress)
  }
}

/** @param proxy gets the request in absolute form (RFC 9112 §3.2.2), with its own login */
function dispatchOptions(
  request: HttpRequest,
  { stream, headersTimeout, bodyTimeout }: SendOptions,
  proxy: URL | undefined,
): Dispatcher.DispatchOptions {
  const { method, body = null } = request
  const { origin, path } = requestTarget(request.url)
  return {
    origin,
    path: proxy ? origin + path : path,
    method: method as Dispatcher.HttpMethod,
    headers: proxy ? { ...withCodings(request), ...proxyAuthorization(proxy) } : withCodings(request),
    // undici sends any iterable of bytes; its types declare streams only.
    body: (stream ?? body) as Uint8Array | null,
    ...(headersTimeout !== undefined && { headersTimeout }),
    ...(bodyTimeout !== undefined && { bodyTimeout }),
  }
}

/** Ranges are requested without compression: a part of a compressed body cannot be decoded. */
function withCodings({ headers }: HttpRequest): Readonly<Record<string, string>> {
  return headers['accept-encoding'] === undefined && headers.range === undefined ? { ...headers, 'accept-encoding': 'gzip, br' } : headers
}

/** Matches a path that the URL parser leaves unchanged: no dot segments, nothing to encode, no empty query, no fragment. */
const PLAIN = /^(?:\/(?!\.|%2e)[\w.~!$&()*+,;=:@%-]*)+(?:\?[\w.~!$&()*+,;=:@%/?-]+)?$/i

const ORIGIN = new LastOrigin()

/**
 * Returns the origin, and the path with query as sent (RFC 9112 §3.2.1). A normalized URL is split without parsing.
 *
 * Errors: `TypeError` for an invalid URL.
 */
export function requestTarget(url: string): { readonly origin: string; readonly path: string } {
  const origin = ORIGIN.of(url)
  const rest = url.slice(origin.length)
  if (url.startsWith(origin) && PLAIN.test(rest)) return { origin, path: rest }
  const { pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}
