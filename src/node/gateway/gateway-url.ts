/** Maps URLs to paths of the gateway and back: `/<capability>/<scheme>/<host[:port]>/<path>?<query>`, byte for byte. */
import { httpsForm } from '../../http/url.ts'

const SERVED = /^(https?|s3):\/\/([^/?#]+)([^#]*)/i

/** Returns the path below the base URL of the gateway for an absolute URL; undefined for an unsupported scheme. */
export function gatewayPath(url: string): string | undefined {
  const [, scheme = '', host = '', rest = ''] = SERVED.exec(httpsForm(url) ?? '') ?? []
  if (host === '' || host.includes('@')) return undefined
  return `${scheme.toLowerCase()}/${host}${rest.startsWith('/') ? rest : `/${rest}`}`
}

const PATH = /^\/([^/?]*)\/(https?|s3)\/([^/?]+)(\/[^?]*)(\?.*)?$/

/** The parts of a request target. */
export interface GatewayPath {
  readonly capability: string
  /** The URL as the program wrote it; undefined for a path without one. */
  readonly url: string | undefined
}

/** Reads a request target in origin form (RFC 9112 §3.2.1). */
export function readGatewayPath(requestTarget: string): GatewayPath {
  const capability = /^\/([^/?]*)/.exec(requestTarget)?.[1] ?? ''
  const [, , scheme = '', host = '', path = '', query = ''] = PATH.exec(requestTarget) ?? []
  const isUrl = host !== '' && !/[@%]/.test(host) && PRINTABLE.test(requestTarget) && !hasDotSegment(path)
  return { capability, url: isUrl ? `${scheme}://${host}${path}${query}` : undefined }
}

/** ASCII without controls, spaces, backslashes, and `#`, which no request target has (RFC 9110 §7.1). */
const PRINTABLE = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/

/**
 * True for a segment that a parser or a server may read as `.` or `..`: also percent-encoded, encoded twice, with a parameter, a control
 * character or a space behind it, or with an encoded slash or backslash beside it.
 */
function hasDotSegment(path: string): boolean {
  if (!/\.|%(?:25)*2e/i.test(path)) return false
  const plain = path.replace(/%(?:25)*([01][0-9a-f]|2[0ef]|3b|5c|7f)/gi, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return /(?:^|[/\\])\.{1,2}(?:[/\\;\0- \x7f]|$)/.test(plain)
}

/** Returns a URL without its query, whose values may be secret, for messages. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}
