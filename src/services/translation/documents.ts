/** Translates documents: uploads a document, waits for its translation, and downloads it once. */

import { platform } from '#platform'
import { ProtocolError } from '../../errors.ts'
import { proposedName } from '../../http/headers.ts'
import { readBody } from '../../http/message.ts'
import type { Zip } from '../../platform/platform.ts'
import { described, foreign, type HttpError, hasStatus, ValidationError } from '../client/errors.ts'
import { chunksOf } from '../client/request.ts'
import type { ApiResponse } from '../client/response.ts'
import { DocumentHandle, type DocumentParams, type DocumentSource, type ExportedHandle, uploadDocument } from './document-upload.ts'
import { DocumentError } from './errors.ts'
import type { MinifiedDocument } from './minify.ts'
import { operations } from './operations.ts'
import { oneEnd, poll } from './poll.ts'
import { named, type Result, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** The state of a document (`POST /v2/document/{document_id}`). */
export interface DocumentStatus {
  /** Identifier of the document. */
  readonly document_id: string
  /** Progress of the translation; the service may add states. */
  readonly status: 'queued' | 'translating' | 'done' | 'error' | (string & {})
  /** Estimated seconds until it is done, only while it is translated. */
  readonly seconds_remaining?: number
  /** Characters that are billed once the document is downloaded. */
  readonly billed_characters?: number
  /** Reason for the failure. */
  readonly error_message?: string
  /** The reason for the failure, in another field that some services use. */
  readonly message?: string
}

/** A downloaded document. */
export interface FetchedDocument {
  /** The handle that it was downloaded with. */
  readonly handle: DocumentHandle
  /** The name that the service proposes, without folders. */
  readonly filename: string | undefined
  /** Media type of the document. */
  readonly contentType: string | undefined
  /** The document, if there is no sink. */
  readonly bytes: Uint8Array | undefined
  /** Identifier of the request for the support of the service. */
  readonly traceId: string | undefined
}

/**
 * The destination of a document: on Node the path of a new file, which is complete or absent (`overwrite` replaces an existing one); a
 * stream; or `undefined` for bytes in the result. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`.
 */
export type DocumentSink = { readonly path: string; readonly overwrite?: boolean } | WritableStream<Uint8Array> | undefined

/** A document that was translated and downloaded. */
export interface TranslatedDocument extends FetchedDocument {
  /** The last state before the download. */
  readonly status: DocumentStatus
}

/** Options of `translate`. */
export interface DocumentTranslationOptions extends TranslationCallOptions {
  /**
   * Takes pictures, sound and video out of a .docx or .pptx document before it is uploaded, and puts them back into the translation. It needs
   * the package `fflate`, which Node, Bun and Deno find if it is installed: pages and workers pass `await import('fflate')` instead of true.
   */
  readonly minify?: boolean | Zip
}

/** Options of `resume`. */
export interface ResumeOptions extends DocumentTranslationOptions {
  /** The document that was uploaded with `minify`, whose media the translation gets. */
  readonly source?: DocumentSource
}

const KNOWN = new Set(['queued', 'translating', 'done', 'error'])

/** Requests for a document that is done but not ready, before the call fails. */
const MOST_TRIES = 5

/** Longest estimate in seconds that is used: the service is known to return absurd ones. */
const BELIEVED = 3600

/** Maximum number of handles that a client remembers: enough for a batch, and no memory leak in a program that runs for months. */
const REMEMBERED = 10_000

type Handle = DocumentHandle | ExportedHandle

/**
 * Translations of documents. A document is uploaded, translated by the service, and can be downloaded once. Errors after the upload have a
 * `handle` for `resume`.
 *
 * @example
 * const { filename, status } = await client.documents.translate({ path: 'a.docx' }, { path: 'a.de.docx' }, { target_lang: 'de' })
 * console.log(filename, status.billed_characters)
 */
export class Documents {
  readonly #service: TranslationService
  /**
   * The documents that the service accepted, and those that were downloaded completely. The service responds with 404 both to a wrong handle
   * and to a document that it deleted; only an earlier response distinguishes them.
   */
  readonly #seen = new Map<string, 'exists' | 'fetched'>()

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /**
   * Uploads a document, waits for its translation and downloads it into a sink. A sink that cannot receive the document is an error before
   * anything is sent; a file is complete or absent. `deadline` and `totalTimeout` apply to the whole; default: none.
   *
   * Errors: those of the other methods; with `minify` `SCHEME_UNSUPPORTED` without its package, `REQUEST_INVALID` and `REQUEST_TOO_LARGE` for
   * a document that is no proper archive, `RESPONSE_INVALID` for such a translation.
   */
  translate(
    source: DocumentSource,
    sink: DocumentSink,
    params: DocumentParams,
    { minify = false, ...options }: DocumentTranslationOptions = {},
  ): Promise<TranslatedDocument> {
    return named('documents.translate', async () => {
      await checkSink(sink)
      const whole = oneEnd(options, this.#service.clock)
      const small = minify ? await (await import('./minify.ts')).withoutMedia(source, params, minify) : undefined
      const called = small?.filename === undefined ? params : { ...params, filename: small.filename }
      const handle = await this.upload(small?.bytes ?? source, called, whole)
      // Members that were added to the upload are not sent in later requests about the document.
      const { extraBody: _extraBody, ...later } = whole
      return this.#finished(handle, sink, later, small)
    })
  }

  /** Continues with an uploaded document: waits and downloads. After `minify`, set it again with the `source`. Errors: those of `translate`. */
  resume(handle: Handle, sink: DocumentSink, { minify = false, source, ...options }: ResumeOptions = {}): Promise<TranslatedDocument> {
    return named('documents.resume', async () => {
      const known = this.#handleOf(handle)
      await checkSink(sink)
      if (minify && !source)
        throw new ValidationError('REQUEST_INVALID', 'minify needs the source of the document; nothing was sent', { field: 'source' })
      const small = source && minify ? await (await import('./minify.ts')).minifiedSource(source, minify) : undefined
      return this.#finished(known, sink, oneEnd(options, this.#service.clock), small)
    })
  }

  /** Uploads a document and returns its handle. It is sent as it is read, and not retried once its first byte was sent. */
  async upload(source: DocumentSource, params: DocumentParams, options: TranslationCallOptions = {}): Promise<Result<DocumentHandle>> {
    const handle = await uploadDocument(this.#service, source, params, options)
    this.#note(handle, 'exists')
    return handle
  }

  /** Returns the current state of a document. Errors: `HTTP_404` also for a wrong key, and after the download. */
  async status(handle: Handle, options: TranslationCallOptions = {}): Promise<Result<DocumentStatus>> {
    const known = this.#handleOf(handle)
    const status = await this.#service.call<DocumentStatus>('documents.status', inputOf(known), options)
    this.#note(known, 'exists')
    return status
  }

  /**
   * Waits until a document can be downloaded, and returns its state. Requests the state after 1 s, then less and less often, and uses the
   * estimate of the service.
   *
   * Errors: `DOCUMENT_FAILED` with the service's reason, `DOCUMENT_GONE` when this client downloaded it before, `TIMEOUT_TOTAL` at the
   * deadline with `lastState`, those of every call.
   */
  async wait(handle: Handle, options: TranslationCallOptions = {}): Promise<DocumentStatus> {
    return this.#waited(this.#handleOf(handle), oneEnd(options, this.#service.clock))
  }

  /**
   * Downloads a document, which is possible once; a sink gets it completely, or no file. Errors: `DOCUMENT_NOT_READY` with the state,
   * `DOCUMENT_GONE` (fetched before, or expired), `DOCUMENT_FAILED`, `HTTP_404` for a handle that the service never accepted from this
   * client, `RESPONSE_TRUNCATED`, those of the sink, those of every call.
   */
  download(handle: Handle, sink: DocumentSink, options: TranslationCallOptions = {}): Promise<FetchedDocument> {
    return named('documents.download', async () => {
      const known = this.#handleOf(handle)
      await checkSink(sink)
      const ask = (call: TranslationCallOptions) => this.#downloaded(known, sink, call)
      const source = { name: 'documents.download', mark: { handle: known }, ask, isDone: () => true }
      return poll<FetchedDocument>(source, this.#service.clock, oneEnd(options, this.#service.clock))
    })
  }

  async #finished(
    handle: DocumentHandle,
    sink: DocumentSink,
    options: TranslationCallOptions,
    small?: MinifiedDocument,
  ): Promise<TranslatedDocument> {
    const status = await this.#waited(handle, options)
    return { ...(await this.#downloadedWhenReady(handle, sink, options, small)), status }
  }

  /** Waits until a document is done. Without a deadline there is no limit, because a large document can take hours. */
  #waited(handle: DocumentHandle, options: TranslationCallOptions): Promise<DocumentStatus> {
    const { client, clock } = this.#service
    const warned = new Set<string>()
    const ask = async (call: TranslationCallOptions) => {
      const state = await this.status(handle, call).catch((error: unknown) => {
        throw hasStatus(error, 404) && this.#seenOf(handle) === 'fetched' ? gone(handle, error) : error
      })
      const status = client.scrub(state.status)
      const { seconds_remaining } = state
      client.emit('progress', { operation: 'documents.status', document_id: handle.document_id, status, seconds_remaining })
      if (status === 'error') throw this.#failed(handle, state)
      if (!KNOWN.has(status) && !warned.has(status))
        client.emit('warning', { code: 'DOCUMENT_STATUS_UNKNOWN', message: `a document has the unknown state ${JSON.stringify(status)}` })
      warned.add(status)
      return state
    }
    const source = {
      name: 'documents.status',
      mark: { handle },
      ask,
      isDone: ({ status }: DocumentStatus) => status === 'done',
      wish: ({ seconds_remaining: seconds = 0 }: DocumentStatus) =>
        seconds > 0 && seconds <= BELIEVED ? Math.max(1, Math.min(60, seconds)) * 1000 : undefined,
      stateOf: ({ status }: DocumentStatus) => client.scrub(status),
    }
    return poll<DocumentStatus>(source, clock, options)
  }

  /**
   * Downloads a document with the state `done`: if the service is not ready after all, the request is repeated a few times. Errors: those
   * of `download`; `RESPONSE_INVALID` when the document is no longer done.
   */
  async #downloadedWhenReady(
    handle: DocumentHandle,
    sink: DocumentSink,
    options: TranslationCallOptions,
    small: MinifiedDocument | undefined,
  ): Promise<FetchedDocument> {
    let tries = 0
    const ask = async (call: TranslationCallOptions): Promise<Partial<FetchedDocument>> => {
      try {
        return await this.#downloaded(handle, sink, call, small)
      } catch (error) {
        if (!(error instanceof DocumentError) || error.code !== 'DOCUMENT_NOT_READY') throw error
        if (error.state !== 'done')
          throw new ProtocolError('RESPONSE_INVALID', `documents.status: the state changed from done to ${error.state}`)
        if (++tries >= MOST_TRIES) throw error
        return {}
      }
    }
    const source = {
      name: 'documents.download',
      mark: { handle, lastState: 'done' },
      ask,
      isDone: (got: Partial<FetchedDocument>) => got.handle !== undefined,
    }
    return (await poll<Partial<FetchedDocument>>(source, this.#service.clock, options)) as FetchedDocument
  }

  /** Downloads a document; it is not requested again after its first byte. */
  async #downloaded(
    handle: DocumentHandle,
    sink: DocumentSink,
    options: TranslationCallOptions,
    small?: MinifiedDocument,
  ): Promise<FetchedDocument> {
    let response: ApiResponse | undefined
    const bytes = await deliver(sink, async () => {
      const opened = await this.#opened(handle, options)
      response = opened
      if (!small?.restore) return opened.data
      return new Blob([small.restore(await readBody(chunksOf(opened.data), Number.POSITIVE_INFINITY, '')) as BlobPart]).stream()
    })
    this.#note(handle, 'fetched')
    const filename = proposedName(response?.headers.get('content-disposition') ?? null)
    return { handle, filename, contentType: response?.headers.get('content-type') ?? undefined, bytes, traceId: response?.traceId }
  }

  /** Begins the download. A 503 or 404 has several meanings; the state and earlier responses distinguish them. */
  async #opened(handle: DocumentHandle, options: TranslationCallOptions): Promise<ApiResponse<ReadableStream<Uint8Array>>> {
    try {
      const call = { ...options, totalTimeout: options.totalTimeout ?? false }
      const response = await this.#service.send<ReadableStream<Uint8Array>>(operations['documents.download'], inputOf(handle), call)
      this.#note(handle, 'exists')
      return response
    } catch (error) {
      if (!hasStatus(error, 404) && !hasStatus(error, 503)) throw error
      const attempts = error.attempts ?? 0
      if (this.#seenOf(handle) === 'fetched') throw described(gone(handle, error), attempts, 'documents.download')
      // Counts the requests for the result, and at least one for the state.
      throw described(await this.#unavailable(handle, options, error), attempts + 1, 'documents.download')
    }
  }

  /** Returns the error for a 404 or 503. A 404 for a handle that the service never accepted stays unchanged: its id or key may be wrong. */
  async #unavailable(handle: DocumentHandle, options: TranslationCallOptions, cause: HttpError): Promise<DocumentError | HttpError> {
    const isMissing = cause.status === 404
    const isKnown = this.#seenOf(handle) !== undefined
    try {
      const status = await this.status(handle, options)
      if (status.status === 'error') return this.#failed(handle, status)
      const state = this.#service.client.scrub(status.status)
      if (isMissing && state === 'done') return cause
      return new DocumentError('DOCUMENT_NOT_READY', `the document is not ready: it is ${state}`, { handle, state, retryable: true, cause })
    } catch (error) {
      if (!hasStatus(error, 404)) throw error
      return isMissing && !isKnown ? cause : gone(handle, cause)
    }
  }

  #failed(handle: DocumentHandle, { status, error_message, message }: DocumentStatus): DocumentError {
    const why: unknown = error_message ?? message
    const said = typeof why === 'string' ? this.#service.client.scrub(why) : ''
    return new DocumentError('DOCUMENT_FAILED', `the document could not be translated${said && `: ${said}`}`, { handle, state: status })
  }

  /** Returns a handle, and keeps its key out of errors and events. Errors: `TypeError`. */
  #handleOf(handle: Handle): DocumentHandle {
    const exported = handle instanceof DocumentHandle ? handle.export() : handle
    if (typeof exported?.document_id !== 'string' || typeof exported.document_key !== 'string')
      throw new TypeError('a handle must have the strings document_id and document_key')
    this.#service.client.protect(exported.document_key)
    return handle instanceof DocumentHandle ? handle : new DocumentHandle(exported)
  }

  /** Remembers a state; `fetched` is final. The oldest handle is forgotten first. */
  #note(handle: DocumentHandle, state: 'exists' | 'fetched'): void {
    if (this.#seenOf(handle) === 'fetched') return
    this.#seen.set(JSON.stringify(handle.export()), state)
    const [oldest] = this.#seen.keys()
    if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest)
  }

  #seenOf(handle: DocumentHandle): 'exists' | 'fetched' | undefined {
    return this.#seen.get(JSON.stringify(handle.export()))
  }
}

/** Returns the input of the requests about a document. */
function inputOf(handle: DocumentHandle) {
  const { document_id, document_key } = handle.export()
  return { path: { document_id }, body: { document_key } }
}

/** Returns a `DOCUMENT_GONE` error. */
function gone(handle: DocumentHandle, cause: HttpError): DocumentError {
  const hint = 'upload it again: a result can be fetched once, and for a limited time'
  return new DocumentError('DOCUMENT_GONE', 'the document is gone: it was fetched already, or it has expired', { handle, hint, cause })
}

/** Refuses an unusable sink before the translation is billed. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
async function checkSink(sink: DocumentSink): Promise<void> {
  if (sink === undefined || isWritable(sink)) return
  // A stream of Node has a path as well, of a file that it creates itself.
  if (typeof sink?.path !== 'string' || 'pipe' in sink) throw new TypeError('the output must be { path } or a WritableStream')
  await (await platform.files()).check(sink.path, sink.overwrite ?? false)
}

/**
 * Writes a document to its sink. An incomplete document never looks complete; a stream that fails is aborted.
 *
 * @param open starts the download; called once, when the sink is ready
 * @returns the bytes if there is no sink
 */
async function deliver(sink: DocumentSink, open: () => Promise<ReadableStream<Uint8Array>>): Promise<Uint8Array | undefined> {
  if (sink === undefined) return readBody(chunksOf(await open()), Number.POSITIVE_INFINITY, '')
  if (isWritable(sink)) {
    await (await open()).pipeTo(sink).catch((error: unknown) => {
      throw foreign(error, 'documents.download')
    })
  } else {
    const files = await platform.files()
    await files.write(sink.path, async () => chunksOf(await open()), sink.overwrite ?? false)
  }
  return undefined
}

function isWritable(sink: NonNullable<DocumentSink>): sink is WritableStream<Uint8Array> {
  return 'getWriter' in Object(sink)
}
