/**
 * Parses URLs as documents write them, first by their text alone. URL parsers disagree about odd syntax, and that decides
 * where a secret goes, so odd syntax is refused before any parser sees it.
 */

/** Why the text is not a URL that anything is sent to; the codes are those of `AuthError`. */
export interface HrefProblem {
  readonly code: 'URL_INVALID' | 'URL_SCHEME_FORBIDDEN' | 'URL_HAS_USERINFO'
  readonly message: string
}

export interface HrefOptions {
  /** Base of a relative reference; without one it is refused. */
  readonly base?: string
  /** True where objects are named: `gs://bucket/key` is read as its https URL. */
  readonly objects?: boolean
}

const MAX_LENGTH = 8192

const ODD = /[\u0000-\u0020\u007f\\]/

const SCHEME = /^([a-z][a-z0-9+.-]*):/i

const AUTHORITY = /^(?:https?|s3):\/\/([^/?#]+)/i

/** What is wrong with a relative reference without a base. */
export const RELATIVE = problem('URL_INVALID', 'is relative, and the URL of its document is unknown')

/**
 * An href that has a URL in any document: a host of plain labels that is no IPv4 address and has no Punycode to decode, or no host at all,
 * and nothing odd behind it. The parser takes each such text (WHATWG URL, "URL parsing"), so it need not be asked.
 */
const PLAIN =
  /^(?:(?:https?|s3):\/\/(?:(?!xn--)[a-z\d-]+\.)*(?!xn--)[a-z][a-z\d-]*(?::\d{1,4})?(?=[/?#]|$)|(?![a-z][a-z\d+.-]*:|\/\/)[^\0- \x7f\\])[^\0- \x7f\\]*$/i

/** Returns why an href has no URL, wherever its document is and with objects named; undefined when it has one. */
export function hrefProblem(text: string): HrefProblem | undefined {
  if (text.length <= MAX_LENGTH && PLAIN.test(text)) return undefined
  const url = urlOfHref(text, { base: 'https://document.invalid/', objects: true })
  return url instanceof URL ? undefined : url
}

/** Returns the URL of an href, or what is wrong with its text. Checked in this order: syntax, scheme, user info. */
export function urlOfHref(text: string, { base, objects }: HrefOptions): URL | HrefProblem {
  const web = objects ? httpsForm(text) : text
  if (web === undefined) return GS_PROBLEM
  const syntax = syntaxProblem(web)
  if (syntax) return syntax
  const url = parsed(web, base)
  // Dots of other scripts become dots only when they are parsed.
  if (!url || url.hostname.endsWith('.')) {
    return SCHEME.test(web) || base !== undefined ? problem('URL_INVALID', 'is no valid URL') : RELATIVE
  }
  if (url.username || url.password) return problem('URL_HAS_USERINFO', 'has a user name or password in it')
  // No server has such a name, and as a pattern it would match many.
  if (url.hostname.includes('*')) return problem('URL_INVALID', 'has a "*" in its host, which is a pattern and no URL')
  return url
}

function syntaxProblem(text: string): HrefProblem | undefined {
  if (text === '') return problem('URL_INVALID', 'is missing')
  if (text.length > MAX_LENGTH) return problem('URL_INVALID', `is longer than ${MAX_LENGTH} characters`)
  if (ODD.test(text)) return problem('URL_INVALID', 'has a control character, a space or a backslash in it')
  if (text.startsWith('//')) return problem('URL_INVALID', 'leaves out its scheme')
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return undefined
  if (scheme !== 'https' && scheme !== 'http' && scheme !== 's3') {
    return problem('URL_SCHEME_FORBIDDEN', `has the scheme "${scheme}:"; only https:, s3: and gs: can be authorized`)
  }
  const authority = AUTHORITY.exec(text)?.[1]
  if (authority === undefined) return problem('URL_INVALID', `does not write out "${scheme}://host"`)
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
  if (host === '' || host.includes('%') || host.endsWith('.'))
    return problem('URL_INVALID', 'has a host name that parsers read differently')
  return authority.includes('@') ? problem('URL_HAS_USERINFO', 'has a user name or password in it') : undefined
}

/**
 * Behind a name that begins with a dot the parser of Node 20 and 22 leaves `..` where it is, and servers do not; its encoded form is
 * read alike by all of them (WHATWG URL, "double-dot URL path segment").
 */
function parsed(text: string, base: string | undefined): URL | undefined {
  try {
    const url = new URL(text, base)
    const path = url.pathname.replace(/\/\.(\.?)(?![^/])/g, '/%2e$1')
    if (path !== url.pathname) url.pathname = path
    return url
  } catch {
    return undefined
  }
}

function problem(code: HrefProblem['code'], message: string): HrefProblem {
  return { code, message }
}

/** The service, with path-style URLs. */
const GOOGLE_STORAGE = 'https://storage.googleapis.com'

/** Bucket names are lower-case (Google Cloud Storage, "Bucket naming guidelines"). */
const GS = /^gs:\/\/([a-z0-9](?:[a-z0-9._-]{0,220}[a-z0-9])?)(\/[^?#]*)?$/i

/** They would lead to another bucket. */
const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** What is wrong with a `gs:` URL that has no https form. */
export const GS_PROBLEM = {
  code: 'URL_INVALID',
  message: 'is not gs://bucket/key with a bucket in lower case, "?" and "#" percent-encoded and no "." or ".." between slashes',
} as const

/** True for a URL that begins with `gs:`. */
export function isGs(href: string): boolean {
  return /^gs:/i.test(href)
}

/** The https URL for a `gs:` URL, undefined for one that has none; any other text as it is. */
export function httpsForm(href: string): string | undefined {
  if (!isGs(href)) return href
  const [, bucket = '', path = '/'] = GS.exec(href) ?? []
  if (bucket === '' || bucket !== bucket.toLowerCase() || bucket.includes('..') || DOTS.test(path)) return undefined
  return `${GOOGLE_STORAGE}/${bucket}${path}`
}

/** Removes the query, which may contain keys and signatures. */
export function bareAddress(url: string): string {
  const { origin, pathname, protocol, host } = new URL(url)
  return (protocol === 's3:' ? `s3://${host}` : origin) + pathname
}
