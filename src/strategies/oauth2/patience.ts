/** How often an endpoint in trouble is asked again. */

import type { AuthContext } from '../../auth/strategy.ts'
import { wait } from '../../auth/wait.ts'
import { isAuthError, NetworkError } from '../../errors.ts'

/** Milliseconds before the second, third … attempt; each is stretched by up to a half. */
const PAUSES = [500, 1000, 2000, 4000]
/** Milliseconds after which nothing is begun anew: whoever holds a lock gives it back in time. */
const LONGEST = 20_000
/** So many failures in a row, and nobody is asked for so many milliseconds. */
const TROUBLE = { failures: 5, rest: 10_000 }

type Context = Pick<AuthContext, 'clock' | 'random' | 'session' | 'signal' | 'credential'>

interface Trouble {
  failures: number
  until: number
}

/**
 * Runs what asks an endpoint until it succeeds or fails for good; after five failures in a row the endpoint is left alone for ten
 * seconds. `once` is for what must never be sent twice.
 */
export async function patiently<T>(url: string, context: Context, ask: () => Promise<T>, once = false): Promise<T> {
  const { clock, session, credential } = context
  const { value: trouble } = await session.resolve<Trouble>(`trouble ${url}`, async () => ({ value: { failures: 0, until: 0 } }))
  const begun = clock.now()
  for (let attempt = 0; ; attempt++) {
    if (clock.now() < trouble.until) throw resting(url, credential.id)
    if (trouble.until > 0) Object.assign(trouble, { failures: 0, until: 0 })
    try {
      const answer = await ask()
      trouble.failures = 0
      return answer
    } catch (error) {
      if (!isAuthError(error) || !error.retryable) throw error
      if (++trouble.failures >= TROUBLE.failures) trouble.until = clock.now() + TROUBLE.rest
      const pause = PAUSES[attempt]
      if (once || pause === undefined || clock.now() - begun > LONGEST) throw error
      await wait(pause * (1 + (context.random(1)[0] ?? 0) / 512), context)
    }
  }
}

function resting(url: string, credential: string): NetworkError {
  const message = `${new URL(url).origin} failed ${TROUBLE.failures} times in a row: it is left alone for ${TROUBLE.rest / 1000} s`
  return new NetworkError('NETWORK_FAILED', message, { credential, url, retryable: true })
}
