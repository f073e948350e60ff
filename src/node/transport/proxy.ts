/**
 * Proxies: tunnels for `https:` URLs; requests for `http:` URLs are forwarded with the absolute URL as request target (RFC 9112 §3.2.2).
 */
import { BlockList, isIP, type Socket } from 'node:net'
import { domainToASCII } from 'node:url'
import { buildConnector, type Dispatcher } from 'undici'
import { type AuthError, NetworkError } from '../../errors.ts'
import { ForwardingHandler } from './undici-reuse.ts'

/** The proxies of an environment. */
export interface Proxies {
  /** Returns the proxy for a URL; undefined for a direct connection. Errors: `PROXY_INVALID`. */
  for(protocol: string, hostname: string, port: string): URL | undefined
}

/**
 * Reads `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` (lower or upper case). `no_proxy` lists names, addresses and ranges
 * (`10.0.0.0/8`), each with or without a port. Returns undefined when no proxy is set.
 */
export function environmentProxies(env: NodeJS.ProcessEnv): Proxies | undefined {
  const read = (name: string) => env[name] || env[name.toUpperCase()]
  const all = read('all_proxy')
  const byProtocol = new Map([
    ['https:', read('https_proxy') ?? all],
    ['http:', read('http_proxy') ?? all],
  ])
  if (![...byProtocol.values()].some(Boolean)) return undefined
  const exceptions = exceptionsOf(read('no_proxy') ?? '')
  return {
    for: (protocol, hostname, port) => {
      const proxy = byProtocol.get(protocol)
      return proxy && !exceptions.some((isException) => isException(hostname, port)) ? parseProxy(proxy) : undefined
    },
  }
}

/** With `socks5h` the proxy resolves names; with `socks5` they are resolved here, as in curl. */
const SOCKS = new Set(['socks5:', 'socks5h:'])

/** True when the proxy gets an IP address instead of a name. */
export function wantsAddress({ protocol }: URL): boolean {
  return protocol === 'socks5:'
}

/**
 * Opens a tunnel (RFC 9110 §9.3.6) to the origin; the proxy sees only its name.
 *
 * @param timeout milliseconds until the tunnel must be open
 *
 * Errors: `PROXY_AUTH_REQUIRED`, `PROXY_REFUSED`, `PROXY_UNREACHABLE`.
 */
export async function openTunnel(proxy: URL, hostname: string, port: string, timeout: number): Promise<Socket> {
  if (SOCKS.has(proxy.protocol)) {
    const { openSocksTunnel } = await import('./socks-tunnel.ts')
    return openSocksTunnel(proxy, hostname, port, timeout)
  }
  const { request } = proxy.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  return new Promise((resolve, reject) => {
    const connect = request(proxy, {
      // The login in the proxy URL belongs in Proxy-Authorization, not in Authorization.
      auth: '',
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      agent: false,
      timeout,
    })
    connect.once('connect', ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket)
      socket.destroy()
      reject(refusal(proxy, statusCode, authority))
    })
    connect.once('timeout', () => connect.destroy(unreachable(proxy)))
    connect.once('error', () => reject(unreachable(proxy)))
    connect.end()
  })
}

function parseProxy(text: string): URL {
  const url = text.includes('://') ? text : `http://${text}`
  const proxy = URL.canParse(url) ? new URL(url) : undefined
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy
  if (proxy?.hostname && SOCKS.has(proxy.protocol)) return proxy
  throw new NetworkError(
    'PROXY_INVALID',
    'the proxy setting is invalid: the environment variable does not contain an http, https, socks5 or socks5h URL',
  )
}

type Exception = (hostname: string, port: string) => boolean

/** Parses the elements of `no_proxy`; malformed ones are ignored. */
function exceptionsOf(list: string): readonly Exception[] {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((element) => {
      if (element === '*') return () => true
      const [, named = element, exactPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(element) ?? []
      const isHost = hostMatcher(named.replace(/^\[(.*)\]$/, '$1'))
      return (hostname, port) => (exactPort === undefined || exactPort === port) && isHost(hostname)
    })
}

/** Matches an IP address or a range for IP hosts; a name and its subdomains otherwise, with or without a leading dot. */
function hostMatcher(named: string): (hostname: string) => boolean {
  const [address = '', prefix] = named.split('/')
  const version = isIP(address)
  if (version === 0) {
    const name = prefix !== undefined ? '' : domainToASCII(named.replace(/^\*?\./, '').replace(/\.$/, ''))
    return (hostname) => name !== '' && isIP(hostname) === 0 && (hostname === name || hostname.endsWith(`.${name}`))
  }
  const bits = version === 4 ? 32 : 128
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
  if (length < 0 || length > bits) return () => false
  const range = new BlockList()
  range.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6')
  return (hostname) => isIP(hostname) === version && range.check(hostname, version === 4 ? 'ipv4' : 'ipv6')
}

/** Returns the login in the proxy URL as a header for the proxy; none when there is no login. */
function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (!username) return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

function refusal(proxy: URL, status: number, authority: string): AuthError {
  if (status === 407) return loginRequired(proxy)
  return new NetworkError('PROXY_REFUSED', `the proxy ${proxy.host} refused the connection to ${authority} (status ${status})`, { status })
}

function loginRequired(proxy: URL): NetworkError {
  const hint = 'add the user name and password to the variable of the proxy: https_proxy=http://user:password@proxy:port'
  return new NetworkError('PROXY_AUTH_REQUIRED', `the proxy ${proxy.host} requires a login`, { status: 407, hint })
}

function unreachable(proxy: URL): AuthError {
  return new NetworkError('PROXY_UNREACHABLE', `the proxy ${proxy.host} is unreachable`, { retryable: true })
}

type Dispatch = Dispatcher['dispatch']

type Handler = Dispatcher.DispatchHandler

type ProxySocket = Exclude<Parameters<buildConnector.Callback>[1], null>

/** Returns the proxy that forwards requests to a host: an http or https proxy, for `http:` only; all others open a tunnel. */
export function forwardingProxy(proxies: Proxies, protocol: string, hostname: string, port: string): URL | undefined {
  if (protocol !== 'http:') return undefined
  const proxy = proxies.for(protocol, hostname, port)
  return proxy && /^https?:$/.test(proxy.protocol) ? proxy : undefined
}

/** Connects to a proxy and verifies its certificate. Errors: `PROXY_UNREACHABLE`. */
export function connectToProxy(proxy: URL, timeout: number): Promise<ProxySocket> {
  const { protocol, hostname, host, port } = proxy
  const dial = buildConnector({ timeout, rejectUnauthorized: true })
  return new Promise((resolve, reject) => {
    dial({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port }, (_error, socket) =>
      socket ? resolve(socket) : reject(unreachable(proxy)),
    )
  })
}

/**
 * Writes requests through a forwarding proxy in absolute form, with the login of the proxy; other requests stay unchanged. The connector
 * must choose by {@link forwardingProxy} too.
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

/** A 407 comes from the proxy (RFC 9110 §15.5.8), never from the origin server. */
class ForwardedHandler extends ForwardingHandler {
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
