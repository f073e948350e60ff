/** What a `sendTo` pattern covers: decided by the user alone and compared with parsed addresses, never with text. */

/** A parsed pattern. */
export interface UrlPattern {
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

/** Escapes that some servers undo before they route, and dots that some parsers leave: a path grant never covers them. */
export const SLIPPERY = /%(?:25)*(?:2f|5c|2e)|\.\.;|\/\.\.?(?![^/])/i

/** True when the pattern covers that address. */
export function covers(pattern: UrlPattern, url: URL): boolean {
  if (url.protocol.length !== pattern.scheme.length + 1 || !url.protocol.startsWith(pattern.scheme)) return false
  if (url.port !== pattern.port) return false
  if (pattern.wildcard ? !isBelow(url.hostname, pattern.host) : url.hostname !== pattern.host) return false
  return coversPath(pattern.path, url.pathname)
}

/** True when a pattern of the list covers that address. */
export function matchesAny(patterns: readonly UrlPattern[], url: URL): boolean {
  for (const pattern of patterns) if (covers(pattern, url)) return true
  return false
}

/** The origin that a pattern names, or undefined for a wildcard or a bucket. */
export function namedOrigin({ scheme, host, port, wildcard }: UrlPattern): string | undefined {
  return wildcard || scheme === 's3' ? undefined : `${scheme}://${host}${port && `:${port}`}`
}

/** Higher is narrower: an exact host before a wildcard, then the longer host, then the longer path. */
export function narrowness({ wildcard, host, path }: UrlPattern): number {
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
