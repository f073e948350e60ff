/** Parses error responses of object stores, and suggests what to do about them. */
import { type AuthError, CredentialError, ProtocolError } from '../../errors.ts'
import type { HttpResponse } from '../../http/message.ts'
import { errorDocument, wordIn } from '../../http/xml-text.ts'
import { skewFrom } from '../../net/clock.ts'

/** The relevant parts of a refusal; texts of the server are single words or absent. */
export interface Refusal {
  readonly status: number
  readonly url: string
  /** `<Code>` of the error body. */
  readonly code?: string
  /** The region of the bucket. */
  readonly region?: string
  readonly requestId?: string
  /** The server's time in epoch milliseconds. */
  readonly date?: number
}

const SKEWED = new Set(['RequestTimeTooSkewed', 'RequestExpired', 'AuthFailure'])
const STALE = new Set(['ExpiredToken', 'InvalidToken', 'TokenRefreshRequired'])
const SLACK = 5 * 60_000
const DAY = 24 * 3_600_000

const HINTS: ReadonlyMap<string, string> = new Map([
  ['SignatureDoesNotMatch', 'the secret access key does not match the access key id'],
  ['InvalidAccessKeyId', 'this service does not know the access key id'],
  ['ExpiredToken', 'the temporary keys have expired: obtain new ones'],
  ['InvalidToken', 'the session token does not match these keys'],
  ['AccessDenied', 'these keys have no access to the object, or it is missing and they may not list the bucket'],
])

/**
 * Returns the refusal in the response to a request that was signed for `signedRegion`. Undefined for a response that the caller should
 * see, and for a redirect that does not concern the region.
 */
export async function refusalOf(response: HttpResponse, signedRegion: string): Promise<Refusal | undefined> {
  const { status, url, headers } = response
  const region = headers.get('x-amz-bucket-region') ?? undefined
  if (![301, 307, 400, 401, 403].includes(status)) return undefined
  if (status < 400 && headers.get('location') !== null && (region ?? signedRegion) === signedRegion) return undefined
  const body = await errorDocument(response)
  const date = Date.parse(headers.get('date') ?? wordIn(body, 'ServerTime') ?? '')
  return {
    status,
    url,
    code: wordIn(body, 'Code'),
    region: status === 401 || status === 403 ? undefined : (region ?? wordIn(body, 'Region')),
    requestId: wordIn(body, 'RequestId'),
    ...(Number.isFinite(date) && { date }),
  }
}

/** Returns how far the server's clock is ahead, in milliseconds, when that caused the refusal; undefined beyond a day. */
export function skewOf({ code = '', date }: Refusal, now: number): number | undefined {
  if (!SKEWED.has(code) || date === undefined) return undefined
  if (code !== 'RequestTimeTooSkewed' && Math.abs(date - now) < SLACK) return undefined
  return skewFrom(date, now)
}

/** True when newer keys may help. */
export function isStale({ code = '' }: Refusal): boolean {
  return STALE.has(code)
}

/**
 * Returns the error for a final refusal: `AUTH_REJECTED`, `CLOCK_SKEW`, `HTTP_<status>`. It names the code, never what was signed.
 *
 * @param credential id of the credential that signed
 * @param now this machine's time in epoch milliseconds
 * @param hint what to do about it, when more is known than the code says
 */
export function refusedBy(refusal: Refusal, credential: string, now: number, hint?: string): AuthError {
  const { status, url, code, date = now } = refusal
  const { host } = new URL(url)
  const what = answerOf(refusal)
  if (code === 'RequestTimeTooSkewed' || (SKEWED.has(code ?? '') && Math.abs(date - now) > DAY)) {
    const seconds = Math.round(Math.abs(date - now) / 1000)
    const message = `the clocks of ${host} and of this machine differ${seconds > 0 ? ` by ${seconds} seconds` : ''}: ${what}`
    return new ProtocolError('CLOCK_SKEW', message, { url, status, credential, hint: 'set the clock of this machine' })
  }
  if (status !== 401 && status !== 403 && !/Auth|Token|AccessKey|Signature/.test(code ?? '')) {
    return new ProtocolError(`HTTP_${status}`, `${host} answered ${what}`, { url, status, credential })
  }
  const next = hint ?? HINTS.get(code ?? '')
  return new CredentialError('AUTH_REJECTED', `${host} refused "${credential}" with ${what}`, {
    url,
    status,
    credential,
    ...(next && { hint: next }),
  })
}

/** Returns the response of the service in one line. */
function answerOf({ status, code, requestId }: Refusal): string {
  return `${status}${code ? ` ${code}` : ''}${requestId ? ` (request ${requestId})` : ''}`
}
