/** Maps URLs to paths of the gateway and back: `/<capability>/<scheme>/<host[:port]>/<path>?<query>`, byte for byte, or in safe characters. */
import { httpsForm } from '../../http/url.ts'

const SERVED = /^(https?|s3):\/\/([^/?#]+)([^#]*)/i

/** Returns the path below the base URL of the gateway for an absolute URL; undefined for an unsupported scheme. */
export function gatewayPath(url: string): string | undefined {
  const [, scheme = '', host = '', rest = ''] = SERVED.exec(httpsForm(url) ?? '') ?? []
  if (host === '' || host.includes('@')) return undefined
  return `${scheme.toLowerCase()}/${host}${rest.startsWith('/') ? rest : `/${rest}`}`
}

/** The characters that no shell, `make`, `cmd`, PowerShell or string of a language gives a meaning to. */
const SAFE = /^[\w./:-]*$/

/** The first segment of a path in which other characters are written as `__` and two hexadecimal digits, and a query comes before its URL. */
const PLAIN = 'plain/'

/**
 * Returns the path for an absolute URL as {@link gatewayPath} does, with no characters but letters, digits, `.`, `_`, `-`, `/` and `:`, so that
 * no program can read it as anything but a URL. It ends as the path of the URL does, because programs look for the extension there.
 */
export function plainGatewayPath(url: string): string | undefined {
  const path = gatewayPath(url)
  if (path === undefined || SAFE.test(path)) return path
  const [, place = '', query = ''] = /^([^?]*)(\?.*)?$/s.exec(path) ?? []
  return `${PLAIN}${query === '' ? '' : `q${escaped(query.slice(1)).replaceAll('/', escapedCharacter)}/`}${escaped(place)}`
}

/** An underscore is written out where it would begin an escaped character. */
function escaped(text: string): string {
  return text.replace(/_(?=_[0-9A-F]{2})|[^\w./:-]/g, escapedCharacter)
}

function escapedCharacter(character: string): string {
  return `__${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

function unescaped(text: string): string {
  return text.replace(/__([0-9A-F]{2})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}

const PLAIN_PATH = /^(\/[^/?]*\/)plain\/(?:q([^/?]*)\/)?([^?]*)(?:\?(.*))?$/s

/** Returns a request target in the form without `plain/`; a query that a program has appended is added to that of the URL. */
function withoutEscapes(requestTarget: string): string {
  const [, base, query, path = '', more] = PLAIN_PATH.exec(requestTarget) ?? []
  if (base === undefined) return requestTarget
  const queries = [query === undefined ? undefined : unescaped(query), more].filter((one) => one !== undefined)
  return `${base}${unescaped(path)}${queries.length > 0 ? `?${queries.join('&')}` : ''}`
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
  const written = withoutEscapes(requestTarget)
  const [, , scheme = '', host = '', path = '', query = ''] = PATH.exec(written) ?? []
  const isUrl = host !== '' && !/[@%]/.test(host) && PRINTABLE.test(written) && !hasDotSegment(path)
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
