/** Requests for `http:` URLs through a proxy that forwards them, with the whole URL as request target (RFC 9112 §3.2.2). */
import { buildConnector, type Dispatcher } from 'undici'
import { loginRequired, type Proxies, proxyAuthorization, unreachable } from './proxy-tunnel.ts'
import { PassingHandler } from './undici-reuse.ts'

type Dispatch = Dispatcher['dispatch']
type Handler = Dispatcher.DispatchHandler
type Socket = Exclude<Parameters<buildConnector.Callback>[1], null>

/** Returns the proxy that forwards requests to a host: an http or https proxy, for `http:` only; all others open a tunnel. */
export function forwardingProxy(proxies: Proxies, protocol: string, hostname: string, port: string): URL | undefined {
  if (protocol !== 'http:') return undefined
  const proxy = proxies.for(protocol, hostname, port)
  return proxy && /^https?:$/.test(proxy.protocol) ? proxy : undefined
}

/** Connects to a proxy; its certificate is verified. Errors: `PROXY_UNREACHABLE`. */
export function connectToProxy(proxy: URL, timeout: number): Promise<Socket> {
  const { protocol, hostname, host, port } = proxy
  const dial = buildConnector({ timeout, rejectUnauthorized: true })
  return new Promise((resolve, reject) => {
    dial({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port }, (_error, socket) =>
      socket ? resolve(socket) : reject(unreachable(proxy)),
    )
  })
}

/**
 * Writes the requests that go to a forwarding proxy in absolute form, with the login of the proxy. Nothing else is added to them, and
 * requests without such a proxy stay as they are. The connector must choose by {@link forwardingProxy} too.
 *
 * Errors: `PROXY_INVALID`; `PROXY_AUTH_REQUIRED` for a response with the status 407.
 */
export function forwardThrough(proxies: Proxies): (dispatch: Dispatch) => Dispatch {
  return (dispatch) => (options, handler) => {
    const { protocol, hostname, port, origin } = new URL(String(options.origin))
    const proxy = forwardingProxy(proxies, protocol, hostname.replace(/^\[|\]$/g, ''), port || '80')
    if (!proxy) return dispatch(options, handler)
    const headers = { ...(options.headers as Record<string, string> | undefined), ...proxyAuthorization(proxy) }
    return dispatch({ ...options, path: origin + options.path, headers }, new ForwardedHandler(handler, proxy))
  }
}

/** A 407 is the proxy's (RFC 9110 §15.5.8), whatever the origin server would have answered. */
class ForwardedHandler extends PassingHandler {
  readonly #proxy: URL

  constructor(to: Handler, proxy: URL) {
    super(to)
    this.#proxy = proxy
  }

  override onResponseStart(...told: Parameters<NonNullable<Handler['onResponseStart']>>): void {
    const [controller, status] = told
    if (status === 407) controller.abort(loginRequired(this.#proxy))
    else super.onResponseStart(...told)
  }
}
