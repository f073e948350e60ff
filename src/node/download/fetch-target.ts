/** Fetches a file from one target, asking as often as it takes. */

import { delayBefore } from '../../clients/backoff.ts'
import { DEFAULTS as CRAWL } from '../../crawl/settings.ts'
import { type AuthError, abortedBy, isAuthError, NetworkError } from '../../errors.ts'
import { failure } from '../../http/network-error.ts'
import { sleep } from '../../net/cancellation.ts'
import type { Target } from '../../stac/target.ts'
import { UnprovenPart } from './answer.ts'
import { AlreadyThere, Attempt, type FileState, UnwantedSize } from './attempt.ts'
import { leastIn } from './exchange.ts'
import { RefusedAnswer } from './refused-answer.ts'
import { targetAddress } from './target-address.ts'
import type { World } from './world.ts'

/** Milliseconds of a `Retry-After` that are waited for. */
const LONGEST_REST = 120_000

/**
 * Fetches what is missing. What may succeed later is asked again, from where it ended, until ten attempts in a row have gained nothing
 * (four where the host name cannot be resolved); a file that changes on its server is begun anew once.
 *
 * Errors: those of the last attempt; `RATE_LIMITED`, `RETRY_BUDGET`, `FILE_CHANGED`, `ABORTED`.
 */
export async function fetchTarget(target: Target, state: FileState, world: World): Promise<void> {
  const retries = new Retries(target, state, world)
  for (;;) {
    const before = state.most
    try {
      await new Attempt(target, state, world).perform()
      retries.succeeded()
      if (state.size === undefined || state.content.missing(state.size).length === 0) return
    } catch (error) {
      await retries.wait(error, state.most - before)
    }
  }
}

class Retries {
  readonly #target: Target
  readonly #state: FileState
  readonly #world: World
  readonly #origin: string
  #barren = 0
  /** Attempts in a row for which the host name was not resolved. */
  #unresolved = 0
  #count = 0

  constructor(target: Target, state: FileState, world: World) {
    this.#target = target
    this.#state = state
    this.#world = world
    this.#origin = targetAddress(target).origin
  }

  succeeded(): void {
    if (this.#count === 0) this.#world.origins.budget(this.#origin).earn()
  }

  /** Waits until it may be asked again. Errors: the one given, when it must not be. */
  async wait(thrown: unknown, gained: number): Promise<void> {
    const [world, state] = [this.#world, this.#state]
    if (world.signal.aborted) throw abortedBy(world.signal)
    if (thrown instanceof UnwantedSize || thrown instanceof AlreadyThere) throw thrown
    const { error, hint } = judged(thrown, this.#target)
    // From whoever lets a byte through now and then, nothing is gained: it would never end.
    const hasGained = gained > (error.code === 'TIMEOUT_BODY' ? leastIn(world.settings.stallTimeout) : 0)
    this.#barren = hasGained ? 1 : this.#barren + 1
    this.#unresolved = error.code === 'NETWORK_DNS' ? this.#unresolved + 1 : 0
    if (error.code === 'FILE_CHANGED') return this.#beginAnew(error)
    // Asking again opens no fewer files.
    if (error.code === 'FILE_ACCESS') throw error
    const isGivenUp = this.#barren > world.settings.retries || this.#unresolved > CRAWL.retries
    if (!error.retryable || isGivenUp) throw error.code === 'HTTP_429' ? rateLimited(error) : error
    if (hint !== undefined && hint > LONGEST_REST) throw rateLimited(error)
    this.#count++
    if (!hasGained && !world.origins.budget(this.#origin).spend(hint !== undefined)) throw budgetEmpty(error)
    const { status } = error
    const delay = delayBefore(this.#barren, { ...(hint !== undefined && { hint }), ...(status !== undefined && { status }) }, world.random)
    if (status === 429 || status === 503 || hint !== undefined) world.origins.gate.refused(this.#origin, hint ?? 0)
    world.tell({ kind: 'retry', file: state.file, error, delay, attempt: this.#barren })
    await sleep(delay, world.clock, world.signal)
  }

  /** Errors: `FILE_CHANGED` for the second time that it was another file. */
  async #beginAnew(error: AuthError): Promise<void> {
    // Of a server that says nothing about its parts none is asked for again, so that this happens once.
    if (error instanceof UnprovenPart) this.#state.whole = true
    else if (this.#state.changes++ > 0) throw error
    await this.#state.content.reset()
    this.#world.tell({ kind: 'retry', file: this.#state.file, error, delay: 0, attempt: 1 })
  }
}

function judged(thrown: unknown, { href, scope }: Target): { readonly error: AuthError; readonly hint?: number } {
  if (thrown instanceof RefusedAnswer) return { error: thrown.error, ...(thrown.rest !== undefined && { hint: thrown.rest }) }
  const url = URL.canParse(href, scope.url) ? new URL(href, scope.url).href : ''
  return { error: isAuthError(thrown) ? thrown : failure(thrown, undefined, url) }
}

function rateLimited({ url, status }: AuthError): NetworkError {
  return new NetworkError('RATE_LIMITED', `${url}: the server wants to be left alone for longer than a download waits`, {
    retryable: true,
    ...(url !== undefined && { url }),
    ...(status !== undefined && { status }),
  })
}

function budgetEmpty(last: AuthError): NetworkError {
  const message = `too many requests to this server failed to ask any of them again; the last one: ${last.message}`
  return new NetworkError('RETRY_BUDGET', message, { reasons: [last], retryable: true, ...(last.url !== undefined && { url: last.url }) })
}
