/** Evaluation of translations: what is wrong with them, and where. */
import { retryHint } from '../../net/retry.ts'
import { described } from '../client/errors.ts'
import { rawPath } from '../client/request-builder.ts'
import { JobFailedError } from './errors.ts'
import { operations } from './operations.ts'
import { poll } from './poll.ts'
import { checkCount, checkTextLength } from './translate-text.ts'
import {
  named,
  namedJob,
  oneEnd,
  type Result,
  resultOf,
  type TranslationCallOptions,
  type TranslationService,
} from './translation-service.ts'

/** A text and its translation. */
export interface QualitySegment {
  readonly source: string
  readonly target: string
}

/** Texts and their translations whose quality is evaluated. */
export interface QualityInput {
  readonly metadata: { readonly source_language: string; readonly target_language: string }
  /** 1 to 500; each side 1 to 10 000 characters. */
  readonly segments: readonly QualitySegment[]
}

/** An evaluation that was asked for. */
export interface QualityJob {
  readonly job_id: string
  /** Where it is asked after; only followed on the host of the service. */
  readonly poll_url?: string
}

/** One mistake. `sliceCodePoints` gives the text of a span. */
export interface QualityMistake {
  /** `Accuracy`, `Fluency`, `Style`, `Miscellaneous`. */
  readonly type: string
  readonly sub_type: string
  /** `Critical`, `Major`, `Minor`. */
  readonly severity: string
  readonly explanation: string
  readonly source_spans: readonly CodePointSpan[]
  readonly target_spans: readonly CodePointSpan[]
}

/** How far an evaluation is. */
export interface QualityState {
  readonly job_id: string
  /** `processing`, `done`, `error`. */
  readonly status: string
  readonly segments?: readonly { readonly segment_index: number; readonly errors: readonly QualityMistake[] }[]
  /** The score goes from 0 to 100. */
  readonly summary?: { readonly overall_score: number; readonly granular_counts: Readonly<Record<string, number>> }
  readonly error?: { readonly code?: string; readonly message?: string }
}

/** An evaluation that is done. */
export type QualityReport = QualityState & Required<Pick<QualityState, 'segments' | 'summary'>>

const MOST_SEGMENTS = 500

const LONGEST_SIDE = 10_000

/** Milliseconds between questions where the service names none, growing, and where it names too many. */
const FIRST_PAUSE = 1000

const LONGEST_PAUSE = 15_000

const LONGEST_WISH = 60_000

/**
 * Asks for evaluations and after them.
 *
 * @example const { summary } = await client.quality.evaluate({ metadata: { source_language: 'en', target_language: 'de' }, segments })
 */
export class Quality {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Asks for an evaluation; the service keeps it for a day. Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`. */
  submit(input: QualityInput, options: TranslationCallOptions = {}): Promise<Result<QualityJob>> {
    return named('quality.submit', async () => {
      if (this.#service.validation(options) === 'strict') checkSegments(input.segments)
      return this.#service.call('quality.submit', { body: input }, options)
    })
  }

  /** Asks once how far it is. */
  async poll({ job_id, poll_url }: QualityJob, options: TranslationCallOptions = {}): Promise<Result<QualityState>> {
    const path = poll_url ? await this.#ownPath(poll_url) : undefined
    if (path === undefined) return this.#service.call('quality.poll', { path: { job_id } }, options)
    const operation = { ...operations['quality.poll'], path: rawPath(path) }
    const answer = await this.#service.perform(operation, {}, options)
    try {
      return resultOf(operation, answer, path)
    } catch (error) {
      throw described(error, answer.attempts, operation.name)
    }
  }

  /** Asks until it is done, as often as the service wishes. Errors: `JOB_FAILED`, `TIMEOUT_TOTAL` with `lastState` and `jobId`. */
  async wait(job: QualityJob, options: TranslationCallOptions = {}): Promise<Result<QualityReport>> {
    return this.#waited(job, undefined, oneEnd(options, this.#service.clock))
  }

  /** Asks for an evaluation and waits for it, both before one end. Errors: those of both; once there is a job they name it in `jobId`. */
  async evaluate(input: QualityInput, options: TranslationCallOptions = {}): Promise<Result<QualityReport>> {
    const whole = oneEnd(options, this.#service.clock)
    const job = await this.submit(input, whole)
    const { extraBody: _extraBody, ...later } = whole
    return this.#waited(job, { job_id: job.job_id, status: 'processing', response: job.response } as Result<QualityState>, later)
  }

  /** The path of an address on this very host; nothing for any other, which the identifier of the job replaces. */
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
        stateOf: ({ status }) => status,
        delayAfter: ({ status, response }) => {
          if (status === 'done' || status === 'error') return undefined
          pause = Math.min(pause * 1.5, LONGEST_PAUSE)
          return Math.min(retryHint(response.headers, clock.now()) ?? pause, LONGEST_WISH)
        },
      },
      { ...(signal && { signal }), ...(deadline && { deadline }) },
    ).catch((error: unknown) => {
      throw namedJob(error, job.job_id)
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

function checkSegments(segments: readonly QualitySegment[]): void {
  checkCount(segments, 'segments', { most: MOST_SEGMENTS })
  for (const [index, segment] of segments.entries())
    for (const side of ['source', 'target'] as const) checkTextLength(segment[side], `segments[${index}].${side}`, LONGEST_SIDE)
}

/** A half-open range of code points: the first, and the one behind the last. */
export type CodePointSpan = readonly [start: number, end: number]

/**
 * The part of a text between two code points: spans of an evaluation do not count the halves of surrogate pairs.
 *
 * @example sliceCodePoints('Na 😀 du', [3, 4]) // '😀'
 */
export function sliceCodePoints(text: string, [start, end]: CodePointSpan): string {
  const from = unitsBefore(text, start)
  return text.slice(from, from + unitsBefore(text.slice(from), end - start))
}

/** Code units of that many code points; all there are when there are fewer. */
function unitsBefore(text: string, points: number): number {
  let at = 0
  for (let left = points; left > 0 && at < text.length; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at
}
