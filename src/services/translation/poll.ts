/** Polls until a result is ready. */
import { type AuthError, isAuthError, TimeoutError } from '../../errors.ts'
import { Interruption, sleep } from '../../net/cancellation.ts'
import { type Clock, startTimer } from '../../net/clock.ts'
import { described } from '../client/errors.ts'

/** The request to repeat, and the delay after each response. */
export interface PollSource<State> {
  /** Name of the operation in errors: `documents.status`. */
  readonly name: string
  ask(signal: AbortSignal): Promise<State>
  /** Milliseconds until the next request; undefined when the state is final. */
  delayAfter(state: State): number | undefined
  /** The name of the last state, if there is one, for errors. */
  stateOf(state: State | undefined): string | undefined
  readonly clock: Clock
}

export interface PollOptions {
  readonly signal?: AbortSignal
  readonly deadline?: Date
}

/**
 * Returns the final state. Removes its timers and listeners.
 *
 * Errors: those of the requests, `ABORTED`, `TIMEOUT_TOTAL` at the deadline with the last state in `lastState`; `attempts` is at least the
 * number of requests.
 */
export async function poll<State>(source: PollSource<State>, { signal, deadline }: PollOptions = {}): Promise<State> {
  const { clock } = source
  const interruption = new Interruption(signal)
  let last: State | undefined
  let asked = 0
  const left = deadline && deadline.getTime() - clock.now()
  const stop =
    left === undefined ? undefined : startTimer(clock, Math.max(0, left), () => interruption.interrupt(tooLate(source.name)), 'guard')
  // The timer would fire only after the first request.
  if (left !== undefined && left <= 0) interruption.interrupt(tooLate(source.name))
  try {
    for (;;) {
      if (interruption.reason) throw interruption.reason
      asked++
      const state = await source.ask(interruption.signal)
      last = state
      const delay = source.delayAfter(state)
      if (delay === undefined) return state
      if (deadline && clock.now() + delay > deadline.getTime()) throw tooLate(source.name)
      await sleep(delay, clock, interruption.signal)
    }
  } catch (error) {
    // A request that the deadline ended says only that it was aborted.
    throw described(withState(interruption.reason ?? error, source.stateOf(last)), asked, source.name)
  } finally {
    stop?.()
    interruption.close()
  }
}

function tooLate(name: string): AuthError {
  return new TimeoutError('TIMEOUT_TOTAL', `${name}: not ready at the deadline`, {
    retryable: true,
    hint: 'resume later with the data of the error',
  })
}

function withState(error: unknown, state: string | undefined): unknown {
  if (state === undefined || !isAuthError(error) || 'lastState' in error || !Object.isExtensible(error)) return error
  return Object.defineProperty(error, 'lastState', { value: state, enumerable: true })
}
