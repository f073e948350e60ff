/**
 * Connects for undici: to checked addresses, directly or through a proxy. Proxies are tunnels for `https:` URLs; requests for `http:` URLs are
 * forwarded with the absolute URL as request target (RFC 9112 §3.2.2).
 */

import type { LookupAddress } from 'node:dns'
import { lookup as dnsLookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { domainToASCII } from 'node:url'
import type * as undici from 'undici'
import { type AuthError, NetworkError, TrustError } from '../../errors.ts'
import { parseChallenges, spellingOf } from '../../http/challenge.ts'
import type { MessageSocket } from '../../http/message.ts'
import { isPublicAddress, isPublicHost } from '../../http/url.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { trustedAuthorities } from './certificate-authorities.ts'
import { Agent, buildConnector, skipContinue } from './undici-parts.ts'

type Connector = undici.buildConnector.connector

type Dial = undici.buildConnector.Options

/** Replaces DNS and, after the address check, the network in tests. */
export interface ConnectHooks {
  /** Resolves all addresses of a name; default: the system's resolver. */
  readonly lookup?: (hostname: string) => Promise<readonly LookupAddress[]>
  /** Maps a checked address to the address to dial. */
  readonly connect?: (to: Endpoint) => Pick<Endpoint, 'address' | 'port'>
}

/** A checked IP address and its host name. */
interface Endpoint {
  readonly hostname: string
  readonly address: string
  readonly port: number
}

interface ConnectOptions extends ConnectHooks {
  /** True when the user named the origin: private addresses are allowed. */
  readonly allowPrivateNetwork: boolean
  /** Timeout in milliseconds for name resolution, connection and TLS handshake together. */
  readonly timeout: number
  /** Certificate authorities to trust instead of Node's, PEM; for proxies too. */
  readonly ca?: string | readonly string[]
  /** Certificate and key of the client, PEM. */
  readonly cert?: string
  readonly key?: string
  readonly proxies?: Proxies
  /** True when requests are written for forwarding proxies; otherwise a tunnel is opened through every proxy. */
  readonly forwards?: boolean
}

/**
 * Opens connections to public addresses only, unless `allowPrivateNetwork`. The address that was checked is the one that is dialled: names
 * are resolved once, all their addresses must be public, and IP literals are checked too. Behind a proxy that resolves names itself (all
 * but `socks5:`), the name is checked. Certificates are always verified.
 *
 * Errors: `URL_ADDRESS_FORBIDDEN`, `TLS_DISABLED`, `PROXY_*`.
 */
export function guardedConnect({
  allowPrivateNetwork,
  timeout,
  ca,
  cert,
  key,
  proxies,
  forwards = false,
  lookup = lookupAll,
  connect,
}: ConnectOptions): Connector {
  const resolve = allowPrivateNetwork ? lookup : async (hostname: string) => allPublic(hostname, await lookup(hostname))
  const authorities = ca === undefined ? undefined : { ca: [ca].flat() }
  const dial = buildConnector({
    timeout,
    ...authorities,
    ...(cert && { cert, key }),
    rejectUnauthorized: true,
    lookup: asLookupFunction(resolve),
  })
  return (to, callback) => {
    const open = async () => {
      checkTarget(to, allowPrivateNetwork)
      const proxy = proxies?.for(to.protocol, to.hostname, portOf(to))
      const forwarding = forwards && proxies && forwardingProxy(proxies, to.protocol, to.hostname, portOf(to))
      if (forwarding) return connectToProxy(forwarding, timeout, authorities)
      if (proxy) {
        const host = wantsAddress(proxy) ? await addressOf(to, resolve) : to.hostname
        return tunnelled(await openTunnel(proxy, host, portOf(to), timeout, authorities), to, dial)
      }
      return dialled(connect ? await redirected(to, resolve, connect) : to, dial)
    }
    open().then(
      (socket) => callback(null, skipContinue(socket)),
      (error) => callback(error, null),
    )
  }
}

/**
 * Opens WebSocket connections to public addresses, with the same checks and proxies as for requests. Sends no credential and no cookie.
 *
 * @param allowPrivateNetwork whether loopback and private addresses are allowed
 */
export async function guardedSocket(allowPrivateNetwork: boolean): Promise<(url: string) => MessageSocket> {
  const { WebSocket } = await import('undici')
  return (url) => new WebSocket(url, { dispatcher: agentFor(allowPrivateNetwork) })
}

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

/** Returns the proxy that forwards requests to a host: an http or https proxy, for `http:` only; all others open a tunnel. */
export function forwardingProxy(proxies: Proxies, protocol: string, hostname: string, port: string): URL | undefined {
  if (protocol !== 'http:') return undefined
  const proxy = proxies.for(protocol, hostname, port)
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

type Socket = Exclude<Parameters<undici.buildConnector.Callback>[1], null>

type Resolve = NonNullable<ConnectHooks['lookup']>

function checkTarget({ protocol, hostname }: Dial, allowPrivateNetwork: boolean): void {
  if (protocol === 'https:' && process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const hint = 'unset it; for your own certificate authority, set SSL_CERT_FILE to its file'
    throw new TrustError(
      'TLS_DISABLED',
      `${hostname} was not contacted: NODE_TLS_REJECT_UNAUTHORIZED=0 disables certificate verification`,
      { hint },
    )
  }
  if (!allowPrivateNetwork && !(isIP(hostname) ? isPublicAddress(hostname) : isPublicHost(hostname))) throw forbidden(hostname)
}

function dialled(to: Dial, dial: Connector): Promise<Socket> {
  return new Promise((resolve, reject) => dial(to, (error, socket) => (socket ? resolve(socket) : reject(error))))
}

function tunnelled(httpSocket: Socket, to: Dial, dial: Connector): Promise<Socket> | Socket {
  return to.protocol === 'https:' ? dialled({ ...to, httpSocket }, dial) : httpSocket
}

async function redirected(to: Dial, resolve: Resolve, connect: NonNullable<ConnectHooks['connect']>): Promise<Dial> {
  const address = await addressOf(to, resolve)
  const place = connect({ hostname: to.hostname, address, port: Number(portOf(to)) })
  return { ...to, hostname: place.address, port: String(place.port) }
}

async function addressOf({ hostname }: Dial, resolve: Resolve): Promise<string> {
  return isIP(hostname) ? hostname : ((await resolve(hostname))[0]?.address ?? '')
}

function lookupAll(hostname: string): Promise<LookupAddress[]> {
  return dnsLookup(hostname, { all: true })
}

function allPublic(hostname: string, addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  if (!addresses.every(({ address }) => isPublicAddress(address))) throw forbidden(hostname)
  return addresses
}

function asLookupFunction(resolve: Resolve): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => (all ? callback(null, [...addresses]) : callback(null, addresses[0]?.address ?? '', addresses[0]?.family)),
      (error) => callback(error, []),
    )
  }
}

function portOf({ protocol, port }: Dial): string {
  return port || (protocol === 'https:' ? '443' : '80')
}

function forbidden(hostname: string): TrustError {
  const message = `the connection was refused: "${hostname}" is a loopback or private address that you did not allow`
  return new TrustError('URL_ADDRESS_FORBIDDEN', message, { actual: hostname, hint: 'if you trust it, add its origin to sendTo' })
}

/** As an option of connections with TLS. */
type Authorities = { readonly ca: string[] } | undefined

const CONNECT_TIMEOUT = 10_000

const agents = new Map<boolean, undici.Agent>()

function agentFor(allowPrivateNetwork: boolean): undici.Agent {
  const known = agents.get(allowPrivateNetwork)
  if (known) return known
  const proxies = environmentProxies(process.env)
  const ca = trustedAuthorities(process.env)
  const agent = new Agent({
    connect: guardedConnect({ allowPrivateNetwork, timeout: CONNECT_TIMEOUT, ...(ca && { ca }), ...(proxies && { proxies }) }),
  })
  agents.set(allowPrivateNetwork, agent)
  return agent
}

/** With `socks5h` the proxy resolves names; with `socks5` they are resolved here, as in curl. */
const SOCKS = new Set(['socks5:', 'socks5h:'])

/** True when the proxy gets an IP address instead of a name. */
function wantsAddress({ protocol }: URL): boolean {
  return protocol === 'socks5:'
}

/**
 * Opens a tunnel (RFC 9110 §9.3.6) to the origin; the proxy sees only its name.
 *
 * @param timeout milliseconds until the tunnel must be open
 *
 * Errors: `PROXY_AUTH_REQUIRED`, `PROXY_REFUSED`, `PROXY_UNREACHABLE`.
 */
async function openTunnel(proxy: URL, hostname: string, port: string, timeout: number, authorities?: Authorities): Promise<Socket> {
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
      ...authorities,
    })
    connect.once('connect', ({ statusCode = 0, headers }, socket: Socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket)
      socket.destroy()
      reject(refusal(proxy, statusCode, authority, headers['proxy-authenticate']))
    })
    connect.once('timeout', () => connect.destroy(unreachable(proxy)))
    connect.once('error', () => reject(unreachable(proxy)))
    connect.end()
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
export function unreachable(proxy: URL): AuthError {
  return new NetworkError('PROXY_UNREACHABLE', `the proxy ${proxy.host} is unreachable`, {
    retryable: true,
    hint: 'start the proxy, or correct https_proxy, http_proxy or all_proxy; no_proxy names hosts that are reached without it',
  })
}

type ProxySocket = Exclude<Parameters<undici.buildConnector.Callback>[1], null>

/** Connects to a proxy and verifies its certificate. Errors: `PROXY_UNREACHABLE`. */
function connectToProxy(proxy: URL, timeout: number, authorities?: Authorities): Promise<ProxySocket> {
  const { protocol, hostname, host, port } = proxy
  const dial = buildConnector({ timeout, ...authorities, rejectUnauthorized: true })
  return new Promise((resolve, reject) => {
    dial({ protocol, hostname: hostname.replace(/[[\]]/g, ''), host, port }, (_error, socket) =>
      socket ? resolve(socket) : reject(unreachable(proxy)),
    )
  })
}
