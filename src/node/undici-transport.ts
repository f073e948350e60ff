import { Agent, type Dispatcher } from 'undici'
import { type Deadline, deadline, failure, throwIfAborted } from '../http/deadline.ts'
import type { HttpRequest, Send, SendOptions } from '../http/message.ts'
import { codingsOf } from './decode-body.ts'
import { type ConnectHooks, guardedConnect } from './guarded-connect.ts'
import { environmentProxies } from './proxy-tunnel.ts'
import { UndiciResponse } from './undici-response.ts'

export interface UndiciTransportOptions extends ConnectHooks {
  /** Certificates of authorities to trust instead of the system's, PEM. Checks cannot be turned off. */
  readonly ca?: string
  /** Milliseconds until connected (10 000), until the headers are there (30 000), between two pieces of a body (30 000). */
  readonly timeouts?: { readonly connect?: number; readonly headers?: number; readonly body?: number }
  /** Where proxies are looked up: `https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`; default `process.env`. */
  readonly env?: NodeJS.ProcessEnv
}

const MAX_HEADER_SIZE = 16_384

/**
 * Sends requests with undici, which follows no redirect and keeps connections open.
 *
 * Addresses that are not granted must be public, checked on the very address dialled. Headers end at 16 KiB; gzip, deflate and br are
 * taken off, at most two of them. Proxies of the environment are used through tunnels, so they see no request.
 *
 * Errors: `NetworkError` (`NETWORK_*`, `TLS_*`, `PROXY_*`, `RESPONSE_*`), `TimeoutError` (`TIMEOUT_*`), `TrustError`
 * (`URL_ADDRESS_FORBIDDEN`, `TLS_DISABLED`), `AbortedError`.
 */
export function undiciTransport({ ca, timeouts = {}, env = process.env, ...hooks }: UndiciTransportOptions = {}): Send {
  const proxies = environmentProxies(env)
  const agent = (granted: boolean) =>
    new Agent({
      maxHeaderSize: MAX_HEADER_SIZE,
      headersTimeout: timeouts.headers ?? 30_000,
      bodyTimeout: timeouts.body ?? 30_000,
      connect: guardedConnect({ ...hooks, granted, timeout: timeouts.connect ?? 10_000, ...(ca && { ca }), ...(proxies && { proxies }) }),
    })
  const guarded = agent(false)
  const granted = agent(true)
  return (request, options = {}) => exchange(options.granted ? granted : guarded, request, options)
}

async function exchange(agent: Agent, request: HttpRequest, options: SendOptions): Promise<UndiciResponse> {
  throwIfAborted(options.signal)
  const end = deadline(options, request.url)
  try {
    const data = await dispatched(agent, request, end)
    return respond(request, data, end)
  } catch (error) {
    end.clear()
    throw failure(error, end.signal, request.url)
  }
}

/** The answer, or the reason of an abort at once: undici itself hears of one only when it is connected. */
function dispatched(agent: Agent, request: HttpRequest, { signal }: Deadline): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(request.url)
  const { method, body = null } = request
  const options = { origin, path: pathname + search, method, headers: withCodings(request), body, signal: signal ?? null }
  if (!signal) return agent.request(options)
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    agent.request(options, (error, data) => {
      signal.removeEventListener('abort', abort)
      if (error) reject(error)
      else resolve(data)
    })
  })
}

/** A part of a file is asked for as it is: a part of its compressed form could not be taken apart. */
function withCodings({ headers }: HttpRequest): Readonly<Record<string, string>> {
  return headers['accept-encoding'] === undefined && headers.range === undefined ? { ...headers, 'accept-encoding': 'gzip, br' } : headers
}

function respond(request: HttpRequest, data: Dispatcher.ResponseData, end: Deadline): UndiciResponse {
  const coded = request.method !== 'HEAD' && data.statusCode !== 206 ? data.headers['content-encoding'] : undefined
  try {
    return new UndiciResponse(request, data, coded === undefined ? [] : codingsOf(String(coded), request.url), end)
  } catch (error) {
    data.body.on('error', () => {}).destroy()
    throw error
  }
}
