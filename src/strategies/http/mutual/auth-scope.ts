import { isSharedSuffix } from '../../../auth/shared-suffix.ts'

/**
 * True when an authentication scope is for the server of that address (RFC 8120 §5): its origin, its host, or `*.` and a domain
 * that the host is in. A domain that strangers share is no scope. It says where a password may be tried again, never where ours goes.
 */
export function isInScope(scope: string, url: string): boolean {
  const { origin, hostname } = new URL(url)
  if (!scope.startsWith('*.')) return scope === origin || scope === hostname
  const domain = scope.slice(2)
  return (hostname === domain || hostname.endsWith(`.${domain}`)) && isOwned(domain)
}

/** The scope that is meant when a server names none: §4.1 says its origin, though §5 says its host; we take the narrower. */
export function defaultScope(url: string): string {
  return new URL(url).origin
}

/** A domain of one label belongs to nobody, and a number has no names below it. */
function isOwned(domain: string): boolean {
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(domain) && !isSharedSuffix(domain)
}
