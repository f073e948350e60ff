/** Which failures may be followed by another attempt. */
import type { AuthError } from '../../errors.ts'

/**
 * What sending an operation twice does: nothing (`safe`), the same as once (`idem`), perhaps something twice (`unsafe`); `once` is
 * `idem` until the first byte of an answer was read, and then the result is gone.
 */
export type ReplayClass = 'safe' | 'idem' | 'unsafe' | 'once'

/** How an attempt failed. */
export interface Failure {
  readonly error: AuthError
  /** Absent when there is no answer. */
  readonly status?: number
  readonly headers?: { get(name: string): string | null }
  /** At least one byte of the request was handed to a connected socket. */
  readonly sent: boolean
  /** The answer had begun. */
  readonly begun?: boolean
  /** The connection had served before and was closed before it answered this time. */
  readonly stale?: boolean
}

/**
 * What the failure allows: `retry` after a pause, `now` on another connection, `briefly` once and no more (a name that was not found), `never`.
 */
export type Verdict = 'retry' | 'now' | 'briefly' | 'never'

/** Statuses that mean that nothing was done. */
const REFUSED = new Set([429, 529])
const FAILED = new Set([500, 502, 504])

/** The verdict on a failure, by the class of the operation. */
export function verdictOn(failure: Failure, replay: ReplayClass): Verdict {
  return failure.status === undefined ? onSilence(failure, replay) : onStatus(failure.status, failure, replay)
}

function onSilence({ error, sent, begun, stale }: Failure, replay: ReplayClass): Verdict {
  const { code } = error
  if (NEVER.has(code)) return 'never'
  if (!sent) {
    if (code === 'NETWORK_DNS') return 'briefly'
    return UNSENT.has(code) ? 'retry' : 'never'
  }
  if (replay === 'unsafe' || (replay === 'once' && begun) || !LOST.has(code)) return 'never'
  return stale ? 'now' : 'retry'
}

function onStatus(status: number, { error, headers }: Failure, replay: ReplayClass): Verdict {
  const isUnsafe = replay === 'unsafe'
  const allow = (allowed: boolean): Verdict => (allowed ? 'retry' : 'never')
  // The answer of a `once` has begun.
  if (replay === 'once') return 'never'
  // What cannot be read now may be whole the next time; what nobody reads never is.
  if (status >= 200 && status < 300) return allow(!isUnsafe && error.retryable)
  if (REFUSED.has(status)) return 'retry'
  if (FAILED.has(status) || status === 425) return allow(!isUnsafe)
  if (status === 408) return allow(!isUnsafe || /\bclose\b/i.test(headers?.get('connection') ?? ''))
  if (status === 503) return allow(!isUnsafe || headers?.get('retry-after') != null || headers?.get('retry-after-ms') != null)
  return 'never'
}

/** The same again would end the same way. */
const NEVER = new Set(['ABORTED', 'TIMEOUT_TOTAL', 'PROXY_AUTH_REQUIRED', 'PROXY_INVALID', 'TLS_UNTRUSTED', 'TLS_EXPIRED', 'TLS_HOSTNAME'])

/** Before the first byte. */
const UNSENT = new Set([
  'NETWORK_REFUSED',
  'NETWORK_RESET',
  'NETWORK_UNREACHABLE',
  'NETWORK_FAILED',
  'TLS_HANDSHAKE',
  'TIMEOUT_CONNECT',
  'TIMEOUT_ATTEMPT',
  'PROXY_UNREACHABLE',
  'CORS_OR_NETWORK',
])

/** After it: nobody knows what the server did. */
const LOST = new Set([
  'NETWORK_RESET',
  'NETWORK_FAILED',
  'RESPONSE_TRUNCATED',
  'TIMEOUT_HEADERS',
  'TIMEOUT_BODY',
  'TIMEOUT_ATTEMPT',
  'CORS_OR_NETWORK',
])
