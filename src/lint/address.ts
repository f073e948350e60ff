/** Facts about a URL from its text alone: nothing is resolved and nothing throws. */
import { own } from '../stac/document.ts'
import type { FlowNode, SchemeNode } from './model.ts'
import { FLOW_URLS } from './vocabulary.ts'

/** The lower-cased scheme without colon, or undefined for a relative reference. */
export function protocolOf(address: string): string | undefined {
  if (address.startsWith('https:')) return 'https'
  return /^[a-z][a-z\d+.-]*(?=:)/i.exec(address)?.[0].toLowerCase()
}

/** The lower-cased host without port or user info; empty when there is none. */
export function hostOf(address: string): string {
  // The fast path, for nearly all URLs.
  const plain = /^https:\/\/([a-z\d.-]+)(?:[/?#]|$)/.exec(address)?.[1]
  if (plain !== undefined) return plain
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#\\]*)/i.exec(address)?.[1] ?? ''
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .toLowerCase()
}

/** Returns true for an `http:` URL, except of a loopback address: others can read what is sent. */
export function isInsecure(address: string): boolean {
  return !address.startsWith('https:') && /^http:/i.test(address) && !/^(?:localhost|127(?:\.\d{1,3}){1,3}|\[::1\])$/.test(hostOf(address))
}

/** True for a reference that only a client can use that knows where the document came from. */
export function isRelative(address: string): boolean {
  return /^(?:\.{0,2}\/|\?)/.test(address)
}

/** The URL of a service, and the name of its field. */
export interface Endpoint {
  readonly field: string
  readonly address: string
}

/** Returns the URLs of services in a flow. */
export function flowEndpoints({ value }: FlowNode): readonly Endpoint[] {
  const found: Endpoint[] = []
  for (const field of FLOW_URLS) {
    const address = own(value, field)
    if (typeof address === 'string') found.push({ field, address })
  }
  return found
}

/** Returns the discovery URL of an `openIdConnect` scheme. */
export function discoveryUrl({ type, value }: SchemeNode): string | undefined {
  const address = type === 'openIdConnect' ? own(value, 'openIdConnectUrl') : undefined
  return typeof address === 'string' ? address : undefined
}
