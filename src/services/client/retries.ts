/** Decides whether and when a call is retried: the policy of API clients, and what each failure allows. */
import type { AuthError } from '../../errors.ts'
import { Retries, type RetryPolicy } from '../../net/retry.ts'
import type { Settings } from './api-client.ts'
import { annotate, foreign, HttpError, isRefusal, RetryBudgetError } from './errors.ts'
import type { ServiceTraffic } from './pacer.ts'
import type { CallOptions, Operation, RetryOptions } from './request.ts'

/**
 * The effect of sending an operation twice, which decides when it is retried: none (`safe`), the same as of sending it once (`idem`),
 * possibly a second effect (`unsafe`). `once` is `idem` until a response begins; then the result is lost.
 */
export type ReplayClass = 'safe' | 'idem' | 'unsafe' | 'once'

/** The failure of one attempt. */
export interface Failure {
  /** `status` is absent if there was no response. */
  readonly error: AuthError
  /** At least one byte of the request was handed to a connected socket. */
  readonly sent: boolean
  /** The response had begun. */
  readonly begun: boolean
  /** A reused connection was closed before the response began. */
  readonly stale: boolean
  /** False: the body of the request was a stream, which is used up. */
  readonly repeatable: boolean
}

/**
 * What a failure allows: `retry` after a delay, `now` on another connection, `briefly` one retry only (a host name that was not found),
 * `never`.
 */
type Verdict = 'retry' | 'now' | 'briefly' | 'never'

/** The retry policy of API clients; clients may set the number and the longest `Retry-After`. */
export const API_RETRIES = {
  retries: 4,
  unresolved: 1,
  backoff: { first: 500, longest: 20_000, fixed: 0, random: 1, least: 100 },
  retryAfter: { longest: 60_000, spread: 0.1, least: 50 },
  budget: { most: 10, earned: 0.1, perSecond: 0.2 },
} satisfies RetryPolicy

/** Milliseconds after which a call without a time limit does not wait for a service that refuses it. */
const REFUSED_FOR = 600_000

/** The retries of one call. */
export class CallRetries {
  readonly #retries: Retries
  readonly #most: number
  /** True if the caller sets the number of retries. */
  readonly #isLimited: boolean
  readonly #operation: Operation
  readonly #replay: ReplayClass
  readonly #options: RetryOptions
  readonly #settings: Settings
  readonly #traffic: ServiceTraffic
  readonly #had = new Set<Verdict>()
  #refusedAt: number | undefined
  /** True if a failed attempt may have had its effect on the server. */
  #isUnknown = false
  /** Number of the attempt, from 1. */
  attempt = 1

  constructor(operation: Operation, { retry, replay }: CallOptions, settings: Settings, traffic: ServiceTraffic) {
    const options = retry === false ? { retries: 0 } : (retry ?? {})
    this.#operation = operation
    this.#options = options
    this.#settings = settings
    this.#traffic = traffic
    this.#replay = operation.replay === 'unsafe' && replay ? replay : operation.replay
    if (operation.billed && options.billed === false) this.#replay = 'unsafe'
    this.#most = options.retries ?? settings.retries
    this.#isLimited = options.retries !== undefined || settings.limitsRetries
    const retryAfter = { ...API_RETRIES.retryAfter, longest: settings.maxRetryAfter }
    this.#retries = new Retries({ ...API_RETRIES, retries: this.#most, retryAfter }, settings.limits.random, traffic.budget)
  }

  /** Returns true for a repeated deletion that finds nothing, which is a success. */
  isAlreadyGone({ error }: Failure): boolean {
    return error.status === 404 && this.#isUnknown && this.#operation.method === 'DELETE'
  }

  /**
   * Returns the milliseconds until the next attempt, and what waits for them: the pacer after a refusal, else the call; `deadline` if that
   * would start too late. Errors: the failure itself when it is final, `RETRY_BUDGET`.
   *
   * @param left milliseconds until the deadline
   */
  delayAfter(failure: Failure, left: number): { readonly delay: number; readonly isPaced: boolean } | 'deadline' {
    const { error, sent } = failure
    const { status } = error
    const verdict = this.#verdict(failure)
    if (verdict === 'never') throw error
    const hint = error instanceof HttpError ? error.retryAfterMs : undefined
    const isPaced = isRefusal(error)
    const delay = isPaced ? this.#pauseAfter(error, left) : this.#retries.next({ hint, status, left, now: verdict === 'now' })
    if (delay === 'budget') throw budgetEmpty(error)
    if (delay === 'retry-after' && !('hint' in error)) annotate(error, { hint: tooLong(hint) })
    if (delay === 'retry-after' || delay === 'retries') throw error
    if (delay === 'deadline') return delay
    this.#isUnknown ||= sent && (status === undefined || status >= 500)
    this.attempt++
    return { delay, isPaced }
  }

  /** Refusals cost no budget. The call waits for the pacer until its deadline; if the caller limits retries, and after 503, as often as that. */
  #pauseAfter({ status, retryAfterMs: hint = 0 }: HttpError, left: number): ReturnType<Retries['next']> {
    const { limits, maxRetryAfter } = this.#settings
    const now = limits.clock.now()
    this.#refusedAt ??= now
    const isEndless = left === Number.POSITIVE_INFINITY && now - this.#refusedAt > REFUSED_FOR
    const isCounted = status === 503 || this.#isLimited
    if (isEndless || (isCounted && this.#retries.count++ >= this.#most)) return 'retries'
    if (hint > maxRetryAfter || hint > left) return 'retry-after'
    const { pause } = this.#traffic.pacer
    return pause > left ? 'deadline' : pause
  }

  #verdict(failure: Failure): Verdict {
    const { code, status } = failure.error
    const { statuses, on } = this.#options
    if (!failure.repeatable || ENDED.has(code) || (status !== undefined && this.#operation.final?.includes(status))) return 'never'
    const decided = this.#decided(on, failure.error)
    if (decided !== undefined) return decided ? 'retry' : 'never'
    if (status !== undefined && statuses?.includes(status)) return 'retry'
    const verdict = verdictOn(failure, this.#replay)
    const isRepeated = this.#had.has(verdict)
    this.#had.add(verdict)
    if (verdict === 'briefly') return isRepeated ? 'never' : 'retry'
    return verdict === 'now' && isRepeated ? 'retry' : verdict
  }

  /** Returns the decision of the caller, if there is one. */
  #decided(on: RetryOptions['on'], { code, status }: AuthError): boolean | undefined {
    try {
      return on?.({ attempt: this.attempt, code, ...(status !== undefined && { status }) })
    } catch (error) {
      throw foreign(error, this.#operation.name)
    }
  }
}

/** Codes of errors with which the caller or a deadline ends the call. */
const ENDED = new Set(['ABORTED', 'TIMEOUT_TOTAL'])

/** Returns the verdict on a failure, by the class of the operation. */
function verdictOn(failure: Failure, replay: ReplayClass): Verdict {
  const { error, sent, begun, stale } = failure
  if (replay === 'once' && begun) return 'never'
  if (error.status !== undefined) return mayRepeat(error, error.status, replay !== 'unsafe') ? 'retry' : 'never'
  if (!sent && error.code === 'NETWORK_DNS') return 'briefly'
  if (!sent) return UNSENT.has(error.code) ? 'retry' : 'never'
  if (replay === 'unsafe' || !LOST.has(error.code)) return 'never'
  return stale ? 'now' : 'retry'
}

/** Statuses after which a repeated `idem` operation may succeed. */
export const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 529])

/** @param isHarmless whether the operation may be sent twice */
function mayRepeat(error: AuthError, status: number, isHarmless: boolean): boolean {
  // An invalid response may be valid the next time; an unsupported one is not retryable.
  if (status >= 200 && status < 300) return isHarmless && error.retryable
  if (!RETRYABLE.has(status)) return false
  // The server refused the request without doing anything.
  if (isHarmless || status === 429 || status === 529) return true
  const headers = error instanceof HttpError ? error.headers : undefined
  if (status === 408) return /\bclose\b/i.test(headers?.connection ?? '')
  return status === 503 && (headers?.['retry-after'] ?? headers?.['retry-after-ms']) !== undefined
}

/** Codes of retryable errors before the first byte was sent. */
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

/** Codes of retryable errors after the first byte was sent, when the effect on the server is unknown. */
const LOST = new Set([
  'NETWORK_RESET',
  'NETWORK_FAILED',
  'RESPONSE_TRUNCATED',
  'TIMEOUT_HEADERS',
  'TIMEOUT_BODY',
  'TIMEOUT_ATTEMPT',
  'CORS_OR_NETWORK',
])

function tooLong(retryAfterMs = 0): string {
  return `Retry-After of ${Math.ceil(retryAfterMs / 1000)} s is too long: try again later`
}

function budgetEmpty(cause: AuthError): RetryBudgetError {
  const message = `too many requests to this service fail: no retries for now (${cause.message})`
  return new RetryBudgetError('RETRY_BUDGET', message, { cause, retryable: true, ...(cause.url !== undefined && { url: cause.url }) })
}
