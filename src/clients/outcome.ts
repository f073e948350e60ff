/** What an answer, or none, means. */
import { type AuthError, isAuthError, NetworkError, TimeoutError } from '../errors.ts'
import { type Collected, isUncollected, type Uncollected } from '../http/collect.ts'
import { type HttpRequest, queryValues } from '../http/message.ts'
import { retryHint } from '../http/retry-after.ts'
import { annotate } from './annotate.ts'
import type { Attempts } from './attempt.ts'
import type { CallParts } from './call.ts'
import { decode } from './decode.ts'
import { httpFailure } from './http-failure.ts'
import { redirectRefusal } from './redirect-refusal.ts'
import { type Failure, verdictOn } from './replay.ts'

/** A success with its data, or a failure. */
export type Outcome = Success | Failure

interface Success {
  readonly answer: Collected
  readonly data: unknown
}

export function isFailure(outcome: Outcome): outcome is Failure {
  return 'error' in outcome
}

/** Judges the results of one call's attempts. */
export class Outcomes {
  readonly #parts: CallParts
  readonly #attempts: Attempts
  readonly #url: string

  constructor(parts: CallParts, attempts: Attempts, url: string) {
    this.#parts = parts
    this.#attempts = attempts
    this.#url = url
  }

  /** @param plain the request before it was authorized */
  of(result: Collected | Uncollected, plain: HttpRequest): Outcome {
    if (isUncollected(result)) return this.#silence(result)
    const { status } = result
    if (status >= 200 && status < 300) return this.#success(result, plain)
    return this.#refusal(result, plain)
  }

  /** `TIMEOUT_ATTEMPT`. */
  attemptTimeout(timeout: number): TimeoutError {
    const message = `${this.#url}: no complete answer within ${timeout} ms`
    return new TimeoutError('TIMEOUT_ATTEMPT', message, { url: this.#url, retryable: true })
  }

  /** Knows the secrets of this very request. What differs from the plain request is its material. */
  scrubber(plain: HttpRequest): (text: string) => string {
    const { settings, prepared, input } = this.#parts
    const { redactor } = settings
    const { sent } = this.#attempts
    for (const [name, value] of Object.entries(sent?.headers ?? {})) if (value !== plain.headers[name]) redactor.addHeader(value)
    if (sent && sent.url !== plain.url) for (const value of addedValues(sent.url, plain.url)) redactor.add(value)
    const secrets = prepared.operation.secrets ?? []
    redactor.addMembers(input.body, secrets)
    redactor.addMembers(input.query, secrets)
    return redactor.scrub
  }

  #silence({ error, ...rest }: Uncollected): Failure {
    annotate(error, { sent: rest.sent })
    return { error, ...rest }
  }

  #success(answer: Collected, plain: HttpRequest): Outcome {
    const { prepared, settings } = this.#parts
    const scrub = (text: string) => this.scrubber(plain)(text)
    const { operation, responseKind: kind } = prepared
    try {
      const secret = operation.secretAnswer === true
      return { answer, data: decode(answer, { kind, codec: settings.codec, parseJson: settings.parseJson, url: this.#url, scrub, secret }) }
    } catch (error) {
      if (!isAuthError(error)) throw error
      return { error, status: answer.status, headers: answer.headers, sent: true, begun: true }
    }
  }

  #refusal(answer: Collected, plain: HttpRequest): Failure {
    const { status, headers } = answer
    const { settings } = this.#parts
    const { clock } = settings.limits
    const failed = { status, headers, sent: true, begun: true }
    const refusal = redirectRefusal(status, headers.get('location'), this.#url)
    if (refusal) return { ...failed, error: refusal }
    const hint = settings.hints[status]
    const retryAfterMs = retryHint(headers, clock.now())
    const retryable = verdictOn({ ...failed, error: NO_ERROR }, 'idem') !== 'never'
    const error = httpFailure({
      ...failed,
      text: answer.text(),
      url: this.#url,
      method: plain.method,
      retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(hint !== undefined && { hint }),
      scrub: this.scrubber(plain),
    })
    return { ...failed, error }
  }
}

const NO_ERROR = new NetworkError('NETWORK_FAILED', '') as AuthError

/** Values of the parameters that the plain address does not have. */
function addedValues(url: string, plain: string): readonly string[] {
  const names = new Set(new URL(url).searchParams.keys())
  return [...names].flatMap((name) => queryValues(url, name).filter((value) => !queryValues(plain, name).includes(value)))
}
