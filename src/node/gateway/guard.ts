/** Checks requests before anything is sent for them: who may use the gateway, and the syntax of the request. */

import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { TrustError } from '../../errors.ts'
import { isLoopbackHost } from '../../http/url.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { readGatewayPath } from './gateway-url.ts'

/** Who may use the gateway. */
export interface GuardOptions {
  readonly capability: string
  /** True for an accepted value of `Host`. */
  isHost(host: string): boolean
  /** Origin of the one web page that may use the gateway. */
  readonly allowOrigin?: string | undefined
}

/** A refused request: the status, and for programs that know the capability the reason. */
export interface Refused {
  readonly status: number
  readonly error?: TrustError
}

/** An accepted request. */
export interface Accepted {
  /** The requested URL. */
  readonly url: string
  /** The allowed origin whose page sent the request; undefined for a program. */
  readonly origin?: string
  /** True for a CORS preflight request. */
  readonly isPreflight?: boolean
}

/** Maximum bytes of the request target. */
const LONGEST_TARGET = 16_384

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** Checks a request; a program without the capability gets no information. */
export function check(request: IncomingMessage, options: GuardOptions): Refused | Accepted {
  const { method = '', url: target = '', headers } = request
  if (target.length > LONGEST_TARGET) return { status: 414 }
  if (!target.startsWith('/')) return { status: 400 }
  const { capability, url } = readGatewayPath(target)
  if (!isSame(capability, options.capability)) return { status: 404 }
  if (request.headersDistinct.host?.length !== 1 || !options.isHost(headers.host ?? ''))
    return refused(403, 'the Host header does not name the gateway')
  const { origin, 'sec-fetch-site': site } = headers
  // Several `Origin` fields are joined by commas, so they never match.
  if (origin !== undefined && origin !== options.allowOrigin)
    return refused(403, 'requests of web pages are refused; --allow-origin URL allows those of one origin')
  if (origin === undefined && (site === 'cross-site' || site === 'same-site'))
    return refused(403, 'requests of web pages without an Origin header are refused')
  if (!METHODS.has(method)) return refused(405, `the method ${method} is not supported`)
  const isPreflight = method === 'OPTIONS'
  if (isPreflight && (origin === undefined || headers['access-control-request-method'] === undefined))
    return refused(405, 'the method OPTIONS is not supported')
  if (method !== 'POST' && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0))
    return refused(400, `a ${method} request cannot have a body`)
  if (url === undefined) return refused(400, 'the path does not name a URL: use BASE/https/host/path')
  return { url, ...(origin && { origin }), ...(isPreflight && { isPreflight }) }
}

/** Returns true for a value of `Host` that names the loopback addresses or `localhost`, with the port. */
export function isLoopbackAt(host: string, port: number): boolean {
  return [`127.0.0.1:${port}`, `[::1]:${port}`, `localhost:${port}`].includes(host.toLowerCase())
}

/** Returns true for a value of `Host` that a DNS server cannot lead elsewhere: an IP address, or the name of this machine. */
export function isFixedHost(host: string, names: readonly string[]): boolean {
  if (/[@/?#\\]/.test(host) || !canParseUrl(`http://${host}/`)) return false
  const { hostname } = new URL(`http://${host}/`)
  return isLoopbackHost(hostname) || /^(?:\d+\.){3}\d+$|^\[/.test(hostname) || names.includes(hostname)
}

function refused(status: number, why: string): Refused {
  return { status, error: new TrustError('REQUEST_REFUSED', `request refused: ${why}`) }
}

/** Compares in constant time; only the length is revealed. */
function isSame(given: string, capability: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(capability)]
  return one.length === other.length && timingSafeEqual(one, other)
}
