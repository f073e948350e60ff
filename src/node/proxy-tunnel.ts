import type { Socket } from 'node:net'
import { type AuthError, NetworkError } from '../errors.ts'

/** The proxies named in an environment. */
export interface Proxies {
  /** The proxy for an address, or undefined for a direct connection. Errors: `PROXY_INVALID`. */
  for(protocol: string, hostname: string, port: string): URL | undefined
}

/**
 * The proxies of `https_proxy`, `http_proxy`, `all_proxy` and the hosts of `no_proxy` (lower or upper case); undefined when no
 * proxy is set.
 */
export function environmentProxies(env: NodeJS.ProcessEnv): Proxies | undefined {
  const read = (name: string) => env[name] || env[name.toUpperCase()]
  const all = read('all_proxy')
  const byProtocol = new Map([
    ['https:', read('https_proxy') ?? all],
    ['http:', read('http_proxy') ?? all],
  ])
  if (![...byProtocol.values()].some(Boolean)) return undefined
  const exceptions = (read('no_proxy') ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  return {
    for: (protocol, hostname, port) => {
      const proxy = byProtocol.get(protocol)
      return proxy && !exceptions.some((entry) => isException(entry, hostname, port)) ? parseProxy(proxy) : undefined
    },
  }
}

/**
 * Opens a tunnel (RFC 9110 §9.3.6) through which the origin is spoken to; the proxy sees its name and nothing else.
 *
 * @param timeout milliseconds until the tunnel must be open
 *
 * Errors: `PROXY_AUTH_REQUIRED`, `PROXY_REFUSED`, `PROXY_UNREACHABLE`.
 */
export async function openTunnel(proxy: URL, hostname: string, port: string, timeout: number): Promise<Socket> {
  const { request } = proxy.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  return new Promise((resolve, reject) => {
    const connect = request(proxy, {
      // The login in the proxy's address is for proxy-authorization, not for authorization.
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
  throw new NetworkError('PROXY_INVALID', 'the proxy variable of the environment does not name an http or https proxy')
}

/** `*`, a host and everything below it, with or without a leading dot, and possibly one port of it. */
function isException(entry: string, hostname: string, port: string): boolean {
  if (entry === '*') return true
  const [, named = entry, exactPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  const host = named.replace(/^\[|\]$/g, '').replace(/^\*?\./, '')
  return (exactPort === undefined || exactPort === port) && (hostname === host || hostname.endsWith(`.${host}`))
}

function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (!username) return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

function refusal(proxy: URL, status: number, authority: string): AuthError {
  if (status === 407) {
    const hint = 'put the user name and password of the proxy into its variable: https_proxy=http://user:password@proxy:port'
    return new NetworkError('PROXY_AUTH_REQUIRED', `the proxy ${proxy.host} asks for a login of its own`, { status, hint })
  }
  return new NetworkError('PROXY_REFUSED', `the proxy ${proxy.host} refuses to connect to ${authority} (status ${status})`, { status })
}

function unreachable(proxy: URL): AuthError {
  return new NetworkError('PROXY_UNREACHABLE', `the proxy ${proxy.host} cannot be reached`, { retryable: true })
}
