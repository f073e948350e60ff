/** The proxies that the environment names: which one a host is reached through, and tunnels through them. */
import { once } from 'node:events'
import { BlockList, connect, isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type * as undici from 'undici'
import { type AuthError, isAuthError, NetworkError } from '../../errors.ts'
import { parseChallenges, spellingOf } from '../../http/challenge.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { buildConnector } from './undici-parts.ts'

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
  const read = (name: string) => {
    const variable = env[name] ? name : name.toUpperCase()
    const text = env[variable]
    return text === undefined ? undefined : { variable, text }
  }
  const all = read('all_proxy')
  const byProtocol = new Map([
    ['https:', read('https_proxy') ?? all],
    ['http:', read('http_proxy') ?? all],
  ])
  if (![...byProtocol.values()].some((proxy) => proxy?.text)) return undefined
  const exceptions = exceptionsOf(read('no_proxy')?.text ?? '')
  return {
    for: (protocol, hostname, port) => {
      const proxy = byProtocol.get(protocol)
      return proxy?.text && !exceptions.some((isException) => isException(hostname, port)) ? parseProxy(proxy) : undefined
    },
  }
}

/** Returns the proxy that requests for a URL are forwarded by: an http or https proxy, for `http:` only; all others open a tunnel. */
export function forwardingProxy(proxies: Proxies, url: string): URL | undefined {
  if (!/^http:/i.test(url)) return undefined
  const { hostname, port } = new URL(url)
  const proxy = proxies.for('http:', hostname.replace(/^\[|\]$/g, ''), port || '80')
  return proxy && /^https?:$/.test(proxy.protocol) ? proxy : undefined
}

/** Returns the login in the proxy URL as a header for the proxy; none when there is no login. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (!username) return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

/**
 * Returns `PROXY_AUTH_REQUIRED`.
 *
 * @param offered `Proxy-Authenticate` of the response
 */
export function loginRequired({ host, username }: URL, status = 407, offered: string | readonly string[] = []): NetworkError {
  const schemes = parseChallenges(offered).challenges.map(({ scheme }) => spellingOf(scheme).slice(0, 32))
  if (schemes.length > 0 && !schemes.includes('Basic')) {
    const hint = 'ask its administrator for a login with Basic, or use a proxy on this machine that logs in there, such as cntlm or px'
    const problem = `offers logins with ${schemes.slice(0, 5).join(', ')}, and only Basic is supported`
    return new NetworkError('PROXY_AUTH_REQUIRED', `the proxy ${host} ${problem}`, { status, hint })
  }
  const [problem, hint] =
    username === ''
      ? ['requires a login', 'add the user name and password to the variable of the proxy: https_proxy=http://user:password@proxy:port']
      : ['refused the login in its variable', `check the user name and password in https_proxy, http_proxy or all_proxy; ${ENCODED}`]
  return new NetworkError('PROXY_AUTH_REQUIRED', `the proxy ${host} ${problem}`, { status, hint })
}

/** As an option of connections with TLS. */
type Authorities = { readonly ca: string[] } | undefined

type Socket = Exclude<Parameters<undici.buildConnector.Callback>[1], null>

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
export async function openTunnel(proxy: URL, hostname: string, port: string, timeout: number, authorities?: Authorities): Promise<Socket> {
  if (SOCKS.has(proxy.protocol)) return openSocksTunnel(proxy, hostname, port, timeout)
  const { request } = proxy.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  return new Promise((resolve, reject) => {
    const asking = request(proxy, {
      // The login in the proxy URL belongs in Proxy-Authorization, not in Authorization.
      auth: '',
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      agent: false,
      timeout,
      ...authorities,
    })
    asking.once('connect', ({ statusCode = 0, headers }, socket: Socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket)
      socket.destroy()
      reject(refusal(proxy, statusCode, authority, headers['proxy-authenticate']))
    })
    asking.once('timeout', () => asking.destroy(unreachable(proxy)))
    asking.once('error', () => reject(unreachable(proxy)))
    asking.end()
  })
}

/**
 * Opens a connection through a SOCKS 5 proxy (RFC 1928), with the user name and password of the proxy URL (RFC 1929), if it has them. The
 * proxy sees only host and port.
 *
 * @param host a name, which the proxy resolves, or an IP address
 *
 * Errors: `PROXY_AUTH_REQUIRED`, `PROXY_REFUSED`, `PROXY_UNREACHABLE`.
 */
async function openSocksTunnel(proxy: URL, host: string, port: string, timeout: number): Promise<Socket> {
  const { Socks5Client } = await import('undici/lib/core/socks5-client.js')
  const [username, password] = [proxy.username, proxy.password].map(decodeURIComponent)
  const socket = connect({ host: proxy.hostname.replace(/^\[|\]$/g, ''), port: Number(proxy.port || 1080) })
  const timer = setTimeout(() => socket.destroy(unreachable(proxy)), timeout)
  let problem = unreachable
  try {
    await once(socket, 'connect')
    problem = invalidReply
    const client = new Socks5Client(socket, { username, password })
    // It repeats the errors of the connection, and without a listener a later one would end the process.
    client.on('error', () => {})
    const closed = once(client, 'close').then(() => Promise.reject(invalidReply(proxy)))
    client.handshake()
    await Promise.race([once(client, 'authenticated'), closed])
    client.connect(host, Number(port))
    await Promise.race([once(client, 'connected'), closed])
    return socket.pause()
  } catch (error) {
    socket.destroy()
    throw isAuthError(error) ? error : (socksRefusal(error, proxy, `${isIP(host) === 6 ? `[${host}]` : host}:${port}`) ?? problem(proxy))
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the error for what the proxy refused, undefined for another error. */
function socksRefusal(error: unknown, { host }: URL, wanted: string): NetworkError | undefined {
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string }
  if (/^UND_ERR_SOCKS5_AUTH/.test(code)) {
    const hint = 'add the user name and password to the variable of the proxy: all_proxy=socks5h://user:password@proxy:1080'
    return new NetworkError('PROXY_AUTH_REQUIRED', `the proxy ${host} requires a login or refused the login in its variable`, { hint })
  }
  const reply = /^UND_ERR_SOCKS5_REPLY_(\d+)$/.exec(code)?.[1]
  if (reply === undefined) return undefined
  const why = message.replace(/^.*: (?=[A-Z])/, '').toLowerCase()
  return new NetworkError('PROXY_REFUSED', `the proxy ${host} refused the connection to ${wanted}: ${why}`, { retryable: reply !== '2' })
}

function invalidReply({ host }: URL): NetworkError {
  return new NetworkError('PROXY_UNREACHABLE', `the response of the proxy ${host} is invalid: it is not a SOCKS 5 reply`, {
    retryable: true,
  })
}

/** The text may contain a password, so errors name the variable only. */
function parseProxy({ variable, text }: { readonly variable: string; readonly text: string }): URL {
  const url = text.includes('://') ? text : `http://${text}`
  const proxy = canParseUrl(url) ? new URL(url) : undefined
  const isKnown = proxy && (/^https?:$/.test(proxy.protocol) || (proxy.hostname !== '' && SOCKS.has(proxy.protocol)))
  if (isKnown && isDecodable(proxy.username) && isDecodable(proxy.password)) return proxy
  const problem = isKnown
    ? 'has a % in the user name or password that begins no %XX'
    : 'is not the URL of an http, https, socks5 or socks5h proxy'
  throw new NetworkError('PROXY_INVALID', `the proxy setting is invalid: the environment variable ${variable} ${problem}`, {
    hint: `write http://host:port or http://user:password@host:port; ${ENCODED}`,
  })
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** How a login is written in the URL of a proxy. */
const ENCODED = 'in the user name and password write @ as %40, : as %3A, / as %2F, # as %23 and % as %25'

type Exception = (hostname: string, port: string) => boolean

/** Parses the elements of `no_proxy`; malformed ones are ignored. */
function exceptionsOf(list: string): readonly Exception[] {
  return list.split(/[\s,]+/).map((element) => {
    if (element === '*') return () => true
    const [, named = element, exactPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(element) ?? []
    const isHost = hostMatcher(named.replace(/^\[(.*)\]$/, '$1'))
    return (hostname, port) => (exactPort === undefined || exactPort === port) && isHost(hostname.replace(/\.$/, ''))
  })
}

/** Matches an IP address or a range for IP hosts; a name and its subdomains otherwise, with or without a leading dot. */
function hostMatcher(named: string): (hostname: string) => boolean {
  const [address = '', prefix] = named.split('/')
  const version = isIP(address)
  if (version === 0) {
    // Empty when it is malformed.
    const name = prefix !== undefined ? '' : domainToASCII(named.replace(/^\*?\./, '').replace(/\.$/, ''))
    return (hostname) => hostname === name || hostname.endsWith(`.${name}`)
  }
  const bits = version === 4 ? 32 : 128
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  if (!(length <= bits)) return () => false
  const range = new BlockList()
  range.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6')
  return (hostname) => range.check(hostname, version === 4 ? 'ipv4' : 'ipv6')
}

function refusal(proxy: URL, status: number, authority: string, offered?: string | readonly string[]): AuthError {
  // Tinyproxy refuses a wrong login with 401; the server cannot have sent it, because there is no tunnel yet.
  if (status === 407 || status === 401) return loginRequired(proxy, status, offered)
  return new NetworkError('PROXY_REFUSED', `the proxy ${proxy.host} refused the connection to ${authority} (status ${status})`, { status })
}

/** Returns `PROXY_UNREACHABLE` for a proxy that cannot be connected to, or does not respond in time. */
function unreachable(proxy: URL): AuthError {
  return new NetworkError('PROXY_UNREACHABLE', `the proxy ${proxy.host} is unreachable`, {
    retryable: true,
    hint: 'start the proxy, or correct https_proxy, http_proxy or all_proxy; no_proxy names hosts that are reached without it',
  })
}

/** Connects to a proxy and verifies its certificate. Errors: `PROXY_UNREACHABLE`. */
export function connectToProxy(proxy: URL, timeout: number, authorities?: Authorities): Promise<Socket> {
  const { protocol, hostname, host, port } = proxy
  const dial = buildConnector({ timeout, ...authorities, rejectUnauthorized: true })
  return new Promise((resolve, reject) => {
    dial({ protocol, hostname: hostname.replace(/[[\]]/g, ''), host, port }, (_error, socket) =>
      socket ? resolve(socket) : reject(unreachable(proxy)),
    )
  })
}
