/**
 * Connects for undici: to checked addresses, directly or through a proxy. Proxies are tunnels for `https:` URLs; requests for `http:` URLs are
 * forwarded with the absolute URL as request target (RFC 9112 §3.2.2).
 */

import type { LookupAddress } from 'node:dns'
import { lookup as dnsLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import type * as undici from 'undici'
import { TrustError } from '../../errors.ts'
import type { MessageSocket } from '../../http/message.ts'
import { isPublicAddress, isPublicHost, trustHint } from '../../http/url.ts'
import { trustedAuthorities } from './certificate-authorities.ts'
import { connectToProxy, environmentProxies, forwardingProxy, openTunnel, type Proxies, wantsAddress } from './proxies.ts'
import { Agent, buildConnector, withParserFixes } from './undici-parts.ts'

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
      const forwarding = forwards && proxies && forwardingProxy(proxies, `${to.protocol}//${to.host}`)
      if (forwarding) return connectToProxy(forwarding, timeout, authorities)
      if (proxy) {
        const host = wantsAddress(proxy) ? await addressOf(to, resolve) : to.hostname
        return tunnelled(await openTunnel(proxy, host, portOf(to), timeout, authorities), to, dial)
      }
      return dialled(connect ? await redirected(to, resolve, connect) : to, dial)
    }
    open().then(
      (socket) => callback(null, withParserFixes(socket)),
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
  return new TrustError('URL_ADDRESS_FORBIDDEN', message, { actual: hostname, hint: trustHint(`https://${hostname}/`) })
}

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
