import { Agent, type buildConnector } from 'undici'
import type { Collect } from '../http/collect.ts'
import type { ClientCertificate, Connect, HttpRequest, Send, SendOptions } from '../http/message.ts'
import { type ConnectHooks, guardedConnect } from './guarded-connect.ts'
import { environmentProxies } from './proxy-tunnel.ts'
import { undiciCollect } from './undici-collect.ts'
import { undiciConnection } from './undici-connection.ts'
import { exchange } from './undici-exchange.ts'

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
 * taken off, at most two of them. Proxies of the environment are used through tunnels, so they see no request.
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
  const connector = (granted: boolean, shown?: ClientCertificate): buildConnector.connector =>
    guardedConnect({ ...hooks, ...shown, granted, timeout: timeouts.connect ?? 10_000, ...(ca && { ca }), ...(proxies && { proxies }) })
  const limits = { maxHeaderSize: MAX_HEADER_SIZE, headersTimeout: timeouts.headers ?? 30_000, bodyTimeout: timeouts.body ?? 30_000 }
  const agent = (granted: boolean) => new Agent({ ...limits, connect: connector(granted) })
  const guarded = agent(false)
  const granted = agent(true)
  const send = (request: HttpRequest, options: SendOptions = {}) => {
    if (options.clientCertificate) return shownTo(request, options, connector(options.granted === true, options.clientCertificate))
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
  const collecting = new Map<boolean, Agent>()
  const collectingAgent = (granted: boolean) => {
    const agent = new Agent({ ...limits, ...COLLECTING, connect: connector(granted) })
    collecting.set(granted, agent)
    return agent
  }
  const collect: Collect = (request, options, done) => {
    const granted = options.granted === true
    return undiciCollect(collecting.get(granted) ?? collectingAgent(granted), request, options, done)
  }
  return Object.assign(send, { connect, collect })
}
