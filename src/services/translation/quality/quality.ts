/** Evaluations of the quality of translations: the mistakes and where they are. */
import { retryHint } from '../../../net/retry.ts'
import { described } from '../../client/errors.ts'
import { rawPath } from '../../client/request.ts'
import { JobFailedError } from '../errors.ts'
import { operations } from '../operations.ts'
import { oneEnd, poll } from '../poll.ts'
import { methodsOf, type Result, type ServiceMethod, type TranslationCallOptions, type TranslationService } from '../translation-service.ts'

/** Texts and their translations whose quality is evaluated (`POST /v1/quality-evaluation`). */
export interface QualityInput {
  /** The languages of all segments. */
  readonly metadata: { readonly source_language: string; readonly target_language: string }
  /** 1 to 500 texts with their translations, each of 1 to 10 000 characters. */
  readonly segments: readonly { readonly source: string; readonly target: string }[]
}

/** An evaluation that was submitted; the service keeps it for a day. */
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
      /** Where in the source text. */
      readonly source_spans: readonly Span[]
      /** Where in the translation. */
      readonly target_spans: readonly Span[]
    }[]
  }[]
  /** The score from 0 to 100, and the number of mistakes by kind. */
  readonly summary?: { readonly overall_score: number; readonly granular_counts: Readonly<Record<string, number>> }
  /** Reason for the failure of the evaluation. */
  readonly error?: { readonly code?: string; readonly message?: string }
}

/** A finished evaluation. */
export type QualityReport = QualityState & Required<Pick<QualityState, 'segments' | 'summary'>>

/** Longest `Retry-After` that is waited for, in milliseconds. */
const LONGEST_WISH = 60_000

/**
 * Evaluations of the quality of translations.
 *
 * @example const { summary } = await client.quality.evaluate({ metadata: { source_language: 'en', target_language: 'de' }, segments })
 */
export interface Quality {
  /** Submits an evaluation. Errors: `REQUEST_INVALID` for no segments, `REQUEST_TOO_LARGE` for more than 500 segments and for long ones. */
  readonly submit: ServiceMethod<[input: QualityInput], QualityJob>
  /** Returns the current state of an evaluation. */
  readonly poll: ServiceMethod<[job: QualityJob], QualityState>
  /** Waits for an evaluation, as long as `Retry-After` says. Errors: `JOB_FAILED`, `TIMEOUT_TOTAL` with `lastState` and `jobId`. */
  readonly wait: ServiceMethod<[job: QualityJob], QualityReport>
  /** Submits an evaluation and waits for it, within one timeout. Errors: those of `submit` and `wait`; `jobId` is the job, if there is one. */
  readonly evaluate: ServiceMethod<[input: QualityInput], QualityReport>
}

export function qualityOf(service: TranslationService): Quality {
  const { clock } = service
  const { submit } = methodsOf<Pick<Quality, 'submit'>>(service, 'quality')

  /** Uses the URL of the state on the host of the service, for any other one the identifier of the job. */
  const ask: Quality['poll'] = async ({ job_id, poll_url }, options) => {
    const row = operations['quality.poll']
    const path = poll_url ? await ownPath(service, poll_url) : undefined
    return path === undefined
      ? service.call(row, { path: { job_id } }, options)
      : service.call({ ...row, path: rawPath(path) }, {}, options)
  }

  const waited = async (job: QualityJob, options: TranslationCallOptions, known?: Result<QualityState>) => {
    const source = {
      name: 'quality.poll',
      mark: { jobId: job.job_id },
      ask: (call: TranslationCallOptions) => ask(job, call),
      isDone: ({ status }: Result<QualityState>) => status === 'done' || status === 'error',
      wish({ response }: Result<QualityState>) {
        const wish = retryHint(response.headers, clock.now())
        return wish && Math.min(wish, LONGEST_WISH)
      },
      stateOf: ({ status }: Result<QualityState>) => status,
    }
    const state = await poll(source, clock, options, known)
    if (state.status === 'done') return state as Result<QualityReport>
    const { code, message = 'no details given' } = state.error ?? {}
    const error = new JobFailedError(service.client.scrub(`the evaluation ${job.job_id} failed: ${message}`), {
      jobId: job.job_id,
      ...(code !== undefined && { serviceCode: code }),
    })
    throw described(error, state.response.attempts, 'quality.poll')
  }

  return {
    submit,
    poll: ask,
    wait: async (job, options = {}) => waited(job, oneEnd(options, clock)),
    async evaluate(input, options = {}) {
      const whole = oneEnd(options, clock)
      const job = await submit(input, whole)
      const { extraBody: _extraBody, ...later } = whole
      return waited(job, later, { job_id: job.job_id, status: 'processing', response: job.response })
    },
  }
}

/** Returns the path of a URL on the host of the service; undefined for any other host. */
async function ownPath(service: TranslationService, url: string): Promise<string | undefined> {
  const api = await service.api()
  try {
    return api.pathOf(url, operations['quality.submit'].path)
  } catch {
    return undefined
  }
}

/** A range of code points from 0, its end excluded. */
interface Span {
  /** The first code point. */
  readonly start: number
  /** The code point after the last. */
  readonly end: number
}

/**
 * Returns the part of a text between two code points, the end excluded: evaluations count code points, JavaScript counts UTF-16 code units.
 *
 * @example sliceCodePoints('Na 😀 du', { start: 3, end: 4 }) // '😀'
 */
export function sliceCodePoints(text: string, { start, end }: Span): string {
  const from = unitsBefore(text, start)
  return text.slice(from, from + unitsBefore(text.slice(from), end - start))
}

/** Returns the number of code units of that many code points, at most the length of the text. */
function unitsBefore(text: string, points: number): number {
  let at = 0
  for (let left = points; left > 0 && at < text.length; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at
}
