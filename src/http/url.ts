/**
 * Checks of URLs in documents, redirects and responses. Their text is checked first: URL parsers disagree about odd
 * syntax, and that decides where a secret is sent, so odd syntax is refused before parsing. A host that a document, a redirect or a server
 * names must be public; the user must name all others. Sources for addresses: IANA special-purpose address registries (RFC 6890),
 * RFC 6052, RFC 6761, RFC 6762.
 */

import { azureUrl, hasDotSegment } from '../text/azure-url.ts'
import { canParseUrl } from '../text/can-parse-url.ts'

/** The reason why nothing is sent to a URL; the codes are those of `AuthError`. */
interface HrefProblem {
  readonly code: 'URL_INVALID' | 'URL_SCHEME_FORBIDDEN' | 'URL_HAS_USERINFO'
  readonly message: string
}

interface HrefOptions {
  /** Base of a relative reference; without one it is refused. */
  readonly base?: string
  /** True to accept object URLs: `gs://bucket/key` and `abfss://container@account.dfs.core.windows.net/key` are read as their https URLs. */
  readonly objects?: boolean
}

/** Returns true for a text that begins like an http(s) URL: an input that is not a path. */
export function isAddress(name: string): boolean {
  return /^https?:\/\//i.test(name)
}

/** The reason why a URL is refused; the codes are those of `AuthError`. */
export interface AddressProblem {
  readonly code: HrefProblem['code'] | 'URL_INSECURE' | 'URL_ADDRESS_FORBIDDEN'
  readonly message: string
}

interface AddressRules extends HrefOptions {
  /** True when a secret may be sent there: `http:` is refused then, except for a loopback address that the user named. */
  readonly secure: boolean
  /** Origins that the user named: only these may be loopback or private. */
  readonly named: Pick<ReadonlySet<string>, 'has'>
}

/**
 * Returns the parsed URL, or its problem. Checked in this order: syntax, scheme, user info, encryption, network.
 *
 * @example addressOf('../a.tif', { base: 'https://data.example/items/1', secure: true, named: new Set() })
 */
export function addressOf(text: string, rules: AddressRules): URL | AddressProblem {
  const url = addressInAnyNetwork(text, rules)
  if (isAddressProblem(url) || url.protocol === 's3:' || rules.named.has(url.origin) || isPublicHost(url.hostname)) return url
  return { code: 'URL_ADDRESS_FORBIDDEN', message: 'is a loopback or private address that you did not name' }
}

/** Returns the same without the check of the network, for a URL that is only shown. */
export function addressInAnyNetwork(text: string, rules: AddressRules): URL | AddressProblem {
  const url = urlOfHref(text, rules)
  if (isAddressProblem(url) || !rules.secure || url.protocol !== 'http:') return url
  if (rules.named.has(url.origin) && isLoopbackHost(url.hostname)) return url
  return { code: 'URL_INSECURE', message: 'is not encrypted (http:)' }
}

/** True for the problem of a URL that {@link addressOf} refused. */
export function isAddressProblem(value: URL | AddressProblem): value is AddressProblem {
  return !(value instanceof URL)
}

/** Returns the origin of a URL for messages, or a placeholder for an invalid one. */
export function originOf(url: string): string {
  return canParseUrl(url) ? new URL(url).origin : 'an invalid URL'
}

/** Removes the query, which may contain keys and signatures. */
export function bareAddress(url: string): string {
  const { origin, pathname, protocol, host } = new URL(url)
  return (protocol === 's3:' ? `s3://${host}` : origin) + pathname
}

/**
 * Returns the origin of URLs and parses only when it differs from the last one: most programs request
 * many URLs of one origin, and parsing costs more than comparing.
 */
export class LastOrigin {
  #origin = ''

  /** Returns the origin of an absolute URL. Errors: `TypeError` for an invalid URL. */
  of(url: string): string {
    const { length } = this.#origin
    if (length > 0 && url.charCodeAt(length) === 0x2f && url.startsWith(this.#origin)) return this.#origin
    const { origin } = new URL(url)
    if (origin !== 'null') this.#origin = origin
    return origin
  }
}

const MAX_LENGTH = 8192

/** Control characters, backslashes, and spaces at an end, which parsers remove. Other spaces are encoded (URL standard, "path state"). */
const ODD = /[\0-\x1f\x7f\\]|^ | $/

const SCHEME = /^([a-z][a-z0-9+.-]*):/i

const AUTHORITY = /^(?:https?|s3):\/\/([^/?#]+)/i

/** The problem of a relative reference without a base. */
export const RELATIVE = /* @__PURE__ */ problem('URL_INVALID', 'is relative, and the URL of its document is unknown')

/**
 * Hrefs that are valid in any document: without a host, or with a host of plain labels (no IPv4 address, no Punycode), and without
 * whitespace, control characters and backslashes. The parser accepts all of them (WHATWG URL, "URL parsing"), so it is not called.
 */
const PLAIN =
  /^(?:(?:https?|s3):\/\/(?:(?!xn--)[a-z\d-]+\.)*(?!xn--)[a-z][a-z\d-]*(?::\d{1,4})?(?=[/?#]|$)|(?![a-z][a-z\d+.-]*:|\/\/)[^\0- \x7f\\])[^\0- \x7f\\]*$/i

/** Returns why an href is not a URL, wherever its document is; undefined when it is one. Accepts object URLs. */
export function hrefProblem(text: string): HrefProblem | undefined {
  if (text.length <= MAX_LENGTH && PLAIN.test(text)) return undefined
  const url = urlOfHref(text, { base: 'https://document.invalid/', objects: true })
  return url instanceof URL ? undefined : url
}

/** Returns the URL of an href, or the problem of its text. Checked in this order: syntax, scheme, user info. */
export function urlOfHref(text: string, { base, objects }: HrefOptions): URL | HrefProblem {
  const web = objects ? httpsForm(text) : text
  if (web === undefined) return GS_PROBLEM
  const syntax = syntaxProblem(web)
  if (syntax) return syntax
  const url = parsed(web, base)
  // The parser converts dots of other scripts to dots, and percent-encodes non-ASCII letters in bucket names.
  if (!url || /\.$|%/.test(url.hostname)) {
    return SCHEME.test(web) || base !== undefined ? problem('URL_INVALID', 'is not a valid URL') : RELATIVE
  }
  if (url.username || url.password) return problem('URL_HAS_USERINFO', 'has a user name or password in it')
  // No host has such a name, and as a pattern it would match many.
  if (url.hostname.includes('*')) return problem('URL_INVALID', 'has a "*" in its host, as a pattern')
  return url
}

function syntaxProblem(text: string): HrefProblem | undefined {
  if (typeof text !== 'string' || text === '') return problem('URL_INVALID', 'is missing')
  if (text.length > MAX_LENGTH) return problem('URL_INVALID', `is longer than ${MAX_LENGTH} characters`)
  if (ODD.test(text)) return problem('URL_INVALID', oddity(text))
  if (text.startsWith('//')) return problem('URL_INVALID', 'leaves out its scheme')
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return undefined
  if (scheme !== 'https' && scheme !== 'http' && scheme !== 's3') {
    return problem('URL_SCHEME_FORBIDDEN', `has the scheme "${scheme}:"; only https:, s3: and gs: can be authorized`)
  }
  const authority = AUTHORITY.exec(text)?.[1]
  if (authority === undefined) return problem('URL_INVALID', `does not write out "${scheme}://host"`)
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
  if (/^$|%|\.$/.test(host)) return problem('URL_INVALID', 'has a host name that parsers read differently')
  return authority.includes('@') ? problem('URL_HAS_USERINFO', 'has a user name or password in it') : undefined
}

function oddity(text: string): string {
  const at = text.search(ODD)
  if (text[at] === ' ') return at === 0 ? 'begins with a space' : 'ends with a space'
  return `has a ${text[at] === '\\' ? 'backslash' : 'control character'} at character ${at + 1}`
}

/**
 * Parses a URL and encodes remaining dot segments: after a name that begins with a dot the parser of Node 20 and 22 leaves `..` unresolved,
 * but servers resolve it. All of them read the encoded form alike (WHATWG URL, "double-dot URL path segment").
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

/** The problem of a `gs:` URL that has no https form. */
export const GS_PROBLEM = {
  code: 'URL_INVALID',
  message: 'is not gs://bucket/key with a bucket in lower case, "?" and "#" percent-encoded and no "." or ".." between slashes',
} as const

/** True for a URL that begins with `gs:`. */
export function isGs(href: string): boolean {
  return /^gs:/i.test(href)
}

/**
 * Returns the https URL of a `gs:` URL, undefined if it has none, and that of an `abfs:`, `abfss:` or `az:` URL that names its account;
 * any other text unchanged.
 */
export function httpsForm(href: string): string | undefined {
  if (!isGs(href)) return azureUrl(href)
  const [, bucket = '', path = '/'] = GS.exec(href) ?? []
  if (bucket === '' || bucket !== bucket.toLowerCase() || bucket.includes('..') || hasDotSegment(path)) return undefined
  return `${GOOGLE_STORAGE}/${bucket}${path}`
}

/** Names for private use: `*.internal` and `*.local` are never public, `localhost` is this machine. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal)$/

/**
 * IPv4 blocks that are not public: those of the IANA IPv4 special-purpose address registry, also the anycast blocks that lead into the
 * nearest network, multicast (RFC 5771), and public addresses that lead into a cloud. Metadata services at 169.254.0.0/16, of Alibaba
 * Cloud (100.100.100.200) and of Oracle Cloud (192.0.0.192) are in blocks of the registry. The annotation lets bundlers remove them where
 * they are not used.
 */
const PRIVATE_V4 = /* @__PURE__ */ [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure: platform services of a virtual machine (learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16).
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  // AS112 (RFC 7535) and AMT (RFC 7450).
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  // AS112 (RFC 7534).
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(blockV4)

/**
 * True when a URL's host may be public: a name that is not reserved for private use, or a public IP literal.
 *
 * @param hostname as `URL.hostname` gives it, IPv6 literals in brackets
 */
export function isPublicHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1))
  if (parseV4(hostname) !== undefined) return isPublicAddress(hostname)
  return hostname !== '' && !PRIVATE_NAME.test(hostname.toLowerCase().replace(/\.$/, ''))
}

/** Returns the advice to allow the URLs below one for a credential; `id` is its id where it is known. */
export function trustHint(url: string, id?: string): string {
  const owner = id === undefined ? 'a credential' : `"${id}"`
  // People paste the command: one with characters that a shell reads is not shown.
  return /^[\w:/.%~-]+$/.test(url)
    ? `if you trust that host: stac-auth credentials trust ${id ?? 'ID'} ${url}; in code, "sendTo" of ${owner}`
    : `if you trust that host, add "${url}" to "sendTo" of ${owner}`
}

/** True when a URL's host is this machine: `localhost`, names below it, 127.0.0.0/8 or `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    /^(?:.+\.)?localhost\.?$/i.test(hostname) || hostname === '[::1]' || (parseV4(hostname) !== undefined && hostname.startsWith('127.'))
  )
}

/** True when an IP address, as text without brackets, is public; false for other text. */
export function isPublicAddress(ip: string): boolean {
  const v4 = parseV4(ip)
  if (v4 !== undefined) return isPublicV4(v4)
  const groups = parseV6(ip)
  return groups !== undefined && isPublicV6(groups)
}

function isPublicV4(address: number): boolean {
  return !PRIVATE_V4.some(({ base, size }) => address >= base && address < base + size)
}

/**
 * Only 2000::/3 is in public use, without the blocks of the IANA IPv6 special-purpose address registry; for a form that contains an IPv4
 * address, that address decides. Metadata services at unique local addresses (fd00:ec2::254 of AWS, fd20:ce::254 of Google) are outside.
 */
function isPublicV6([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0]: readonly number[]): boolean {
  const zero = c === 0 && d === 0 && e === 0
  if (zero && a === 0 && b === 0 && f === 0xffff) return isPublicV4(join(g, h))
  if (zero && a === 0x64 && b === 0xff9b && f === 0) return isPublicV4(join(g, h))
  if (a === 0x2002) return isPublicV4(join(b, c))
  const protocols = a === 0x2001 && b < 0x200
  const as112 = a === 0x2620 && b === 0x4f && c === 0x8000
  const documentation = (a === 0x2001 && b === 0xdb8) || (a === 0x3fff && b < 0x1000)
  return a >= 0x2000 && a < 0x4000 && !protocols && !as112 && !documentation
}

function join(high: number, low: number): number {
  return high * 0x10000 + low
}

function blockV4(cidr: string): { base: number; size: number } {
  const [ip = '', bits = ''] = cidr.split('/')
  return { base: parseV4(ip) ?? 0, size: 2 ** (32 - Number(bits)) }
}

function parseV4(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number)
  if (!parts || parts.some((part) => part > 255)) return undefined
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}

/** Returns the eight groups; a zone is removed, a dotted tail counts as two groups. */
function parseV6(text: string): readonly number[] | undefined {
  const bare = text.replace(/%.*$/s, '')
  const tail = parseV4(bare.slice(bare.lastIndexOf(':') + 1))
  const hex = tail === undefined ? bare : bare.replace(/[^:]+$/, `${(tail >>> 16).toString(16)}:${(tail & 0xffff).toString(16)}`)
  const [head = '', rest, ...more] = hex.split('::')
  if (!/^[0-9a-f:]+$/i.test(hex) || more.length) return undefined
  const before = groupsOf(head)
  const after = rest === undefined ? [] : groupsOf(rest)
  const missing = 8 - before.length - after.length
  if (rest === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...before, ...new Array<number>(missing).fill(0), ...after]
  return groups.every((group) => group <= 0xffff) ? groups : undefined
}

/** An empty or over-long group is NaN, which no comparison accepts. */
function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => (/^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : Number.NaN))
}
