import type { LookupAddress } from 'node:dns'
import { lookup as dnsLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, WebSocket } from 'undici'
import { TrustError } from '../../errors.ts'
import type { MessageSocket } from '../../http/message.ts'
import { isPublicAddress, isPublicHost } from '../../http/public-address.ts'
import { connectToProxy, environmentProxies, forwardingProxy, openTunnel, type Proxies, wantsAddress } from './proxy.ts'

type Connector = buildConnector.connector

type Dial = buildConnector.Options

/** What a test puts in place of the name server and, below the guard, of the network. */
export interface ConnectHooks {
  /** All addresses of a name; the default asks the system. */
  readonly lookup?: (hostname: string) => Promise<readonly LookupAddress[]>
  /** Where an address that passed the guard is really dialled. */
  readonly connect?: (to: Endpoint) => Pick<Endpoint, 'address' | 'port'>
}

/** A checked address and the name it was found by. */
interface Endpoint {
  readonly hostname: string
  readonly address: string
  readonly port: number
}

interface ConnectOptions extends ConnectHooks {
  /** True when the user named the origin: private addresses are what they meant. */
  readonly allowPrivateNetwork: boolean
  /** Milliseconds for name, connection and encryption together. */
  readonly timeout: number
  /** Certificates of authorities to trust instead of the system's, PEM. */
  readonly ca?: string
  /** Certificate and key of the client, PEM. */
  readonly cert?: string
  readonly key?: string
  readonly proxies?: Proxies
  /** True when requests are written for proxies that forward them; otherwise every proxy opens a tunnel. */
  readonly forwards?: boolean
}

/**
 * Opens connections to public addresses only, unless `allowPrivateNetwork`. The address that was checked is the one that is dialled: names are
 * resolved once, all their addresses must be public, and IP literals go through the same check. Behind a proxy that resolves
 * names itself (all but `socks5:`), the name is checked. Certificates are always verified.
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
  const dial = buildConnector({
    timeout,
    ...(ca && { ca }),
    ...(cert && { cert, key }),
    rejectUnauthorized: true,
    lookup: asLookupFunction(resolve),
  })
  return (to, callback) => {
    const open = async () => {
      checkTarget(to, allowPrivateNetwork)
      const proxy = proxies?.for(to.protocol, to.hostname, portOf(to))
      const forwarding = forwards && proxies && forwardingProxy(proxies, to.protocol, to.hostname, portOf(to))
      if (forwarding) return connectToProxy(forwarding, timeout)
      if (proxy) {
        const host = wantsAddress(proxy) ? await addressOf(to, resolve) : to.hostname
        return tunnelled(await openTunnel(proxy, host, portOf(to), timeout), to, dial)
      }
      return dialled(connect ? await redirected(to, resolve, connect) : to, dial)
    }
    open().then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    )
  }
}

type Socket = Exclude<Parameters<buildConnector.Callback>[1], null>

type Resolve = NonNullable<ConnectHooks['lookup']>

function checkTarget({ protocol, hostname }: Dial, allowPrivateNetwork: boolean): void {
  if (protocol === 'https:' && process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const hint = 'unset it; for an authority of your own set NODE_EXTRA_CA_CERTS to its file'
    throw new TrustError(
      'TLS_DISABLED',
      `NODE_TLS_REJECT_UNAUTHORIZED=0 asks for connections without certificate checks; ${hostname} was not contacted`,
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
  const message = `"${hostname}" is a loopback or private address that you did not allow; no connection was made`
  return new TrustError('URL_ADDRESS_FORBIDDEN', message, { actual: hostname, hint: 'if you trust it, add its origin to sendTo' })
}

const CONNECT_TIMEOUT = 10_000

const agents = new Map<boolean, Agent>()

/**
 * Opens connections for messages to public addresses, checked as those of requests are, through the proxies of the environment. Carries no
 * credential and no cookie.
 *
 * @param allowPrivateNetwork whether a loopback or private address is allowed too
 */
export function guardedSocket(allowPrivateNetwork: boolean): (url: string) => MessageSocket {
  return (url) => new WebSocket(url, { dispatcher: agentFor(allowPrivateNetwork) })
}

function agentFor(allowPrivateNetwork: boolean): Agent {
  const known = agents.get(allowPrivateNetwork)
  if (known) return known
  const proxies = environmentProxies(process.env)
  const agent = new Agent({ connect: guardedConnect({ allowPrivateNetwork, timeout: CONNECT_TIMEOUT, ...(proxies && { proxies }) }) })
  agents.set(allowPrivateNetwork, agent)
  return agent
}
