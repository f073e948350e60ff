/** Evaluations of the quality of translations: the mistakes and where they are. */
import { retryHint } from '../../net/retry.ts'
import { described } from '../client/errors.ts'
import { rawPath } from '../client/request.ts'
import { JobFailedError } from './errors.ts'
import { operations } from './operations.ts'
import { poll } from './poll.ts'
import { namedJob, oneEnd, type Result, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** Texts and their translations whose quality is evaluated (`POST /v1/quality-evaluation`). */
export interface QualityInput {
  /** The languages of all segments. */
  readonly metadata: { readonly source_language: string; readonly target_language: string }
  /** 1 to 500 texts with their translations, each of 1 to 10 000 characters. */
  readonly segments: readonly { readonly source: string; readonly target: string }[]
}

/** An evaluation that was submitted. */
export interface QualityJob {
  /** Identifier of the job; the service keeps it for a day. */
  readonly job_id: string
  /** URL of the state; used only on the host of the service. */
  readonly poll_url?: string
}

/** The state of an evaluation. */
export interface QualityState {
  /** Identifier of the job. */
  readonly job_id: string
  /** `processing`, `done`, `error`. */
  readonly status: string
  /**
   * The mistakes of each segment: `type` is `Accuracy`, `Fluency`, `Style` or `Miscellaneous`, `severity` is `Critical`, `Major` or
   * `Minor`. Spans are half-open ranges of code points, for `sliceCodePoints`.
   */
  readonly segments?: readonly {
    readonly segment_index: number
    readonly errors: readonly {
      readonly type: string
      readonly sub_type: string
      readonly severity: string
      readonly explanation: string
      readonly source_spans: readonly (readonly [start: number, end: number])[]
      readonly target_spans: readonly (readonly [start: number, end: number])[]
    }[]
  }[]
  /** The score from 0 to 100, and the number of mistakes by kind. */
  readonly summary?: { readonly overall_score: number; readonly granular_counts: Readonly<Record<string, number>> }
  /** Reason for the failure of the evaluation. */
  readonly error?: { readonly code?: string; readonly message?: string }
}

/** A finished evaluation. */
export type QualityReport = QualityState & Required<Pick<QualityState, 'segments' | 'summary'>>

/**
 * Delays between requests for the state in milliseconds: the first and the longest without `Retry-After`, and the longest `Retry-After`
 * that is used.
 */
const FIRST_PAUSE = 1000

const LONGEST_PAUSE = 15_000

const LONGEST_WISH = 60_000

/**
 * Evaluations of the quality of translations.
 *
 * @example const { summary } = await client.quality.evaluate({ metadata: { source_language: 'en', target_language: 'de' }, segments })
 */
export class Quality {
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Submits an evaluation. Errors: `REQUEST_INVALID` for no segments, `REQUEST_TOO_LARGE` for more than 500 segments and for long ones. */
  submit(input: QualityInput, options: TranslationCallOptions = {}): Promise<Result<QualityJob>> {
    return this.#service.call('quality.submit', { body: input }, options)
  }

  /** Returns the current state of an evaluation. */
  async poll({ job_id, poll_url }: QualityJob, options: TranslationCallOptions = {}): Promise<Result<QualityState>> {
    const path = poll_url ? await this.#ownPath(poll_url) : undefined
    if (path === undefined) return this.#service.call('quality.poll', { path: { job_id } }, options)
    return this.#service.call({ ...operations['quality.poll'], path: rawPath(path) }, {}, options)
  }

  /**
   * Waits for an evaluation, with the delay of `Retry-After` if there is one. Errors: `JOB_FAILED`, `TIMEOUT_TOTAL` with `lastState` and
   * `jobId`.
   */
  async wait(job: QualityJob, options: TranslationCallOptions = {}): Promise<Result<QualityReport>> {
    return this.#waited(job, undefined, oneEnd(options, this.#service.clock))
  }

  /**
   * Submits an evaluation and waits for it, within one timeout. Errors: those of `submit` and `wait`; `jobId` is the job, if there is one.
   */
  async evaluate(input: QualityInput, options: TranslationCallOptions = {}): Promise<Result<QualityReport>> {
    const whole = oneEnd(options, this.#service.clock)
    const job = await this.submit(input, whole)
    const { extraBody: _extraBody, ...later } = whole
    return this.#waited(job, { job_id: job.job_id, status: 'processing', response: job.response } as Result<QualityState>, later)
  }

  /** Returns the path of a URL on the host of the service; undefined for any other host, and then the identifier of the job is used. */
  async #ownPath(poll_url: string): Promise<string | undefined> {
    const api = await this.#service.api()
    try {
      return api.pathOf(poll_url, operations['quality.submit'].path)
    } catch {
      return undefined
    }
  }

  /** @param known a state that was already reported, with the time to wait */
  async #waited(
    job: QualityJob,
    known: Result<QualityState> | undefined,
    { signal, deadline, ...options }: TranslationCallOptions,
  ): Promise<Result<QualityReport>> {
    const { clock } = this.#service
    let told = known
    let pause = FIRST_PAUSE / 1.5
    const state = await poll<Result<QualityState>>(
      {
        name: 'quality.poll',
        clock,
        ask: async (ending) => {
          const first = told
          told = undefined
          return first ?? this.poll(job, { ...options, signal: ending })
        },
        stateOf: (last) => last?.status,
        delayAfter: ({ status, response }) => {
          if (status === 'done' || status === 'error') return undefined
          pause = Math.min(pause * 1.5, LONGEST_PAUSE)
          return Math.min(retryHint(response.headers, clock.now()) ?? pause, LONGEST_WISH)
        },
      },
      { signal, deadline },
    ).catch((failure: unknown) => {
      throw namedJob(failure, job.job_id)
    })
    if (state.status === 'done') return state as Result<QualityReport>
    const { code, message = 'no details given' } = state.error ?? {}
    const error = new JobFailedError(this.#service.scrub(`the evaluation ${job.job_id} failed: ${message}`), {
      jobId: job.job_id,
      ...(code !== undefined && { serviceCode: code }),
    })
    throw described(error, state.response.attempts, 'quality.poll')
  }
}

/**
 * Returns the part of a text between two code points, the end excluded: evaluations count code points, JavaScript counts UTF-16 code units.
 *
 * @example sliceCodePoints('Na 😀 du', [3, 4]) // '😀'
 */
export function sliceCodePoints(text: string, [start, end]: readonly [start: number, end: number]): string {
  const from = unitsBefore(text, start)
  return text.slice(from, from + unitsBefore(text.slice(from), end - start))
}

/** Returns the number of code units of that many code points, at most the length of the text. */
function unitsBefore(text: string, points: number): number {
  let at = 0
  for (let left = points; left > 0 && at < text.length; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at
}
