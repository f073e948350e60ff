/** URL patterns of `sendTo`: written by the user alone and compared with parsed URLs, never with text. */

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
  /** The path, ending in `/`, below which URLs match; `/` matches the whole origin. */
  readonly path: string
}

/** Escapes that some servers decode before routing, and dots that some parsers keep: a pattern with a path never matches them. */
export const SLIPPERY = /%(?:25)*(?:2f|5c|2e)|\.\.;|\/\.\.?(?![^/])/i

/** True when the pattern matches that URL. */
export function covers(pattern: UrlPattern, url: URL): boolean {
  if (url.protocol.length !== pattern.scheme.length + 1 || !url.protocol.startsWith(pattern.scheme)) return false
  if (url.port !== pattern.port) return false
  if (pattern.wildcard ? !isBelow(url.hostname, pattern.host) : url.hostname !== pattern.host) return false
  return coversPath(pattern.path, url.pathname)
}

/** True when a pattern of the list matches that URL. */
export function matchesAny(patterns: readonly UrlPattern[], url: URL): boolean {
  for (const pattern of patterns) if (covers(pattern, url)) return true
  return false
}

/** Returns the origin that a pattern names, or undefined for a wildcard or a bucket. */
export function namedOrigin({ scheme, host, port, wildcard }: UrlPattern): string | undefined {
  return wildcard || scheme === 's3' ? undefined : `${scheme}://${host}${port && `:${port}`}`
}

/** Returns the narrowness, higher is narrower: an exact host before a wildcard, then the longer host, then the longer path. */
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
