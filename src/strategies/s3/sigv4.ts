/**
 * AWS Signature Version 4 with the rules of Amazon S3, for requests without a body: in a header, or in the query
 * ("presigned"). In the order of the AWS guide: canonical request, string to sign, signing key, signature.
 *
 * Differences from other services: the path is encoded once and never normalised, and the payload may be unsigned.
 * Returns synchronously on platforms with synchronous hashes (Node), else a promise.
 */
import { platform } from '#platform'
import { UnsupportedError } from '../../errors.ts'
import { type HttpRequest, percentEncoded } from '../../http/message.ts'
import type { HmacKey, S3Keys } from '../../platform/platform.ts'
import { whenThere } from '../credential-values.ts'

type MaybePromise<T> = T | Promise<T>

/** The inputs of a signature besides the request and the keys. */
export interface SigningOptions {
  readonly region: string
  /** Milliseconds since the epoch by the server's clock. */
  readonly now: number
  /** The user agrees to pay for the transfer (`x-amz-request-payer`). */
  readonly requesterPays?: boolean
}

/** The inputs of a header signature. */
export interface HeaderSigningOptions extends SigningOptions {
  /** Headers to sign in addition to `host` and every `x-amz-*`. Headers that intermediaries may change are excluded. */
  readonly signed?: readonly string[]
}

/** The inputs of a presigned URL. */
export interface PresigningOptions extends SigningOptions {
  /** Whole seconds, 1 to 604800; shortened to the lifetime of the keys. */
  readonly expiresIn: number
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'
const EMPTY_PAYLOAD = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const WEEK = 604_800

/**
 * Returns the request with `authorization` and its `x-amz-*` headers; its URL is the canonical one, so that what is sent is
 * what was signed. Errors: `URL_INVALID`.
 */
export function signHeaders(request: HttpRequest, keys: S3Keys, options: HeaderSigningOptions): MaybePromise<HttpRequest> {
  const { origin, host, path, query } = canonicalAddress(request.url)
  const { time, day } = timeAt(options.now)
  const payload = origin.startsWith('https:') ? UNSIGNED_PAYLOAD : EMPTY_PAYLOAD
  // Object.assign is faster here: after a spread, each added member costs more than the two hashes together.
  const headers: Record<string, string> = Object.assign({}, request.headers, { 'x-amz-content-sha256': payload, 'x-amz-date': time })
  if (options.requesterPays) headers['x-amz-request-payer'] = 'requester'
  if (keys.sessionToken) headers['x-amz-security-token'] = keys.sessionToken
  const { lines, names } = canonicalHeaders(host, headers, options.signed)
  const canonical = `${request.method}\n${path}\n${query}\n${lines}\n${names}\n${payload}`
  const scope = scopeOf(keys, day, options.region)
  return whenThere(signatureOf(canonical, time, scope), (signature) => {
    headers.authorization = `${ALGORITHM} Credential=${scope.credential}, SignedHeaders=${names}, Signature=${signature}`
    return { ...request, url: origin + path + (query && `?${query}`), headers }
  })
}

/** Returns the request with its signature in the query; anyone with the URL has access. Errors: `URL_INVALID`. */
export function presign(request: HttpRequest, keys: S3Keys, options: PresigningOptions): MaybePromise<HttpRequest> {
  const { origin, host, path, query } = canonicalAddress(request.url)
  const { time, day } = timeAt(options.now)
  const scope = scopeOf(keys, day, options.region)
  const own =
    `X-Amz-Algorithm=${ALGORITHM}&X-Amz-Credential=${percentEncoded(scope.credential)}&X-Amz-Date=${time}&X-Amz-Expires=${lifetime(keys, options)}` +
    `${scope.tokenParameter}&X-Amz-SignedHeaders=host${options.requesterPays ? '&x-amz-request-payer=requester' : ''}`
  const parameters = query ? canonicalQuery(`${query}&${own}`) : own
  const canonical = `${request.method}\n${path}\n${parameters}\nhost:${host}\n\nhost\n${UNSIGNED_PAYLOAD}`
  return whenThere(signatureOf(canonical, time, scope), (signature) => ({
    ...request,
    url: `${origin}${path}?${parameters}&X-Amz-Signature=${signature}`,
  }))
}

// Task 1: the canonical request.

function canonicalAddress(url: string) {
  const authority = url.indexOf('//') + 2
  const start = url.indexOf('/', authority)
  const end = url.indexOf('?', start)
  return {
    origin: url.slice(0, start),
    host: url.slice(authority, start),
    path: canonicalPath(end < 0 ? url.slice(start) : url.slice(start, end)),
    query: end < 0 ? '' : canonicalQuery(url.slice(end + 1)),
  }
}

/** Encodes every byte but unreserved ones and `/` as `%XX`, once; `//` stays, dot segments cannot be sent in a URL. */
function canonicalPath(path: string): string {
  if (/^[\w\-.~/]*$/.test(path)) return path
  const key = decode(path)
  if (/\/\.\.?(\/|$)/.test(key)) throw notSignable('URLs cannot contain dot segments')
  return percentEncoded(key).replaceAll('%2F', '/')
}

/** Encodes names and values like the path, `/` too, sorted by name, then by value; in a query `+` is a space. */
function canonicalQuery(query: string): string {
  const pairs = query.split('&').flatMap((parameter) => {
    const [name = '', ...value] = parameter.replaceAll('+', ' ').split('=').map(decode)
    return parameter ? `${percentEncoded(name)}\0${percentEncoded(value.join('='))}` : []
  })
  // A separator below every character of an encoded text makes names sort before values.
  return pairs.sort().join('&').replaceAll('\0', '=')
}

/** Returns `name:value` lines and the list of names. */
function canonicalHeaders(host: string, headers: Readonly<Record<string, string>>, signed: readonly string[] = []) {
  const chosen = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-') || signed.includes(name))].sort()
  const lines = chosen.map((name) => `${name}:${name === 'host' ? host : (headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`)
  return { lines: lines.join(''), names: chosen.join(';') }
}

// Task 2 and 4: the string to sign, and its signature.

function signatureOf(canonical: string, time: string, { scope, key }: Scope): MaybePromise<string> {
  return whenThere(platform.sha256Hex(canonical), (digest) =>
    whenThere(key, (signer) => signer.signHex(`${ALGORITHM}\n${time}\n${scope}\n${digest}`)),
  )
}

// Task 3: the signing key, which is valid for a day.

interface Scope {
  readonly secret: string
  readonly token: string | undefined
  /** `date/region/s3/aws4_request` */
  readonly scope: string
  /** Key id and scope. */
  readonly credential: string
  /** `&X-Amz-Security-Token=…`, or nothing. */
  readonly tokenParameter: string
  readonly key: MaybePromise<HmacKey>
}

const scopes = new Map<string, Scope>()
const SCOPES = 64

function scopeOf(keys: S3Keys, day: string, region: string): Scope {
  const id = `${keys.accessKeyId}/${day}/${region}`
  const known = scopes.get(id)
  if (known && known.secret === keys.secretAccessKey && known.token === keys.sessionToken) return known
  const scope = newScope(keys, day, region)
  scopes.delete(id)
  for (const oldest of scopes.keys()) if (scopes.size >= SCOPES) scopes.delete(oldest)
  scopes.set(id, scope)
  return scope
}

function newScope({ accessKeyId, secretAccessKey, sessionToken }: S3Keys, day: string, region: string): Scope {
  const scope = `${day}/${region}/s3/aws4_request`
  let key = platform.hmacKey(new TextEncoder().encode(`AWS4${secretAccessKey}`))
  for (const part of scope.split('/')) key = whenThere(key, (above) => whenThere(above.sign(part), platform.hmacKey))
  return {
    secret: secretAccessKey,
    token: sessionToken,
    scope,
    credential: `${accessKeyId}/${scope}`,
    tokenParameter: sessionToken ? `&X-Amz-Security-Token=${percentEncoded(sessionToken)}` : '',
    key,
  }
}

// Below: small parts.

/** Returns `YYYYMMDDTHHMMSSZ` and its day. */
function timeAt(now: number) {
  const time = `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  return { time, day: time.slice(0, 8) }
}

function lifetime({ expiration = Infinity }: S3Keys, { expiresIn, now }: PresigningOptions): number {
  if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > WEEK)
    throw new TypeError('presign must be a whole number from 1 to 604800')
  return Math.max(1, Math.min(expiresIn, Math.floor((expiration - now) / 1000)))
}

function decode(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text
  } catch {
    throw notSignable('a percent sequence is not UTF-8')
  }
}

function notSignable(reason: string): UnsupportedError {
  return new UnsupportedError('URL_INVALID', `this URL cannot be signed: ${reason}`)
}
