/** Voice jobs: create a job, upload the recording, wait until it is translated, download the results. */

import { type AuthError, isAuthError, ProtocolError } from '../../../errors.ts'
import { canParseUrl } from '../../../text/can-parse-url.ts'
import { hasStatus } from '../../client/errors.ts'
import type { CallInput, Operation } from '../../client/request.ts'
import type { ApiResponse } from '../../client/response.ts'
import { JobFailedError } from '../errors.ts'
import { marked, oneEnd, poll } from '../poll.ts'
import type { Result, TranslationCallOptions, TranslationService } from '../translation-service.ts'

/** A recording and the results to create from it (`POST /v1/jobs/voice/translate`). */
export interface VoiceJobInput {
  /** Name, media type and size of the recording. */
  readonly source_file: {
    readonly name: string
    /** `audio/mpeg`, `audio/wav`, `audio/ogg`, `audio/flac`, `audio/mp4`, `audio/webm`. */
    readonly content_type: string
    /** Bytes, at most 1 GiB. */
    readonly content_length: number
  }
  /** The language of the recording; default: detected. */
  readonly parameters?: { readonly source_language?: string }
  /** Each result: its language, and `text/plain`, `application/x-subrip` or a media type of audio. */
  readonly targets: readonly { readonly language: string; readonly type: string }[]
}

type VoiceJobTarget = VoiceJobInput['targets'][number]

/** A voice job that was created. The signature and the signed URL are secrets. */
export interface VoiceJob {
  /** Identifier of the job. */
  readonly job_id: string
  /** URL to which the recording is uploaded. */
  readonly upload_url: string
  /** Authorizes the upload; a secret. */
  readonly signature: string
  /** URL that needs no further signature, only with `include: 'signed_url'`; a secret. */
  readonly signed_upload_url?: string
}

/** The state of a voice job (`GET /v1/jobs/voice/translate/{job_id}`). */
export interface VoiceJobState extends Required<VoiceJobInput> {
  /** Identifier of the job. */
  readonly job_id: string
  /** Time of the creation: ISO 8601. */
  readonly created_at: string
  /** Time of the last change: ISO 8601. */
  readonly updated_at: string
  /** Storage that the job uses, as the service counts it. */
  readonly usage: { readonly storage_used: number }
  /**
   * The results in the order of the targets; `status` is `pending`, `uploaded`, `processing`, `complete`, `downloaded` or `failed`.
   * Signatures and signed URLs are secrets.
   */
  readonly results: readonly {
    readonly status: string
    readonly download_url?: string
    readonly signature?: string
    readonly signed_download_url?: string
    readonly error?: { readonly message?: string; readonly code?: string } | null
  }[]
}

type VoiceJobResult = VoiceJobState['results'][number]

/** The result of one target as a stream that can be read once, or its error: `JOB_FAILED`, or the error of its download. */
export type VoiceJobOutcome = VoiceJobTarget & { readonly index: number } & (
    | { readonly result: ApiResponse<ReadableStream<Uint8Array>>; readonly error?: undefined }
    | { readonly result?: undefined; readonly error: AuthError }
  )

/** Options of the methods that return URLs. */
type VoiceJobOptions = TranslationCallOptions & { readonly include?: 'signed_url' }

/** A recording, or another body that is sent unchanged. */
type Recording = NonNullable<CallInput['content']>

/** A downloaded result: its media type is in the headers, its bytes are requested as they are read. */
type VoiceResultStream = ApiResponse<ReadableStream<Uint8Array>>

/** Milliseconds between two requests for the state of a job. */
const PAUSE = 5000

const OVER = new Set(['complete', 'failed', 'downloaded'])

/**
 * Transcription and translation of recordings. Recordings are on other hosts, which receive the signature of the recording, never the key.
 *
 * @example
 * for await (const { language, result, error } of client.voiceJobs.translate(input, () => createReadStream('talk.mp3'))) {
 *   console.log(language, error?.code ?? result)
 * }
 */
export class VoiceJobs {
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /**
   * Creates a job. Retried as `unsafe`. `include` adds a URL for the upload that needs no signature. Errors: `REQUEST_INVALID`,
   * `REQUEST_TOO_LARGE`; `HTTP_429` for too many jobs at a time.
   */
  async create(input: VoiceJobInput, { include, ...options }: VoiceJobOptions = {}): Promise<Result<VoiceJob>> {
    const job = await this.#service.call<VoiceJob>('voiceJobs.create', { body: input, query: { include } }, options)
    this.#protect(job.signature, job.signed_upload_url)
    return job
  }

  /** Returns the state of a job. `include` adds URLs that need no signature. Errors: `HTTP_404` after all downloads, or if it expired. */
  async get(job_id: string, { include, ...options }: VoiceJobOptions = {}): Promise<Result<VoiceJobState>> {
    const state = await this.#service.call<VoiceJobState>('voiceJobs.get', { path: { job_id }, query: { include } }, options)
    for (const { signature, signed_download_url } of state.results) this.#protect(signature, signed_download_url)
    return state
  }

  /**
   * Uploads the recording, within five minutes of the creation of the job. A stream is sent once; bytes, text and a function that returns a
   * stream can be sent again. `size` is that of a stream in bytes. Errors: those of each call; `RESPONSE_INVALID` for an untrusted URL.
   */
  async upload(
    { upload_url, signature, signed_upload_url }: VoiceJob,
    recording: Recording,
    { size, ...options }: TranslationCallOptions & { readonly size?: number } = {},
  ): Promise<void> {
    const to = signed_upload_url === undefined ? { url: upload_url, signature } : { url: signed_upload_url }
    const isStream = typeof recording !== 'string' && !(recording instanceof Uint8Array)
    try {
      await this.#send(UPLOAD, to, { content: recording, ...(isStream && { contentLength: size }) }, options)
    } catch (error) {
      // A repeated upload whose first attempt had succeeded.
      if (!hasStatus(error, 409) || (error.attempts ?? 0) <= 1) throw error
    }
  }

  /** Downloads one of the results, which is possible once; not retried after its first byte. The stream must be read or cancelled. */
  async download(
    { status, download_url, signature, signed_download_url }: VoiceJobResult,
    options: TranslationCallOptions = {},
  ): Promise<VoiceResultStream> {
    const url = signed_download_url ?? download_url
    if (typeof url !== 'string')
      throw new ProtocolError('RESPONSE_INVALID', `voiceJobs.download: the service returned no URL for a target that is ${status}`)
    return this.#send(DOWNLOAD, { url, ...(signed_download_url === undefined && { signature }) }, {}, options)
  }

  /** Waits until all targets are finished. Errors: those of `get`; `TIMEOUT_TOTAL` with `lastState` and `jobId`. */
  async wait(job_id: string, options: VoiceJobOptions = {}): Promise<Result<VoiceJobState>> {
    const isOver = ({ results }: VoiceJobState) => results.length > 0 && results.every(({ status }) => OVER.has(status))
    return this.#until(job_id, isOver, oneEnd(options, this.#service.clock))
  }

  /**
   * Creates a job, uploads the recording, and returns each result when it is ready, in the order in which they become ready. A failed
   * target does not affect the others; `signal` ends all. Errors: those of `create`; those of `upload` and `get`, with `jobId`;
   * `RESPONSE_INVALID` if the service does not report each target.
   */
  async *translate(input: VoiceJobInput, recording: Recording, options: VoiceJobOptions = {}): AsyncGenerator<VoiceJobOutcome, void> {
    const { extraBody, ...whole } = oneEnd(options, this.#service.clock)
    // Headers and query parameters for the service are not sent to the hosts of its recordings.
    const { headers: _headers, query: _query, ...elsewhere } = whole
    const targets = [...input.targets]
    const job = await this.create(input, { ...whole, ...(extraBody && { extraBody }) })
    const { job_id } = job
    await this.upload(job, recording, { ...elsewhere, size: input.source_file.content_length }).catch((error: unknown) => {
      throw marked(error, { jobId: job_id })
    })
    const reported = new Set<number>()
    const isNews = ({ status }: VoiceJobResult, index: number) => OVER.has(status) && !reported.has(index)
    while (reported.size < targets.length) {
      const { results } = await this.#until(job_id, (state) => complete(state, targets.length).some(isNews), whole)
      for (const [index, target] of targets.entries()) {
        const result = results[index]
        if (!result || !isNews(result, index)) continue
        reported.add(index)
        yield { ...target, index, ...(await this.#outcome(job_id, target, result, elsewhere)) }
      }
    }
  }

  async #outcome(
    job_id: string,
    target: VoiceJobTarget,
    result: VoiceJobResult,
    options: VoiceJobOptions,
  ): Promise<{ readonly result: VoiceResultStream } | { readonly error: AuthError }> {
    if (result.status === 'failed') return { error: this.#failed(job_id, target, result) }
    try {
      return { result: await this.download(result, options) }
    } catch (error) {
      marked(error, { jobId: job_id })
      if (!isAuthError(error) || options.signal?.aborted) throw error
      return { error }
    }
  }

  /** Returns the error of a failed target, scrubbed because texts of the service may contain a signature. */
  #failed(jobId: string, { language, type }: VoiceJobTarget, { error }: VoiceJobResult): JobFailedError {
    const { message = 'no details given', code } = error ?? {}
    const said = this.#service.client.scrub(String(message))
    return new JobFailedError(`the voice job ${jobId} could not make ${language} as ${type}: ${said}`, {
      jobId,
      ...(typeof code === 'string' && { serviceCode: code }),
    })
  }

  #until(job_id: string, isDone: (state: VoiceJobState) => boolean, options: VoiceJobOptions): Promise<Result<VoiceJobState>> {
    const { client, clock } = this.#service
    const ask = async (call: VoiceJobOptions) => {
      const state = await this.get(job_id, call)
      client.emit('progress', { operation: 'voiceJobs.get', job_id, statuses: state.results.map(({ status }) => status) })
      return state
    }
    const stateOf = ({ results }: VoiceJobState) => results.map(({ status }) => status).join(', ')
    return poll<Result<VoiceJobState>>(
      { name: 'voiceJobs.get', mark: { jobId: job_id }, ask, isDone, wish: () => PAUSE, stateOf },
      clock,
      options,
    )
  }

  /** Keeps a signature, and the query values of a signed URL, out of errors and events. */
  #protect(signature: string | undefined, address: string | undefined): void {
    if (typeof signature === 'string') this.#service.client.protect(signature)
    if (typeof address !== 'string' || !canParseUrl(address)) return
    for (const value of new URL(address).searchParams.values()) this.#service.client.protect(value)
  }

  /** Sends a request to the host of a recording, with its signature and no key, not even the key that a call names in `credential`. */
  async #send<T>(
    operation: Omit<Operation, 'path'>,
    { url, signature }: { readonly url: string; readonly signature?: string | undefined },
    input: CallInput,
    { credential: _credential, reportingTag: _tag, encoding: _encoding, validate: _validate, ...options }: TranslationCallOptions,
  ): Promise<ApiResponse<T>> {
    this.#protect(signature, url)
    const api = await this.#service.api()
    const { client, path } = api.elsewhere(url, signature === undefined ? {} : { authorization: `DeepL-Signature ${signature}` })
    return client.send<T>({ ...operation, path }, input, { ...options, totalTimeout: options.totalTimeout ?? false })
  }
}

/** Returns the results of all targets. Fewer would make the caller wait forever; more were not requested. */
function complete({ results }: VoiceJobState, targets: number): readonly VoiceJobResult[] {
  if (results.length === targets) return results
  throw new ProtocolError('RESPONSE_INVALID', `voiceJobs.get: ${targets} targets were requested, the response has ${results.length}`)
}

const UPLOAD: Omit<Operation, 'path'> = {
  name: 'voiceJobs.upload',
  method: 'PUT',
  replay: 'idem',
  contentType: 'application/octet-stream',
  response: 'text',
  // No timeout for the upload: the timeout for headers starts after the body.
  timeout: Number.POSITIVE_INFINITY,
}

const DOWNLOAD: Omit<Operation, 'path'> = { name: 'voiceJobs.download', method: 'GET', replay: 'once', response: 'stream', accept: '*/*' }
