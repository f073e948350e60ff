import { Agent, type buildConnector, type Dispatcher } from 'undici'
import type { Collect } from '../http/collect.ts'
import type { ClientCertificate, Connect, HttpRequest, Send, SendOptions } from '../http/message.ts'
import { forwardThrough } from './forward-proxy.ts'
import { type ConnectHooks, guardedConnect } from './guarded-connect.ts'
import { environmentProxies } from './proxy-tunnel.ts'
import { undiciCollect } from './undici-collect.ts'
import { undiciConnection } from './undici-connection.ts'
import { exchange } from './undici-exchange.ts'
import { reuseConnections } from './undici-reuse.ts'

export interface UndiciTransportOptions extends ConnectHooks {
  /** Certificates of authorities to trust instead of the system's, PEM. Checks cannot be turned off. */
  readonly ca?: string
  /** Milliseconds until connected (10 000), until the headers are there (30 000), between two pieces of a body (30 000). */
  readonly timeouts?: { readonly connect?: number; readonly headers?: number; readonly body?: number }
  /** Where proxies are looked up: `https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`; default `process.env`. */
  readonly env?: NodeJS.ProcessEnv
}

const MAX_HEADER_SIZE = 16_384
/** Short exchanges need few connections; an idle one is left a second before its server says that it closes it. */
const COLLECTING = { connections: 64, keepAliveTimeoutThreshold: 1000 }

/**
 * Sends requests with undici, which follows no redirect and keeps connections open.
 *
 * Addresses that are not granted must be public, checked on the very address dialled. Headers end at 16 KiB; gzip, deflate and br are
 * taken off, at most two of them. Proxies of the environment see requests for `http:` URLs; for all others they open tunnels and see none.
 *
 * Errors: `NetworkError` (`NETWORK_*`, `TLS_*`, `PROXY_*`, `RESPONSE_*`), `TimeoutError` (`TIMEOUT_*`), `TrustError`
 * (`URL_ADDRESS_FORBIDDEN`, `TLS_DISABLED`), `AbortedError`.
 */
export function undiciTransport({
  ca,
  timeouts = {},
  env = process.env,
  ...hooks
}: UndiciTransportOptions = {}): Send & { readonly connect: Connect; readonly collect: Collect } {
  const proxies = environmentProxies(env)
  const common = { ...hooks, timeout: timeouts.connect ?? 10_000, ...(ca && { ca }), ...(proxies && { proxies }) }
  /** For a connection of its own, which is a tunnel behind every proxy. */
  const connector = (granted: boolean, shown?: ClientCertificate) => guardedConnect({ ...common, ...shown, granted })
  const limits = { maxHeaderSize: MAX_HEADER_SIZE, headersTimeout: timeouts.headers ?? 30_000, bodyTimeout: timeouts.body ?? 30_000 }
  const shared = (granted: boolean, more: Agent.Options = {}) =>
    new Agent({ ...limits, ...more, connect: guardedConnect({ ...common, granted, forwards: true }) })
  const forwarded = (dispatcher: Dispatcher) => (proxies ? dispatcher.compose(forwardThrough(proxies)) : dispatcher)
  const agent = (granted: boolean) => forwarded(shared(granted))
  const guarded = agent(false)
  const granted = agent(true)
  const send = (request: HttpRequest, options: SendOptions = {}) => {
    if (options.clientCertificate) return shownTo(request, options, connector(options.granted === true, options.clientCertificate))
    if (options.pooled) return exchange(collectingAgent(options.granted === true), request, options)
    return exchange(options.granted ? granted : guarded, request, options)
  }
  /** Kept apart: no other request may go out over a connection with somebody's certificate. */
  const shownTo = async (request: HttpRequest, options: SendOptions, connect: buildConnector.connector) => {
    const connection = await undiciConnection(request.url, connect, limits, options)
    try {
      return await connection.send(request, options)
    } finally {
      connection.close()
    }
  }
  const connect = (url: string, options: SendOptions = {}) => undiciConnection(url, connector(options.granted === true), limits, options)
  const collecting = new Map<boolean, Dispatcher>()
  const collectingAgent = (granted: boolean) => {
    const agent = collecting.get(granted) ?? forwarded(shared(granted, COLLECTING).compose(reuseConnections))
    collecting.set(granted, agent)
    return agent
  }
  const collect: Collect = (request, options, done) => {
    return undiciCollect(collectingAgent(options.granted === true), request, options, done)
  }
  return Object.assign(send, { connect, collect })
}
