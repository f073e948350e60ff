/** Fetches a file from one target, asking as often as it takes. */

import { type AuthError, abortedBy, NetworkError } from '../../errors.ts'
import { failure } from '../../http/network-error.ts'
import { sleep } from '../../net/cancellation.ts'
import { Retries, retryAfterOf } from '../../net/retry.ts'
import type { Target } from '../../stac/target.ts'
import { UnprovenPart } from './answer.ts'
import { AlreadyThere, Attempt, type FileState, UnwantedSize } from './attempt.ts'
import { leastIn } from './exchange.ts'
import { DOWNLOAD_RETRIES } from './origins.ts'
import { targetAddress } from './target-address.ts'
import type { World } from './world.ts'

/**
 * Fetches what is missing. What may succeed later is asked again, from where it ended, until ten attempts in a row have gained nothing
 * (four where the host name cannot be resolved); a file that changes on its server is begun anew once.
 *
 * Errors: those of the last attempt; `RATE_LIMITED`, `RETRY_BUDGET`, `FILE_CHANGED`, `ABORTED`.
 */
export async function fetchTarget(target: Target, state: FileState, world: World): Promise<void> {
  const retries = new TargetRetries(target, state, world)
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

class TargetRetries {
  readonly #target: Target
  readonly #state: FileState
  readonly #world: World
  readonly #origin: string
  readonly #retries: Retries
  /** Attempts in a row for which the host name was not resolved. */
  #unresolved = 0
  #hasRetried = false

  constructor(target: Target, state: FileState, world: World) {
    this.#target = target
    this.#state = state
    this.#world = world
    this.#origin = targetAddress(target).origin
    const policy = { ...DOWNLOAD_RETRIES, retries: world.settings.retries }
    this.#retries = new Retries(policy, world.random, world.origins.budget(this.#origin))
  }

  succeeded(): void {
    if (!this.#hasRetried) this.#world.origins.budget(this.#origin).earn()
  }

  /** Waits until it may be asked again. Errors: the one given, when it must not be. */
  async wait(thrown: unknown, gained: number): Promise<void> {
    const [world, state] = [this.#world, this.#state]
    if (world.signal.aborted) throw abortedBy(world.signal)
    if (thrown instanceof UnwantedSize || thrown instanceof AlreadyThere) throw thrown
    const error = errorOf(thrown, this.#target)
    // From whoever lets a byte through now and then, nothing is gained: it would never end.
    const hasGained = gained > (error.code === 'TIMEOUT_BODY' ? leastIn(world.settings.stallTimeout) : 0)
    if (hasGained) this.#retries.count = 0
    this.#unresolved = error.code === 'NETWORK_DNS' ? this.#unresolved + 1 : 0
    if (error.code === 'FILE_CHANGED') {
      this.#retries.count++
      return this.#beginAnew(error)
    }
    // Asking again opens no fewer files.
    if (error.code === 'FILE_ACCESS') throw error
    if (!error.retryable || this.#unresolved > DOWNLOAD_RETRIES.unresolved) throw given(error)
    const hint = retryAfterOf(error)
    const { status } = error
    const delay = this.#retries.next({ hint, status, free: hasGained })
    if (delay === 'retry-after') throw rateLimited(error)
    if (delay === 'budget') throw budgetEmpty(error)
    if (typeof delay === 'string') throw given(error)
    this.#hasRetried = true
    if (status === 429 || status === 503 || hint !== undefined) world.origins.gate.refused(this.#origin, hint ?? 0)
    world.tell({ kind: 'retry', file: state.file, error, delay, attempt: this.#retries.count })
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

function errorOf(thrown: unknown, { href, scope }: Target): AuthError {
  return failure(thrown, undefined, URL.canParse(href, scope.url) ? new URL(href, scope.url).href : '')
}

/** The error of a file that is given up. */
function given(error: AuthError): AuthError {
  return error.code === 'HTTP_429' ? rateLimited(error) : error
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
