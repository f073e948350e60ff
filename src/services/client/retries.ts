/** Whether a call is tried again, and when. */
import type { AuthError } from '../../errors.ts'
import type { Deadline } from '../../net/deadline.ts'
import { Retries, type RetryPolicy } from '../../net/retry.ts'
import type { CallOptions, RetryOptions } from './call-options.ts'
import { foreign, type HttpError, QuotaExceededError, RetryBudgetError } from './errors.ts'
import type { PreparedOperation } from './operation.ts'
import { type Failure, type ReplayClass, type Verdict, verdictOn } from './replay.ts'
import type { RequestBuilder } from './request-builder.ts'
import type { ServiceLimit } from './service-limits.ts'
import type { Settings } from './settings.ts'

interface RetryParts {
  readonly settings: Settings
  readonly prepared: PreparedOperation
  readonly builder: RequestBuilder
  readonly options: CallOptions
  readonly limit: ServiceLimit
  /** The transport does not look at a stream before it is connected. */
  readonly streams: boolean
}

/** How calls of API clients are retried; clients may set the number and the longest `Retry-After`. */
export const API_RETRIES = {
  retries: 4,
  unresolved: 1,
  backoff: { first: 500, longest: 20_000, fixed: 0, random: 1, least: 100 },
  overloaded: { first: 1000, longest: 20_000, fixed: 0.5, random: 0.5 },
  retryAfter: { longest: 60_000, spread: 0.1, least: 50 },
  budget: { most: 10, earned: 0.1 },
} satisfies RetryPolicy

export class CallRetries {
  readonly #retries: Retries
  readonly #parts: RetryParts
  readonly #replay: ReplayClass
  readonly #wishes: RetryOptions
  /** An attempt may have done what was asked, although it failed. */
  #unknown = false
  readonly #had = new Set<Verdict>()

  constructor(parts: RetryParts) {
    const { prepared, options } = parts
    this.#parts = parts
    this.#wishes = options.retry === false ? { maxRetries: 0 } : (options.retry ?? {})
    this.#replay = replayOf(prepared, options, this.#wishes)
    const { maxRetries, maxRetryAfter, limits } = parts.settings
    const policy = {
      ...API_RETRIES,
      retries: this.#wishes.maxRetries ?? maxRetries,
      retryAfter: { ...API_RETRIES.retryAfter, longest: maxRetryAfter },
    }
    this.#retries = new Retries(policy, limits.random, parts.limit.budget)
  }

  /** Retries so far. */
  get count(): number {
    return this.#retries.count
  }

  /** A repeated deletion that finds nothing has come to its end. */
  isAlreadyGone({ status }: Failure): boolean {
    return status === 404 && this.#unknown && this.#parts.prepared.operation.method === 'DELETE'
  }

  /** What a failure means for the other calls. */
  tellOthers({ status, error }: Failure): void {
    const { limit, settings } = this.#parts
    const { concurrency } = limit
    // Nobody waits longer than that; a service may name any number.
    if (status === 429 || status === 529) concurrency.refused(Math.min((error as HttpError).retryAfterMs ?? 0, settings.maxRetryAfter))
    if (status === 456) concurrency.exhaust(() => new QuotaExceededError(`${error.message}; not sent`, { ...error, status }))
  }

  /**
   * Milliseconds until the next attempt. Errors: the failure itself when it is final, `RETRY_BUDGET`, `TIMEOUT_TOTAL` when the pause would
   * end after the deadline.
   */
  delayAfter(failure: Failure, deadline: Deadline): number {
    const { status } = failure
    const verdict = this.#verdict(failure)
    if (verdict === 'never') throw failure.error
    const left = deadline.end - this.#parts.settings.limits.clock.now()
    const delay = this.#retries.next({ hint: (failure.error as HttpError).retryAfterMs, status, left, now: verdict === 'now' })
    if (delay === 'deadline') throw deadline.tooLate(failure.error)
    if (delay === 'budget') throw budgetEmpty(failure.error)
    if (typeof delay === 'string') throw failure.error
    this.#unknown ||= failure.sent && (status === undefined || status >= 500)
    return delay
  }

  #verdict(failure: Failure): Verdict {
    const { builder, prepared, streams } = this.#parts
    const { status, error } = failure
    if (!builder.replayable && (failure.sent || !streams)) return 'never'
    if (status !== undefined && prepared.operation.final?.includes(status)) return 'never'
    const wanted = status !== undefined && this.#wishes.statuses?.includes(status)
    const policy = wanted ? 'retry' : verdictOn(failure, this.#replay)
    const requested = ENDED.has(error.code) ? undefined : this.#told(failure)
    if (requested !== undefined) return requested ? 'retry' : 'never'
    return this.#firstTime(policy)
  }

  #told(failure: Failure): boolean | undefined {
    try {
      return this.#wishes.on?.(about(failure, this.count + 1))
    } catch (error) {
      throw foreign(error, this.#parts.prepared.operation.name)
    }
  }

  /** What is allowed once is final, or no longer at once, the second time. */
  #firstTime(policy: Verdict): Verdict {
    if (policy !== 'briefly' && policy !== 'now') return policy
    const again = this.#had.has(policy)
    this.#had.add(policy)
    if (policy === 'briefly') return again ? 'never' : 'retry'
    return again ? 'retry' : 'now'
  }
}

/** The caller or the clock has ended the call. */
const ENDED = new Set(['ABORTED', 'TIMEOUT_TOTAL'])

/** What costs money again is as bad as what is done again, for those who say so. */
function replayOf({ operation }: PreparedOperation, { replay }: CallOptions, { billed }: RetryOptions): ReplayClass {
  if (operation.billed && billed === false) return 'unsafe'
  return operation.replay === 'unsafe' && replay ? replay : operation.replay
}

function about({ error, status }: Failure, attempt: number) {
  return { attempt, code: error.code, ...(status !== undefined && { status }) }
}

function budgetEmpty(cause: AuthError): RetryBudgetError {
  const message = `too many requests to this service fail: no retries for now (${cause.message})`
  return new RetryBudgetError('RETRY_BUDGET', message, { cause, retryable: true, ...(cause.url !== undefined && { url: cause.url }) })
}
