/** Authorizes many targets: a stream of targets in, a stream of requests out, with a limited number in progress. */
import type { Auth, AuthorizedRequest, AuthorizeOptions } from '../auth/auth.ts'
import { type AuthError, ConfigurationError, isAuthError } from '../errors.ts'
import { throwIfAborted } from '../net/cancellation.ts'
import type { Target } from '../stac/target.ts'
import { ANYTHING, checkArgument, checkNamed, FLAG, SIGNAL, type Table, TEXT, withMethods } from './base/check-options.ts'
import { internalError } from './base/system-error.ts'

/** A target; alternatives, of which the first usable one is authorized; or an error that is passed on in place of a target. */
export type TargetInput = Target | readonly [Target, ...Target[]] | AuthError

/** The authorized request of a target, or the error. */
export type AuthorizedTarget =
  | { readonly target: Target; readonly request: AuthorizedRequest; readonly error?: undefined }
  /** The target is absent for an error that was passed on. */
  | { readonly target?: Target; readonly request?: undefined; readonly error: AuthError }

/** Options of `authorizeAll`. */
export interface AuthorizeAllOptions extends Pick<AuthorizeOptions, 'signal' | 'method' | 'presign'> {
  /** Number of targets in progress, 1 to 10,000; default: 64. The limits of signing APIs apply as well. */
  readonly concurrency?: number
  /** False yields each result as soon as it is known; default: in the order of the targets. */
  readonly ordered?: boolean
}

/** A target in progress. */
interface Place {
  outcome?: AuthorizedTarget | Thrown
}

/** An error that ends the stream at this place. */
interface Thrown {
  readonly thrown: unknown
}

const OPTIONS: Table<AuthorizeAllOptions> = { signal: SIGNAL, method: TEXT, presign: ANYTHING, concurrency: ANYTHING, ordered: FLAG }

const CONCURRENCY = 64
const MOST = 10_000

/**
 * Authorizes targets from a stream and yields each request, or the error of the target. The stream is read only as fast as results are
 * taken, and a result is yielded at once while the stream waits, so that it can be used as a filter.
 *
 * Errors: `CONFIG_INVALID` for the options and credentials, `ABORTED`; those of the stream, after the results of the targets before.
 *
 * @example
 * for await (const { target, request, error } of authorizeAll(auth, targetsOf(item))) {
 *   console.log(target?.pointer, error ? error.code : request.url)
 * }
 */
export async function* authorizeAll(
  auth: Pick<Auth, 'authorize'>,
  targets: AsyncIterable<TargetInput> | Iterable<TargetInput>,
  options: AuthorizeAllOptions = {},
): AsyncGenerator<AuthorizedTarget> {
  checkArgument('the first argument of authorizeAll', auth, withMethods('an engine of createAuth', 'authorize'))
  checkNamed('authorizeAll', options, OPTIONS)
  const { concurrency = CONCURRENCY, ordered = true, signal } = options
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MOST)
    throw new ConfigurationError('CONFIG_INVALID', `concurrency is not a whole number from 1 to ${MOST}: ${String(concurrency)}`)
  if (!(Symbol.iterator in Object(targets) || Symbol.asyncIterator in Object(targets)))
    throw new ConfigurationError('CONFIG_INVALID', 'the second argument is not a list of targets', { hint: 'pass targetsOf(document)' })
  const inputs = isAsync(targets) ? targets[Symbol.asyncIterator]() : targets[Symbol.iterator]()
  const places: Place[] = []
  let state: 'open' | 'reading' | 'ended' = 'open'
  let wake = () => {}
  const onAbort = () => wake()
  const settle = (place: Place, outcome: AuthorizedTarget | Thrown) => {
    place.outcome = outcome
    wake()
  }

  const start = (input: TargetInput) => {
    const place: Place = {}
    places.push(place)
    if (isAuthError(input)) settle(place, { error: input })
    else
      authorizeFirst(auth, input, options).then(
        (result) => settle(place, result),
        (thrown: unknown) => settle(place, { thrown }),
      )
  }

  const read = async () => {
    state = 'reading'
    try {
      const { done, value } = await inputs.next()
      state = done ? 'ended' : 'open'
      if (!done) start(value)
    } catch (thrown) {
      state = 'ended'
      places.push({ outcome: { thrown } })
    }
    wake()
  }

  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      throwIfAborted(signal)
      if (state === 'open' && places.length < concurrency) void read()
      const at = ordered ? 0 : places.findIndex(({ outcome: settled }) => settled && !('thrown' in settled))
      const { outcome } = places[Math.max(at, 0)] ?? {}
      if (outcome) {
        if ('thrown' in outcome) throw outcome.thrown
        places.splice(at, 1)
        yield outcome
      } else if (places.length === 0 && (state as string) === 'ended') return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    // Not awaited: a stream that waits for its source ends only after the next value.
    void Promise.resolve(inputs.return?.()).catch(() => undefined)
  }
}

/** Authorizes the first usable target; if there is none, returns the error of the first one. Throws errors that are not about a target. */
async function authorizeFirst(
  auth: Pick<Auth, 'authorize'>,
  input: Target | readonly [Target, ...Target[]],
  options: AuthorizeOptions,
): Promise<AuthorizedTarget> {
  const [first, ...others] = Array.isArray(input) ? (input as readonly [Target, ...Target[]]) : [input as Target]
  const result = await authorized(auth, first, options)
  for (const target of result.error ? others : []) {
    const next = await authorized(auth, target, options)
    if (next.request) return next
  }
  return result
}

async function authorized(auth: Pick<Auth, 'authorize'>, target: Target, options: AuthorizeOptions): Promise<AuthorizedTarget> {
  try {
    return { target, request: await auth.authorize(target, options) }
  } catch (error) {
    // A fault of a strategy is one of its targets; its text may contain a secret.
    if (!isAuthError(error)) return { target, error: internalError(error) }
    if (error.code === 'ABORTED' || error.code === 'CONFIG_INVALID') throw error
    return { target, error }
  }
}

function isAsync(targets: AsyncIterable<TargetInput> | Iterable<TargetInput>): targets is AsyncIterable<TargetInput> {
  return Symbol.asyncIterator in Object(targets)
}
