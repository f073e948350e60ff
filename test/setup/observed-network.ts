/** Notes every connection and every query for a name that leaves this machine; no test may make one. */
import dgram from 'node:dgram'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { networkInterfaces } from 'node:os'

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+|localhost|.+\.localhost|0\.0\.0\.0|::|)$/i
/** Names that no name server knows (RFC 6761 §6.4). */
const NOWHERE = /\.invalid\.?$/i

/** Also its addresses in other networks: a connection to one of them does not leave it. */
function isOfThisMachine(address: string): boolean {
  const own = () => Object.values(networkInterfaces()).flatMap((list) => list?.map((one) => one.address) ?? [])
  return LOOPBACK.test(address) || own().includes(address)
}

interface Network {
  readonly left: string[]
}

declare global {
  var observedNetwork: Network | undefined
}

/** Where connections went to outside this machine, since the last call. */
export function connectionsOutside(): readonly string[] {
  return network().left.splice(0)
}

/** Once in a process, whatever number of copies of this module it has. */
function network(): Network {
  if (globalThis.observedNetwork) return globalThis.observedNetwork
  const left: string[] = []
  globalThis.observedNetwork = { left }
  const { connect } = net.Socket.prototype
  net.Socket.prototype.connect = function observed(this: net.Socket, ...given: unknown[]) {
    const host = hostOf(given)
    this.on('connectionAttempt', (address: string) => {
      if (net.isIP(address) && !isOfThisMachine(address)) left.push(address)
    })
    // A name is looked up first; where a test does that itself, it says which address is dialled.
    if (!net.isIP(host) || isOfThisMachine(host)) return connect.apply(this, given as never)
    left.push(host)
    queueMicrotask(() => this.destroy(Object.assign(new Error(`a test may not connect to ${host}`), { code: 'ECONNREFUSED' })))
    return this
  } as typeof connect
  for (const holder of [dns, dns.promises] as unknown as { lookup: (...given: unknown[]) => unknown }[]) {
    const { lookup } = holder
    holder.lookup = Object.assign(function observed(this: unknown, ...given: unknown[]) {
      const name = String(given[0])
      if (!LOOPBACK.test(name) && !NOWHERE.test(name) && !net.isIP(name)) left.push(`a name server for ${name}`)
      return lookup.apply(this, given)
    }, lookup)
  }
  syncBuiltinESMExports()
  const { send } = dgram.Socket.prototype
  dgram.Socket.prototype.send = function observed(this: dgram.Socket, ...given: unknown[]) {
    const host = given.find((value, at) => at > 0 && typeof value === 'string')
    if (typeof host === 'string' && !LOOPBACK.test(host)) left.push(`UDP ${host}`)
    return send.apply(this, given as never)
  } as typeof send
  return globalThis.observedNetwork
}

/** The arguments are a path, a port and a host, options, or (from `net.connect`) a list with options. */
function hostOf([first, second]: readonly unknown[]): string {
  const options = Array.isArray(first) ? first[0] : first
  if (typeof options === 'object' && options !== null) {
    const { path, host } = options as { path?: unknown; host?: unknown }
    return path === undefined || path === null ? String(host ?? '') : ''
  }
  return Number.isNaN(Number(first)) ? '' : String(typeof second === 'string' ? second : '')
}

network()
