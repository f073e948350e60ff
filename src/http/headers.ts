/** Names of headers, cookies and query parameters, and values of headers (RFC 9110 §5.6.2, RFC 6265 §4.1.1). */

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** True for an RFC 9110 token. */
export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** A single regular expression, because bundlers remove it where it is not used. */
const FORBIDDEN =
  /^(?:__proto__|host|content-(?:length|encoding|type)|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer|cookie|set-cookie|origin|referer|range|accept-encoding|via|forwarded|x-method-override|(?:proxy-|sec-|if-|x-forwarded-|x-http-method).*)$/i

/**
 * True when a catalog must not choose that header for a secret: framing, routing, caching and browser headers.
 * `Authorization` is not among them.
 */
export function isForbiddenHeader(name: string): boolean {
  return !isToken(name) || FORBIDDEN.test(name)
}

/** Headers without user data, which may be sent to another origin. */
const HARMLESS = ['accept', 'accept-language', 'range', 'if-range', 'user-agent']

/** Returns the headers that may be sent to another origin. */
export function harmlessHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.includes(name)))
}

/**
 * True for an access token (VSCHAR, RFC 6749 Appendix A.12) that can follow a scheme name in a header. Providers exceed the
 * token68 of RFC 6750, so only blanks and characters that a field value cannot contain are refused.
 */
export function isAccessToken(text: string): boolean {
  return /^[\x21-\x7e]{1,16384}$/.test(text)
}

/** Returns a media type without its parameters, in lower case (RFC 9110 §8.3.1); empty without one. */
export function mediaType(text: string | null | undefined): string {
  return (text ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/**
 * Returns the epoch milliseconds of an ISO 8601 date (also with a blank instead of the `T`), or of epoch seconds; undefined for
 * anything else. A time without a zone is UTC (RFC 3339 §5.6 with less strictness).
 */
export function momentOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(Math.trunc(value)) : value
  if (typeof text !== 'string') return undefined
  const time = /^\d{9,11}$/.test(text) ? Number(text) * 1000 : dateOf(text)
  return Number.isFinite(time) ? time : undefined
}

/**
 * Returns the end, in epoch milliseconds, of a time span that starts at `YYYYMMDDTHHMMSSZ` and lasts that many seconds, both as text, as
 * in signed URLs of Amazon and Google; undefined when either is malformed.
 */
export function endOfSpan(start: string | null | undefined, seconds: string | null | undefined): number | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(start ?? '') ?? []
  if (year === undefined || !/^\d{1,9}$/.test(seconds ?? '')) return undefined
  const begin = dateOf(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isFinite(begin) ? begin + Number(seconds) * 1000 : undefined
}

function dateOf(text: string): number {
  const [, date, time, zone = 'Z'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?)?$/i.exec(text) ?? []
  return date === undefined ? Number.NaN : Date.parse(time === undefined ? date : `${date}T${time}${zone.toUpperCase()}`)
}

/** A parameter of `Content-Disposition`, its value quoted or plain (RFC 6266 §4.1). */
const PARAMETER = /;\s*([a-z*]{1,40})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/giy
const LONGEST_DISPOSITION = 4096

/**
 * Returns the file name that a server proposes in `Content-Disposition`, without folders: `filename*` (RFC 8187) is preferred to
 * `filename`, and the first of each counts; undefined without a usable name.
 */
export function proposedName(disposition: string | null): string | undefined {
  if (disposition === null || disposition.length > LONGEST_DISPOSITION) return undefined
  const names = new Map<string, string>()
  const from = disposition.indexOf(';')
  PARAMETER.lastIndex = from < 0 ? disposition.length : from
  for (const [, parameter = '', quoted, token = ''] of disposition.matchAll(PARAMETER)) {
    const key = parameter.toLowerCase()
    if (!names.has(key)) names.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token)
  }
  const name = decoded(names.get('filename*')) ?? names.get('filename')
  const last = name
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(/[\u0000-\u001f\u007f]/g, '')
  return last === undefined || /^\.{0,2}$/.test(last) ? undefined : last
}

/** Returns the decoded extended value; undefined unless it is UTF-8. */
function decoded(text = ''): string | undefined {
  const [, value] = /^UTF-8'[^']*'([\w!#$&+.^`|~%-]+)$/i.exec(text) ?? []
  try {
    return value === undefined ? undefined : decodeURIComponent(value)
  } catch {
    return undefined
  }
}
