/**
 * URL patterns of `sendTo`: `scheme://host[:port][/path/]`, where the host may begin with `*.`; `gs://bucket/` is short for its https
 * URL. The user alone writes them; they are compared with parsed URLs, never with text.
 */

import { ConfigurationError } from '../errors.ts'
import { GS_PROBLEM, httpsForm, isGs, isLoopbackHost } from '../http/url.ts'
import { canParseUrl } from '../text/can-parse-url.ts'

/** A parsed pattern. */
export interface UrlPattern {
  /** As the user wrote it. */
  readonly pattern: string
  /** The scheme of the URLs that match. */
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

/** A run of percent-encoded bytes, or one character. */
const PART = /(?:%[\da-f]{2})+|[\s\S]/giu

/** Characters of a path (RFC 3986 §3.3), and those beyond ASCII that names are made of; no symbols, which some servers read as `.` or `/`. */
const PLAIN = /^(?:[\w.~!$&'()*+,;=:@-]|(?![\0-\x7f]|\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}])$/u

/** The same as percent-encoded: letters and digits of ASCII need no escape (RFC 3986 §2.3), and `.`, `/` and `\` lead elsewhere. */
const ESCAPED = /^(?:[ !"#$%&'()*+,:;<=>?@[\]^`{|}~]|[^\0-\x7f])$/u

/** Dots that no name follows: servers cut a path at `;`, `?` or `#`, and remove spaces. */
const DOTS = /^ *\.+(?![\p{L}\p{N}_.-])/u

const PATTERN = /^(https|http|s3):\/\/(\*\.)?([^/?#@\\\s*%]+)(\/[^?#\\\s*]*)?$/

/** Valid hosts after URL parsing; parsers accept commas and quotes, and turn dots of other scripts into a trailing dot. */
const HOST = /^(?:[a-z0-9._-]*[a-z0-9_-]|\[[0-9a-f:.]+\])$/

/**
 * Parses a URL pattern. Errors: `CONFIG_INVALID`. With `sharedHosts`, wildcards on shared suffixes are allowed, for URLs
 * that receive no secret (`signedUrlHosts`).
 */
export function parseUrlPattern(pattern: string, options: { readonly sharedHosts?: boolean } = {}): UrlPattern {
  if (!isGs(pattern)) return parsed(pattern, options)
  const web = httpsForm(pattern)
  if (web === undefined) throw refused(pattern, `it ${GS_PROBLEM.message}`)
  return { ...parsed(web, options), pattern }
}

/** True when the pattern matches that URL. */
export function covers({ scheme, wildcard, host, port, path }: UrlPattern, url: URL): boolean {
  return (
    url.protocol === `${scheme}:` &&
    url.port === port &&
    (wildcard ? isBelow(url.hostname, host) : url.hostname === host) &&
    (path === '/' || (pathProblem(url.pathname) === undefined && `${url.pathname}/`.startsWith(path)))
  )
}

/**
 * Returns the part of a path because of which a pattern with a folder does not match it; undefined for a path that every server reads alike:
 * printable UTF-8 in normalization form KC, percent-encoded where RFC 3986 asks for it, without encoded dots, slashes and escapes.
 */
export function pathProblem(path: string): string | undefined {
  for (const segment of path.split('/')) {
    let name = ''
    for (const [part] of segment.matchAll(PART)) {
      const text = part.length < 3 ? part : decoded(part)
      if (text === undefined) return part
      const allowed = text === part ? PLAIN : ESCAPED
      for (const char of text) {
        if (!allowed.test(char) || (char > '~' && !PLAIN.test(char)) || char.normalize('NFKC') !== char) return escapeOf(char)
      }
      name += text
    }
    const again = /%(?:[\da-f]{2}|u[\da-f]{4})/i.exec(name)
    if (again) return `%25${again[0].slice(1)}`
    if (DOTS.test(name) || name.normalize('NFC') !== name) return segment
  }
  return undefined
}

/** Decodes percent-encoded UTF-8; undefined for other bytes, also for overlong forms. */
function decoded(escapes: string): string | undefined {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return undefined
  }
}

/** Returns a character as a path writes it. */
function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (code > 0x20 && code < 0x7f && !/[.\w/\\]/.test(char)) return char
  const bytes = code < 0x80 ? `%${code.toString(16).padStart(2, '0').toUpperCase()}` : encodeURIComponent(char.toWellFormed())
  return code < 0x80 ? bytes : `${bytes} (U+${code.toString(16).toUpperCase().padStart(4, '0')})`
}

/** True when a pattern of the list matches that URL. */
export function matchesAny(patterns: readonly UrlPattern[], url: URL): boolean {
  return patterns.some((pattern) => covers(pattern, url))
}

/** Patterns that a message names. */
const MOST_NAMED = 3

/** Returns patterns for a message: the first ones, and how many more there are. */
export function patternsText(patterns: readonly UrlPattern[]): string {
  const named = patterns.slice(0, MOST_NAMED).map(({ pattern }) => pattern)
  const more = patterns.length - named.length
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ') || 'no URL'
}

/** Returns the origin that a pattern names, or undefined for a wildcard or a bucket. */
export function namedOrigin({ scheme, host, port, wildcard }: UrlPattern): string | undefined {
  return wildcard || scheme === 's3' ? undefined : `${scheme}://${host}${port && `:${port}`}`
}

/** Returns the narrowness, higher is narrower: an exact host before a wildcard, then the longer host, then the longer path. */
export function narrowness({ wildcard, host, path }: UrlPattern): number {
  return (wildcard ? host.length : 1000) * 10_000 + path.length
}

/** True when anyone can register a name below that host, so that a wildcard would trust strangers. */
export function isSharedSuffix(host: string): boolean {
  return SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`) || suffix.endsWith(`.${host}`))
}

function isBelow(host: string, suffix: string): boolean {
  return host.length > suffix.length + 1 && host.endsWith(`.${suffix}`)
}

function parsed(pattern: string, { sharedHosts = false }: { readonly sharedHosts?: boolean }): UrlPattern {
  const [, scheme, star, authority, path = '/'] = PATTERN.exec(pattern) ?? []
  if (!scheme || !authority) throw refused(pattern, 'write https://host[:port][/path/]; "*." only before a host')
  const odd = pathProblem(path)
  if (odd !== undefined) throw refused(pattern, `the path has "${odd}", which servers may read as another path`)
  if (scheme === 's3') {
    if (star || !/^[A-Za-z0-9._-]+$/.test(authority)) throw refused(pattern, 'write s3://bucket/ or s3://bucket/prefix/')
    return { pattern, scheme, host: authority, wildcard: false, port: '', path: folder(path) }
  }
  const probe = `${scheme}://${star ? 'x.' : ''}${authority}${path}`
  if (!canParseUrl(probe) || /\.(?::\d*)?$|:$/.test(authority)) throw refused(pattern, 'the host is not valid')
  const url = new URL(probe)
  if (!HOST.test(url.hostname)) throw refused(pattern, 'the host is not valid')
  if (path.includes('//')) throw refused(pattern, 'the path has an empty segment')
  const wildcard = star !== undefined
  const host = wildcard ? url.hostname.slice(2) : url.hostname
  if (scheme === 'http' && !isLoopbackHost(url.hostname)) throw refused(pattern, 'use https:; http: is for loopback addresses only')
  if (wildcard && !host.includes('.')) throw refused(pattern, 'at least two labels must follow "*."')
  if (!sharedHosts) refuseShared(pattern, host, wildcard, url.pathname)
  return { pattern, scheme: scheme as 'https' | 'http', host, wildcard, port: url.port, path: folder(url.pathname) }
}

function refuseShared(pattern: string, host: string, wildcard: boolean, path: string): void {
  if (wildcard && isSharedSuffix(host)) throw refused(pattern, `anyone can register names below ${host}. Write the exact host`)
  if (!wildcard && path === '/' && isSharedHost(host)) {
    throw refused(pattern, `${host} is shared by many owners. Add the path of the bucket or repository`)
  }
}

function folder(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

/** The pattern is shown unless it may hold a secret: a token in its place, a password, or a query. */
function refused(pattern: string, why: string): ConfigurationError {
  const actual = /^\w+:\/\/[^@?#]*$/.test(pattern) ? pattern : '…'
  return new ConfigurationError('CONFIG_INVALID', `"${actual}" is not a valid URL pattern: ${why}`, { actual })
}

/** Hosts under which anyone can register a name or a path; maintained by hand, deliberately broad. */
const SUFFIXES = /* @__PURE__ */ (
  'amazonaws.com amazonaws.com.cn blob.core.windows.net dfs.core.windows.net file.core.windows.net web.core.windows.net ' +
  'azurewebsites.net azureedge.net azurefd.net cloudapp.azure.com cloudfront.net elasticbeanstalk.com storage.googleapis.com ' +
  'googleapis.com googleusercontent.com appspot.com run.app cloudfunctions.net web.app firebaseapp.com github.io ' +
  'githubusercontent.com gitlab.io bitbucket.io pages.dev workers.dev r2.dev r2.cloudflarestorage.com vercel.app netlify.app ' +
  'herokuapp.com onrender.com fly.dev railway.app ngrok.io ngrok.app ngrok-free.app trycloudflare.com digitaloceanspaces.com ' +
  'backblazeb2.com wasabisys.com your-objectstorage.com oraclecloud.com aliyuncs.com myqcloud.com surge.sh glitch.me repl.co ' +
  'co.uk org.uk ac.uk gov.uk com.au net.au org.au co.jp co.nz co.in com.br com.cn com.tr co.za co.kr'
).split(' ')

const HOSTS = /^(?:s3(?:[.-].+)?\.amazonaws\.com(?:\.cn)?|storage\.googleapis\.com|(?:raw|gist)\.githubusercontent\.com)$/

/** True when owners differ by path, so that a pattern needs a path. */
function isSharedHost(host: string): boolean {
  return HOSTS.test(host)
}
