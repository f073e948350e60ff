/**
 * The `sendTo` pattern language: `scheme://host[:port][/path/]`, where the host may begin with `*.`. What a pattern
 * covers is decided by the user alone and compared with parsed addresses, never with text.
 */
import { ConfigurationError } from '../errors.ts'
import { isLoopbackHost } from '../http/public-address.ts'
import { isSharedHost, isSharedSuffix } from './shared-suffix.ts'

/** A parsed pattern. */
export interface Grant {
  /** As the user wrote it. */
  readonly pattern: string
  readonly scheme: 'https' | 'http' | 's3'
  /** Lower-case ASCII host, without the `*.` of a wildcard; the bucket for `s3`. */
  readonly host: string
  /** True for `*.host`: one or more labels before it, never the bare host. */
  readonly wildcard: boolean
  /** Port in digits, empty for the scheme's default. */
  readonly port: string
  /** Path that is covered with everything below it, ending in `/`; `/` covers the whole origin. */
  readonly path: string
}

const PATTERN = /^(https|http|s3):\/\/(\*\.)?([^/?#@\\\s*%]+)(\/[^?#\\\s*]*)?$/

/** What a host can be once a URL parser is through with it; parsers let commas and quotes pass. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/

/** Escapes that some servers undo before they route: a path grant never covers them. */
const SLIPPERY = /%(?:25)*(?:2f|5c|2e)|\.\.;/i

/**
 * Reads a pattern. Errors: `CONFIG_INVALID`. With `sharedHosts` wildcards on shared suffixes are allowed, for places where
 * no material follows (`signedUrlHosts`).
 */
export function parseGrant(pattern: string, { sharedHosts = false } = {}): Grant {
  const [, scheme, star, authority, path = '/'] = PATTERN.exec(pattern) ?? []
  if (!scheme || !authority) throw refused(pattern, 'write scheme://host[:port][/path/], with "*." only as the first label')
  if (scheme === 's3') {
    if (star || !/^[A-Za-z0-9._-]+$/.test(authority)) throw refused(pattern, 'write s3://bucket/ or s3://bucket/prefix/')
    return { pattern, scheme, host: authority, wildcard: false, port: '', path: folder(path) }
  }
  const probe = `${scheme}://${star ? 'x.' : ''}${authority}${path}`
  if (!URL.canParse(probe) || /\.(?::\d*)?$|:$/.test(authority)) throw refused(pattern, 'the host is not valid')
  const url = new URL(probe)
  if (!HOST.test(url.hostname)) throw refused(pattern, 'the host is not valid')
  if (path.includes('//')) throw refused(pattern, 'the path has an empty segment in it')
  const wildcard = star !== undefined
  const host = wildcard ? url.hostname.slice(2) : url.hostname
  if (scheme === 'http' && !isLoopbackHost(url.hostname)) throw refused(pattern, 'http: is only for loopback addresses; use https:')
  if (wildcard && !host.includes('.')) throw refused(pattern, 'at least two labels must follow "*."')
  if (SLIPPERY.test(url.pathname)) throw refused(pattern, 'the path has encoded dots or slashes in it')
  if (!sharedHosts) refuseShared(pattern, host, wildcard, url.pathname)
  return { pattern, scheme: scheme as 'https' | 'http', host, wildcard, port: url.port, path: folder(url.pathname) }
}

/** True when the pattern covers that address. */
export function covers(grant: Grant, url: URL): boolean {
  if (url.protocol.length !== grant.scheme.length + 1 || !url.protocol.startsWith(grant.scheme)) return false
  if (url.port !== grant.port) return false
  if (grant.wildcard ? !isBelow(url.hostname, grant.host) : url.hostname !== grant.host) return false
  return coversPath(grant.path, url.pathname)
}

/** True when a pattern of the list covers that address. */
export function coveredBy(grants: readonly Grant[], url: URL): boolean {
  for (const grant of grants) if (covers(grant, url)) return true
  return false
}

/** The origin that a pattern names, or undefined for a wildcard or a bucket. */
export function namedOrigin({ scheme, host, port, wildcard }: Grant): string | undefined {
  return wildcard || scheme === 's3' ? undefined : `${scheme}://${host}${port && `:${port}`}`
}

/** Higher is narrower: an exact host before a wildcard, then the longer host, then the longer path. */
export function narrowness({ wildcard, host, path }: Grant): number {
  return (wildcard ? host.length : 1000) * 10_000 + path.length
}

function coversPath(granted: string, path: string): boolean {
  if (granted === '/') return true
  if (SLIPPERY.test(path)) return false
  return path.startsWith(granted) || (path.length === granted.length - 1 && granted.startsWith(path))
}

function isBelow(host: string, suffix: string): boolean {
  return host.length > suffix.length + 1 && host.endsWith(suffix) && host[host.length - suffix.length - 1] === '.'
}

function refuseShared(pattern: string, host: string, wildcard: boolean, path: string): void {
  if (wildcard && isSharedSuffix(host)) throw refused(pattern, `strangers can have names below ${host}: write the exact host`)
  if (!wildcard && path === '/' && isSharedHost(host)) {
    throw refused(pattern, `${host} is shared by many owners: add the path of the bucket or repository`)
  }
}

function folder(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

function refused(pattern: string, why: string): ConfigurationError {
  return new ConfigurationError('CONFIG_INVALID', `"${pattern}" is not a valid address pattern: ${why}`, { actual: pattern })
}
