/** Names that may become header, cookie or query names (RFC 9110 §5.6.2, RFC 6265 §4.1.1). */

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** True for an RFC 9110 token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

const FORBIDDEN = new Set(
  (
    '__proto__ host content-length content-encoding content-type transfer-encoding connection keep-alive upgrade expect te ' +
    'trailer cookie set-cookie origin referer range accept-encoding via forwarded x-method-override'
  ).split(' '),
)

const FORBIDDEN_PREFIXES = /^(?:proxy-|sec-|if-|x-forwarded-|x-http-method)/

/**
 * True when a catalog must not choose that header for a secret: framing, routing, caching and browser headers.
 * `Authorization` is not among them.
 */
export function isForbiddenHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return !isToken(name) || FORBIDDEN.has(lower) || FORBIDDEN_PREFIXES.test(lower)
}
