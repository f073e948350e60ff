/** Retries of token requests. */

import type { AuthContext } from '../../auth/strategy.ts'
import { type AuthError, isAuthError, type NetworkError } from '../../errors.ts'
import { sleep } from '../../net/cancellation.ts'
import { backoffBefore, type RetryPolicy, retryAfterOf, withRetryAfter } from '../../net/retry.ts'

/** The retry policy of token requests; no attempt starts later than {@link LONGEST}. */
const TOKEN_RETRIES: RetryPolicy = {
  retries: 4,
  backoff: { first: 500, longest: 4000, fixed: 1, random: 0.5 },
  retryAfter: { longest: 60_000 },
}
/** Milliseconds after which no attempt starts, so that a lock is released in time. */
const LONGEST = 20_000
/** The longest wait in milliseconds while a lock is held; for longer ones the lock is released. */
export const LOCKED_REST = 10_000
/** After this many consecutive failures, no request is sent for `rest` milliseconds. */
const TROUBLE = { failures: 5, rest: 10_000 }

type Context = Pick<AuthContext, 'clock' | 'random' | 'session' | 'signal' | 'credential'> & { readonly longestRest?: number }

interface Trouble {
  failures: number
  until: number
  last?: AuthError
}

/**
 * Retries a token request until it succeeds or fails permanently; after five consecutive failures no request is sent for ten
 * seconds. `Retry-After` is honoured up to a minute; a longer one fails. `once` is for requests that must not be sent twice.
 */
export async function withTokenRetries<T>(url: string, context: Context, ask: () => Promise<T>, once = false): Promise<T> {
  const { clock, session, credential } = context
  const { value: trouble } = await session.resolve<Trouble>(`trouble ${url}`, async () => ({ value: { failures: 0, until: 0 } }))
  const begun = clock.now()
  const { retries, backoff, retryAfter } = TOKEN_RETRIES
  let rested = 0
  for (let attempt = 1; ; attempt++) {
    if (trouble.last && clock.now() < trouble.until) {
      const why = `${new URL(url).origin} failed ${TROUBLE.failures} times in a row; try again after ${TROUBLE.rest / 1000} s`
      throw because(trouble.last, why, credential.id)
    }
    if (trouble.until > 0) Object.assign(trouble, { failures: 0, until: 0 })
    try {
      const answer = await ask()
      trouble.failures = 0
      return answer
    } catch (error) {
      if (!isAuthError(error) || !error.retryable) throw error
      trouble.last = error
      if (++trouble.failures >= TROUBLE.failures) trouble.until = clock.now() + TROUBLE.rest
      if (once || attempt > retries || clock.now() - begun - rested > LONGEST) throw error
      const wanted = retryAfterOf(error) ?? 0
      if (rested + wanted > (context.longestRest ?? retryAfter.longest)) throw tooLong(error, wanted)
      rested += wanted
      const pause = backoffBefore(backoff, attempt, (context.random(1)[0] ?? 0) / 256)
      await sleep(Math.max(wanted, pause), clock, context.signal)
    }
  }
}

function tooLong(error: AuthError, wanted: number): AuthError {
  const why = `Retry-After of ${Math.ceil(wanted / 1000)} s exceeds the limit of ${TOKEN_RETRIES.retryAfter.longest / 1000} s`
  return withRetryAfter(because(error, why), wanted)
}

/** Returns the error once more, so that the reason is known also where it was not shown. */
function because(error: AuthError, why: string, credential = error.credential): AuthError {
  const Family = error.constructor as typeof NetworkError
  return new Family(error.code, `${error.message}: ${why}`, { ...error, credential, retryable: true })
}

/**
 * Runs a function that takes a lock, again after `Retry-After`, which is waited for without the lock and up to a minute in
 * total. Errors: those of `run`.
 */
export async function untilRested<T>(context: Context, run: () => Promise<T>): Promise<T> {
  for (let rested = 0; ; ) {
    try {
      return await run()
    } catch (error) {
      const wanted = isAuthError(error) ? (retryAfterOf(error) ?? 0) : 0
      if (wanted <= LOCKED_REST || rested + wanted > TOKEN_RETRIES.retryAfter.longest) throw error
      rested += wanted
      await sleep(wanted, context.clock, context.signal)
    }
  }
}
