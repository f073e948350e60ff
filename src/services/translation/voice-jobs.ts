/** Recordings that are translated while nobody waits for each word: asked for, uploaded, waited for, fetched. */

import { type AuthError, isAuthError, ProtocolError } from '../../errors.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import type { ApiResponse } from '../client/call.ts'
import { HttpError } from '../client/errors.ts'
import type { CallInput, Operation } from '../client/request-builder.ts'
import { JobFailedError } from './errors.ts'
import { poll } from './poll.ts'
import {
  named,
  namedJob,
  oneEnd,
  type Result,
  type TranslationCallOptions,
  type TranslationService,
  withElements,
} from './translation-service.ts'
import { checkVoiceJob } from './voice-messages.ts'

/** What is to be made of which recording. */
export interface VoiceJobInput {
  readonly source_file: {
    readonly name: string
    /** `audio/mpeg`, `audio/wav`, `audio/ogg`, `audio/flac`, `audio/mp4`, `audio/webm`. */
    readonly content_type: string
    /** Bytes, at most 1 GiB. */
    readonly content_length: number
  }
  readonly parameters?: { readonly source_language?: string }
  readonly targets: readonly VoiceJobTarget[]
}

/** One thing that is made: text, subtitles or speech. */
export interface VoiceJobTarget {
  readonly language: string
  /** `text/plain`, `application/x-subrip` or a type of audio. */
  readonly type: string
}

/** Where the recording goes. The signature and the signed address are secrets. */
export interface VoiceJob {
  readonly job_id: string
  readonly upload_url: string
  readonly signature: string
  /** Only with `include: 'signed_url'`. */
  readonly signed_upload_url?: string
}

/** One target of a job; the signature and the signed address are secrets. */
export interface VoiceJobResult {
  /** `pending`, `uploaded`, `processing`, `complete`, `downloaded`, `failed`. */
  readonly status: string
  readonly download_url?: string
  readonly signature?: string
  readonly signed_download_url?: string
  readonly error?: { readonly message?: string; readonly code?: string } | null
}

/** How far a job is; results are in the order of its targets. */
export interface VoiceJobState {
  readonly job_id: string
  readonly created_at: string
  readonly updated_at: string
  readonly usage: { readonly storage_used: number }
  readonly source_file: VoiceJobInput['source_file']
  readonly parameters: NonNullable<VoiceJobInput['parameters']>
  readonly targets: readonly VoiceJobTarget[]
  readonly results: readonly VoiceJobResult[]
}

/** What became of one target: what was made of it, once, or why there is nothing: `JOB_FAILED`, or why it could not be fetched. */
export type VoiceJobOutcome = VoiceJobTarget & { readonly index: number } & (
    | { readonly result: VoiceResultStream; readonly error?: undefined }
    | { readonly result?: undefined; readonly error: AuthError }
  )

/** The last argument of the methods that ask for addresses. */
export interface VoiceJobOptions extends TranslationCallOptions {
  /** Addresses that need no signature beside them. */
  readonly include?: 'signed_url'
}

/** Milliseconds between two questions. */
const PAUSE = 5000

const OVER = new Set(['complete', 'failed', 'downloaded'])

/**
 * Jobs of the service and their recordings, which lie on other hosts: those get the signature that belongs to them, never the key.
 *
 * @example
 * for await (const { language, result, error } of client.voiceJobs.translate(input, () => createReadStream('talk.mp3'))) {
 *   console.log(language, error?.code ?? result)
 * }
 */
export class VoiceJobs {
  readonly #service: TranslationService
  readonly #assets: VoiceJobAssets

  constructor(service: TranslationService) {
    this.#service = service
    this.#assets = new VoiceJobAssets(service)
  }

  /** Errors: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`; 429 for too many jobs at once. */
  async create(input: VoiceJobInput, { include, ...options }: VoiceJobOptions = {}): Promise<Result<VoiceJob>> {
    const job = await named('voiceJobs.create', async () => {
      if (this.#service.validation(options) === 'strict') checkVoiceJob(input)
      return this.#service.call<VoiceJob>('voiceJobs.create', { body: input, ...(include && { query: { include } }) }, options)
    })
    this.#assets.protect(job.signature, job.signed_upload_url)
    return job
  }

  /** Errors: 404 when everything was fetched, or has waited for too long. */
  async get(job_id: string, { include, ...options }: VoiceJobOptions = {}): Promise<Result<VoiceJobState>> {
    const state = await this.#service.call<VoiceJobState>(
      'voiceJobs.get',
      { path: { job_id }, ...(include && { query: { include } }) },
      options,
    )
    withElements(state, state.results, { status: 'text' }, 'voiceJobs.get')
    for (const { signature, signed_download_url } of state.results) this.#assets.protect(signature, signed_download_url)
    return state
  }

  /**
   * Sends the recording, in at most five minutes from the creation of the job. A stream goes out once; a function that makes one, text and
   * bytes may be sent again. Errors: those of each call; `RESPONSE_INVALID` for an address that cannot be trusted.
   */
  upload(job: VoiceJob, recording: Recording, options: TranslationCallOptions & { readonly size?: number } = {}): Promise<void> {
    return this.#assets.upload(job, recording, options)
  }

  /** What was made for one target, once: after its first byte it cannot be asked for again. Its body has to be read or cancelled. */
  download(result: VoiceJobResult, options: TranslationCallOptions = {}): Promise<VoiceResultStream> {
    return this.#assets.download(result, options)
  }

  /** Asks until no target is worked on any more. Errors: those of {@link get}; `TIMEOUT_TOTAL` with `lastState` and `jobId`. */
  wait(job_id: string, options: VoiceJobOptions = {}): Promise<Result<VoiceJobState>> {
    return this.#until(job_id, ({ results }) => results.every(({ status }) => OVER.has(status)), oneEnd(options, this.#service.clock))
  }

  /**
   * Does all of it: gives each target when it is ready, in the order in which they become ready. Each fails alone, also when it cannot be
   * fetched; only its caller's signal ends all. Errors: those of {@link create}; those of {@link upload} and {@link get}, with `jobId`;
   * `RESPONSE_INVALID` when the service does not report each target.
   */
  async *translate(input: VoiceJobInput, recording: Recording, options: VoiceJobOptions = {}): AsyncGenerator<VoiceJobOutcome, void> {
    const { extraBody, ...whole } = oneEnd(options, this.#service.clock)
    // What is said to the service is not for the hosts of its recordings.
    const { headers: _headers, query: _query, ...elsewhere } = whole
    const targets = [...input.targets]
    const job = await this.create(input, { ...whole, ...(extraBody && { extraBody }) })
    const { job_id } = job
    await this.upload(job, recording, { ...elsewhere, size: input.source_file.content_length }).catch((error: unknown) => {
      throw namedJob(error, job_id)
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
      const known = namedJob(error, job_id)
      if (!isAuthError(known) || options.signal?.aborted) throw known
      return { error: known }
    }
  }

  /** What a service says may hold a signature. */
  #failed(jobId: string, { language, type }: VoiceJobTarget, { error }: VoiceJobResult): JobFailedError {
    const { message = 'no details given', code } = error ?? {}
    const said = this.#service.scrub(String(message))
    return new JobFailedError(`the voice job ${jobId} could not make ${language} as ${type}: ${said}`, {
      jobId,
      ...(typeof code === 'string' && { serviceCode: code }),
    })
  }

  #until(
    job_id: string,
    isOver: (state: VoiceJobState) => boolean,
    { signal, deadline, ...options }: VoiceJobOptions,
  ): Promise<Result<VoiceJobState>> {
    const { clock } = this.#service
    return poll<Result<VoiceJobState>>(
      {
        name: 'voiceJobs.get',
        clock,
        ask: async (ending) => {
          const state = await this.get(job_id, { ...options, signal: ending })
          this.#service.emit('progress', { operation: 'voiceJobs.get', job_id, statuses: state.results.map(({ status }) => status) })
          return state
        },
        delayAfter: (state) => (isOver(state) ? undefined : PAUSE),
        stateOf: ({ results }) => results.map(({ status }) => status).join(', '),
      },
      { ...(signal && { signal }), ...(deadline && { deadline }) },
    ).catch((error: unknown) => {
      throw namedJob(error, job_id)
    })
  }
}

/** The results of all targets: with fewer one would wait for ever, with more there would be something that nobody asked for. */
function complete({ results }: VoiceJobState, targets: number): readonly VoiceJobResult[] {
  if (results.length === targets) return results
  throw new ProtocolError('RESPONSE_INVALID', `voiceJobs.get: ${targets} targets were requested, the response has ${results.length}`)
}

/** A recording: bytes, a stream, or a function that makes one for each attempt. */
export type Recording = NonNullable<CallInput['content']>

/** What was made: its type is in the headers, its bytes are pulled as they are read. */
export type VoiceResultStream = ApiResponse<ReadableStream<Uint8Array>>

/** An operation on an address that the service named. */
type AssetOperation = Omit<Operation, 'path'>

const UPLOAD: AssetOperation = {
  name: 'voiceJobs.upload',
  method: 'PUT',
  replay: 'idem',
  contentType: 'application/octet-stream',
  response: 'text',
  // As long as it takes: the time for headers begins after the body.
  timeout: Number.POSITIVE_INFINITY,
}

const DOWNLOAD: AssetOperation = { name: 'voiceJobs.download', method: 'GET', replay: 'once', response: 'stream', accept: '*/*' }

/**
 * Moves recordings to and from the hosts that jobs name. Each request carries its own signature, to its own origin, and no key: also not
 * the one that a call names in `credential`.
 */
class VoiceJobAssets {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Keeps a signature, and the values in the query of a signed address, out of errors and events. */
  protect(signature: string | undefined, address: string | undefined): void {
    if (typeof signature === 'string') this.#service.protect(signature)
    if (typeof address !== 'string' || !canParseUrl(address)) return
    for (const value of new URL(address).searchParams.values()) this.#service.protect(value)
  }

  async upload(
    { upload_url, signature, signed_upload_url }: VoiceJob,
    content: Recording,
    { size, ...options }: TranslationCallOptions & { readonly size?: number },
  ): Promise<void> {
    const to = signed_upload_url === undefined ? { url: upload_url, signature } : { url: signed_upload_url }
    const input = { content, ...(isStream(content) && size !== undefined && { contentLength: size }) }
    try {
      await this.#send(UPLOAD, to, input, { ...options, totalTimeout: options.totalTimeout ?? false })
    } catch (error) {
      if (!wasThereBefore(error)) throw error
    }
  }

  /** Errors: `REQUEST_INVALID` as long as there is nothing to fetch. */
  async download(
    { status, download_url, signature, signed_download_url }: VoiceJobResult,
    options: TranslationCallOptions,
  ): Promise<VoiceResultStream> {
    const url = signed_download_url ?? download_url
    if (typeof url !== 'string')
      throw new ProtocolError('RESPONSE_INVALID', `voiceJobs.download: the service returned no URL for a target that is ${status}`)
    const from = { url, ...(signed_download_url === undefined && { signature }) }
    return this.#send<ReadableStream<Uint8Array>>(DOWNLOAD, from, {}, { ...options, totalTimeout: options.totalTimeout ?? false })
  }

  async #send<T>(
    operation: AssetOperation,
    { url, signature }: { readonly url: string; readonly signature?: string | undefined },
    input: CallInput,
    { credential: _credential, reportingTag: _tag, encoding: _encoding, validate: _validate, ...options }: TranslationCallOptions,
  ): Promise<ApiResponse<T>> {
    this.protect(signature, url)
    const api = await this.#service.api()
    const { client, path } = api.elsewhere(url, signature === undefined ? {} : { authorization: `DeepL-Signature ${signature}` })
    return client.send<T>({ ...operation, path }, input, options)
  }
}

/** Not of bytes and text, whose length is known. */
function isStream(content: Recording): boolean {
  return typeof content !== 'string' && !(content instanceof Uint8Array)
}

/** The answer to a repeated upload whose first try had come through. */
function wasThereBefore(error: unknown): boolean {
  return error instanceof HttpError && error.status === 409 && 'attempts' in error && Number(error.attempts) > 1
}
