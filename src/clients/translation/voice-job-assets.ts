import { ProtocolError } from '../../errors.ts'
import type { ApiResponse } from '../api-response.ts'
import type { CallInput } from '../call-options.ts'
import { HttpError } from '../errors.ts'
import type { Operation } from '../operation.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'
import type { VoiceJob, VoiceJobResult } from './voice-jobs.ts'

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
export class VoiceJobAssets {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Keeps a signature, and the values in the query of a signed address, out of errors and events. */
  protect(signature: string | undefined, address: string | undefined): void {
    if (typeof signature === 'string') this.#service.protect(signature)
    if (typeof address !== 'string' || !URL.canParse(address)) return
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
      throw new ProtocolError('RESPONSE_INVALID', `voiceJobs.download: the service names no address for a target that is ${status}`)
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
