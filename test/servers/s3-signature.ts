/**
 * The service's side of AWS Signature Version 4 for S3, written from the text of the AWS guide and from nothing else: it takes
 * a request as it came over the wire and says whether it may be believed.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface S3ServerKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Temporary keys: requests must carry this token. */
  readonly sessionToken?: string
  /** Temporary keys that have ended. */
  readonly expired?: boolean
}

/** What a signature is about. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/** Why a request is not believed; `details` become elements of the error document. */
export class S3Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, details: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

interface Claim {
  readonly algorithm: string
  readonly credential: string
  readonly signedHeaders: string
  readonly signature: string
  readonly time: string
  readonly token: string | undefined
  readonly payload: string
  readonly expires?: number
}

export interface VerifyOptions {
  readonly keys: readonly S3ServerKey[]
  /** The region that this bucket's requests must be signed for. */
  readonly region: string
  readonly now: number
  /** SHA-256 of the body in hex; default: that of no body. */
  readonly bodyHash?: string
}

const QUARTER = 15 * 60_000
const WEEK = 604_800
const EMPTY = createHash('sha256').update('').digest('hex')

/** Decodes percent sequences to bytes; `+` is a space in queries only. */
export function bytesOf(text: string, plusIsSpace = false): Buffer {
  const bytes: number[] = []
  const raw = Buffer.from(text, 'utf8')
  for (let at = 0; at < raw.length; at++) {
    const hex = raw[at] === 0x25 ? /^[0-9a-f]{2}$/i.exec(raw.toString('latin1', at + 1, at + 3)) : null
    if (hex) {
      bytes.push(Number.parseInt(hex[0], 16))
      at += 2
    } else bytes.push(plusIsSpace && raw[at] === 0x2b ? 0x20 : (raw[at] ?? 0))
  }
  return Buffer.from(bytes)
}

/** True when the request says who sent it. */
export function isSigned(request: RequestHead): boolean {
  return request.headers.authorization !== undefined || parameters(request).some(({ name }) => name === 'X-Amz-Signature')
}

/** The key that signed the request. Throws {@link S3Refusal} with the codes of the service. */
export function verify(request: RequestHead, { keys, region, now, bodyHash = EMPTY }: VerifyOptions): S3ServerKey {
  const claim = claimOf(request, bodyHash)
  const presigned = claim.expires !== undefined
  const malformed = presigned ? 'AuthorizationQueryParametersError' : 'AuthorizationHeaderMalformed'
  if (claim.algorithm !== 'AWS4-HMAC-SHA256') throw new S3Refusal(400, 'InvalidRequest', 'Please use AWS4-HMAC-SHA256.')
  const [accessKeyId = '', day = '', scopeRegion = '', service = '', end = ''] = claim.credential.split('/')
  if (service !== 's3' || end !== 'aws4_request' || !/^\d{8}$/.test(day)) throw new S3Refusal(400, malformed, 'The scope is wrong.')
  if (scopeRegion !== region)
    throw new S3Refusal(400, malformed, `the region '${scopeRegion}' is wrong; expecting '${region}'`, { Region: region })
  const key = keys.find((known) => known.accessKeyId === accessKeyId)
  if (!key) throw new S3Refusal(403, 'InvalidAccessKeyId', 'The key id does not exist.', { AWSAccessKeyId: accessKeyId })
  checkTime(claim, day, now)
  checkHeaders(request, claim, presigned)
  checkToken(key, claim.token)
  const canonical = canonicalRequest(request, claim)
  const toSign = [
    'AWS4-HMAC-SHA256',
    claim.time,
    `${day}/${region}/s3/aws4_request`,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n')
  const expected = hmac(signingKey(key.secretAccessKey, day, region), toSign).toString('hex')
  if (claim.signature.length !== expected.length || !timingSafeEqual(Buffer.from(claim.signature), Buffer.from(expected))) {
    throw new S3Refusal(403, 'SignatureDoesNotMatch', 'The signature does not match.', {
      StringToSign: toSign,
      CanonicalRequest: canonical,
    })
  }
  return key
}

function claimOf(request: RequestHead, bodyHash: string): Claim {
  const query = new Map(parameters(request).map(({ name, value }) => [name, value]))
  const { authorization } = request.headers
  const header = (name: string) => String(request.headers[name] ?? '')
  if (authorization !== undefined && query.has('X-Amz-Signature'))
    throw new S3Refusal(400, 'InvalidArgument', 'Only one auth mechanism allowed')
  if (authorization === undefined) {
    const take = (name: string) => query.get(`X-Amz-${name}`) ?? ''
    const expires = Number(take('Expires'))
    if (!(expires >= 1 && expires <= WEEK)) throw new S3Refusal(400, 'AuthorizationQueryParametersError', 'X-Amz-Expires is out of range')
    const common = { signedHeaders: take('SignedHeaders'), signature: take('Signature'), time: take('Date'), expires }
    return {
      ...common,
      algorithm: take('Algorithm'),
      credential: take('Credential'),
      token: query.get('X-Amz-Security-Token'),
      payload: 'UNSIGNED-PAYLOAD',
    }
  }
  const [, algorithm = '', credential = '', signedHeaders = '', signature = ''] =
    /^(\S+) Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/.exec(authorization) ?? []
  if (!algorithm) throw new S3Refusal(400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed')
  const payload = header('x-amz-content-sha256')
  if (!payload) throw new S3Refusal(400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256')
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== bodyHash)
    throw new S3Refusal(400, 'XAmzContentSHA256Mismatch', 'The body has another hash.')
  const token = request.headers['x-amz-security-token']
  return { algorithm, credential, signedHeaders, signature, time: header('x-amz-date'), token: token?.toString(), payload }
}

function checkTime({ time, expires }: Claim, day: string, now: number): void {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? []
  if (parts.length === 0) throw new S3Refusal(403, 'AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header')
  const [year = 0, month = 1, date = 1, hours = 0, minutes = 0, seconds = 0] = parts.map(Number)
  const at = Date.UTC(year, month - 1, date, hours, minutes, seconds)
  if (!time.startsWith(day)) throw new S3Refusal(403, 'SignatureDoesNotMatch', 'The day of the scope is another one.')
  if (expires === undefined && Math.abs(now - at) > QUARTER) {
    const times = { RequestTime: time, ServerTime: new Date(now).toISOString(), MaxAllowedSkewMilliseconds: String(QUARTER) }
    throw new S3Refusal(403, 'RequestTimeTooSkewed', 'The difference between the request time and the current time is too large.', times)
  }
  if (expires !== undefined && at - now > QUARTER) throw new S3Refusal(403, 'AccessDenied', 'Request is not yet valid')
  if (expires !== undefined && now > at + expires * 1000) throw new S3Refusal(403, 'AccessDenied', 'Request has expired')
}

/** `host` and every `x-amz-*` header that was sent must be signed. */
function checkHeaders(request: RequestHead, { signedHeaders }: Claim, presigned: boolean): void {
  const signed = signedHeaders.split(';')
  const required = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))]
  if (!presigned) required.push('x-amz-date')
  const missing = required.filter((name) => !signed.includes(name))
  if (missing.length > 0) {
    throw new S3Refusal(403, 'AccessDenied', 'There were headers present in the request which were not signed', {
      HeadersNotSigned: missing.join(', '),
    })
  }
  if ([...signed].sort().join() !== signed.join()) throw new S3Refusal(403, 'SignatureDoesNotMatch', 'The signed headers are not sorted.')
}

function checkToken(key: S3ServerKey, token: string | undefined): void {
  if (key.sessionToken !== undefined && token === undefined) throw new S3Refusal(403, 'InvalidAccessKeyId', 'The key id does not exist.')
  if (key.sessionToken !== token) throw new S3Refusal(400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.')
  if (key.expired) throw new S3Refusal(400, 'ExpiredToken', 'The provided token has expired.')
}

function canonicalRequest(request: RequestHead, { signedHeaders, payload }: Claim): string {
  const [path = ''] = (request.url ?? '').split('?')
  const query = parameters(request)
    .filter(({ name }) => name !== 'X-Amz-Signature')
    .map(({ name, value }) => [uriEncode(Buffer.from(name)), uriEncode(Buffer.from(value))] as const)
    .sort(([a, x], [b, y]) => Buffer.compare(Buffer.from(a), Buffer.from(b)) || Buffer.compare(Buffer.from(x), Buffer.from(y)))
  const headers = signedHeaders.split(';').map(
    (name) =>
      `${name}:${String(request.headers[name] ?? '')
        .trim()
        .replace(/ +/g, ' ')}\n`,
  )
  const parts = [request.method, uriEncode(bytesOf(path), true), query.map((pair) => pair.join('=')).join('&')]
  return [...parts, headers.join(''), signedHeaders, payload].join('\n')
}

function parameters(request: RequestHead) {
  const [, query = ''] = (request.url ?? '').split(/\?(.*)/s)
  return query
    .split('&')
    .filter(Boolean)
    .map((part) => {
      const at = part.indexOf('=')
      const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
      return { name: bytesOf(name, true).toString(), value: bytesOf(value, true).toString() }
    })
}

/** `UriEncode()` of the guide, byte by byte. */
function uriEncode(bytes: Buffer, isPath = false): string {
  let text = ''
  for (const byte of bytes) {
    const char = String.fromCharCode(byte)
    text += /[A-Za-z0-9\-._~]/.test(char) || (isPath && char === '/') ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}

function signingKey(secret: string, day: string, region: string): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), 's3'), 'aws4_request')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
