/** Polls until a result is ready, for documents, voice jobs and evaluations. */
import { type AuthError, isAuthError, TimeoutError } from '../../errors.ts'
import { Interruption, sleep } from '../../net/cancellation.ts'
import { type Clock, startTimer } from '../../net/clock.ts'
import { deadlineOf } from '../client/call.ts'
import { annotate, described } from '../client/errors.ts'
import type { TranslationCallOptions } from './translation-service.ts'

/** The request to repeat. */
export interface PollSource<State> {
  /** Name of the operation in errors: `documents.status`. */
  readonly name: string
  /** Added to errors, so that the caller can continue later: the handle of a document, the identifier of a job. */
  readonly mark: Readonly<Record<string, unknown>>
  ask(options: TranslationCallOptions): Promise<State>
  isDone(state: State): boolean
  /** Milliseconds that the service wishes between two requests; default: 1 s, then half as long again each time, at most 15 s. */
  wish?(state: State): number | undefined
  /** The name of a state, for errors. */
  stateOf?(state: State): string | undefined
}

const [FIRST, LONGEST] = [1000, 15_000]

/**
 * Returns the final state. Removes its timers and listeners.
 *
 * Errors: those of the requests, `ABORTED`, `TIMEOUT_TOTAL` at the deadline with the last state in `lastState`; `attempts` is at least the
 * number of requests.
 *
 * @param known a state that was already reported
 */
export async function poll<State extends object>(
  { name, mark, ask, isDone, wish, stateOf }: PollSource<State>,
  clock: Clock,
  { signal, deadline, ...options }: TranslationCallOptions,
  known?: State,
): Promise<State> {
  const interruption = new Interruption(signal)
  const end = deadline?.getTime() ?? Number.POSITIVE_INFINITY
  const left = end - clock.now()
  const late = () => interruption.interrupt(tooLate(name))
  // A timer would fire only after the first request.
  if (left <= 0) late()
  const stop = left > 0 && left < Number.POSITIVE_INFINITY ? startTimer(clock, left, late, 'guard') : undefined
  let state = known
  let asked = 0
  let pause = FIRST
  try {
    for (;;) {
      if (interruption.reason) throw interruption.reason
      if (state) {
        const delay = wish?.(state) ?? pause
        pause = Math.min(LONGEST, pause * 1.5)
        if (clock.now() + delay > end) throw tooLate(name)
        await sleep(delay, clock, interruption.signal)
      }
      asked++
      // A deadline of a request would end with its headers.
      state = await ask({ ...options, signal: interruption.signal })
      if (isDone(state)) return state
    }
  } catch (error) {
    const lastState = state && stateOf?.(state)
    // A request that the deadline ended says only that it was aborted.
    throw described(marked(interruption.reason ?? error, { ...(lastState !== undefined && { lastState }), ...mark }), asked, name)
  } finally {
    stop?.()
    interruption.close()
  }
}

/** Adds fields that an error does not have yet. */
export function marked(error: unknown, fields: Readonly<Record<string, unknown>>): unknown {
  if (isAuthError(error)) annotate(error, Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in error))))
  return error
}

/**
 * Returns options for several steps that share one end, the earlier one of `totalTimeout` and `deadline`. Errors: `REQUEST_INVALID` for an
 * invalid time.
 */
export function oneEnd<Options extends TranslationCallOptions>(
  given: Options,
  clock: Clock,
): Omit<Options, 'totalTimeout' | 'deadline'> & { readonly deadline?: Date } {
  const { totalTimeout: _, deadline: __, ...options } = given
  // Invalid for an end that is never.
  const deadline = new Date(deadlineOf(given, clock.now(), false))
  return Number.isNaN(deadline.getTime()) ? options : { ...options, deadline }
}

function tooLate(name: string): AuthError {
  const hint = 'resume later with the data of the error'
  return new TimeoutError('TIMEOUT_TOTAL', `${name}: not ready at the deadline`, { retryable: true, hint })
}
