/** Servers of this machine, for its own programs: where they listen, and how they answer in their own words. */

import type { ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { isAuthError, NetworkError } from '../../errors.ts'

/** An address that only programs of this machine reach. */
export type LoopbackAddress = '127.0.0.1' | '::1'

/** Free ports of the first address that are tried for one that is also free on the others. */
const PORTS = 10

/** Codes of systems without IPv6. */
const NO_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']

/** A server for each address, and what to do where the port is in use. */
export interface LoopbackListen<S extends Server> {
  readonly addresses: readonly LoopbackAddress[]
  /** 0 for a free one. */
  readonly port: number
  readonly create: () => S
  readonly hint: string
}

/**
 * Listens on the addresses, all with the same port. Another program on one of them could receive what is meant for this one, so that all are
 * taken, or none; a machine without IPv6 has only the first. Errors: `NETWORK_LISTEN`.
 */
export async function listenOnLoopback<S extends Server>({ addresses, port, create, hint }: LoopbackListen<S>): Promise<readonly S[]> {
  for (let tries = 1; ; tries++) {
    const servers: S[] = []
    try {
      for (const host of addresses) {
        const server = create()
        const isThere = await listenAt(server, { host, port: servers[0] ? portOf(servers[0]) : port }, hint).catch((error: unknown) => {
          if (servers.length > 0 && isAuthError(error) && NO_ADDRESS.includes(error.actual ?? '')) return false
          throw error
        })
        if (isThere) servers.push(server)
      }
      return servers
    } catch (error) {
      await Promise.all(servers.map(closed))
      if (servers.length === 0 || port !== 0 || tries === PORTS) throw error
    }
  }
}

/** Listens on an address. Errors: `NETWORK_LISTEN` with the code of the system as `actual`, and the hint where the port is in use. */
export function listenAt(server: Server, { host, port }: { readonly host: string; readonly port: number }, hint: string): Promise<true> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const code = 'code' in cause ? String(cause.code) : 'unknown reason'
      const message = `cannot listen on ${host}${port === 0 ? '' : ` port ${port}`}: ${code}`
      reject(new NetworkError('NETWORK_LISTEN', message, { actual: code, ...(code === 'EADDRINUSE' && { hint }) }))
    })
    server.listen({ host, port, ipv6Only: host.includes(':') }, () => resolve(true))
  })
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/** Returns a host as URLs have it. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Resolves when a server has stopped, and its connections have ended. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

/** Fields of every response: nothing that is said here may be kept, guessed at, or lead elsewhere. */
const OWN_FIELDS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' }

/** Answers with a text of our own, or without one to HEAD. */
export function answerWith(response: ServerResponse, status: number, text: string, fields: Readonly<Record<string, string>>): void {
  response.writeHead(status, { ...OWN_FIELDS, 'Content-Length': String(Buffer.byteLength(text)), ...fields })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}
