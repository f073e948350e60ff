/** Translates documents: uploads a document, waits for its translation, and downloads it once. */
import { isAuthError } from '../../errors.ts'
import { hasStatus } from '../client/errors.ts'
import { checkSink, type DocumentSink, downloadDocument, type FetchedDocument, fetchWhenDone } from './document-download.ts'
import {
  DocumentHandle,
  type DocumentStatus,
  documentFailure,
  documentGone,
  documentStatus,
  type ExportedHandle,
  PollDelay,
} from './document-handle.ts'
import { type DocumentParams, type DocumentSource, uploadDocument } from './document-upload.ts'
import { poll } from './poll.ts'
import { named, oneEnd, type Result, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** A document that was translated and downloaded. */
export interface TranslatedDocument extends FetchedDocument {
  /** The last state before the download. */
  readonly status: DocumentStatus
}

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

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /**
   * Uploads a document, waits for its translation and downloads it into a sink. A sink that cannot receive the document is an error before
   * anything is sent; a file is complete or absent. `deadline` and `totalTimeout` apply to the whole; default: none.
   *
   * Errors: those of the other methods.
   *
   * @example await client.documents.translate({ path: 'a.docx' }, { path: 'a.de.docx' }, { target_lang: 'DE' })
   */
  translate(
    source: DocumentSource,
    sink: DocumentSink,
    params: DocumentParams,
    options: TranslationCallOptions = {},
  ): Promise<TranslatedDocument> {
    return named('documents.translate', async () => {
      await checkSink(sink)
      const whole = oneEnd(options, this.#service.clock)
      const handle = await this.upload(source, params, whole)
      // Members that were added to the upload are not sent in later requests about the document.
      const { extraBody: _extraBody, ...later } = whole
      return this.#finish(handle, sink, later)
    })
  }

  /** Continues with an uploaded document: waits and downloads. Errors: those of `translate`. */
  resume(handle: DocumentHandle | ExportedHandle, sink: DocumentSink, options: TranslationCallOptions = {}): Promise<TranslatedDocument> {
    return named('documents.resume', async () => {
      const known = asHandle(this.#service, handle)
      await checkSink(sink)
      return this.#finish(known, sink, oneEnd(options, this.#service.clock))
    })
  }

  /** Uploads a document and returns its handle. It is sent as it is read, and not retried once its first byte was sent. */
  upload(source: DocumentSource, params: DocumentParams, options: TranslationCallOptions = {}): Promise<Result<DocumentHandle>> {
    return uploadDocument(this.#service, source, params, options)
  }

  /** Returns the current state of a document. Errors: `HTTP_404` also for a wrong key, and after the download. */
  async status(handle: DocumentHandle | ExportedHandle, options: TranslationCallOptions = {}): Promise<Result<DocumentStatus>> {
    return documentStatus(this.#service, asHandle(this.#service, handle), options)
  }

  /**
   * Waits until a document can be downloaded, and returns its state. Errors: `DOCUMENT_FAILED`, `TIMEOUT_TOTAL` with `lastState`, those of
   * every call.
   */
  async wait(handle: DocumentHandle | ExportedHandle, options: TranslationCallOptions = {}): Promise<DocumentStatus> {
    const known = asHandle(this.#service, handle)
    return this.#withHandle(known, waitForDocument(this.#service, known, oneEnd(options, this.#service.clock)))
  }

  /**
   * Downloads a document, which is possible once. Errors: `DOCUMENT_NOT_READY`, `DOCUMENT_GONE`, `DOCUMENT_FAILED`,
   * `HTTP_404` for a handle that the service never accepted, `RESPONSE_TRUNCATED`, those of the sink, those of every call.
   */
  download(handle: DocumentHandle | ExportedHandle, sink: DocumentSink, options: TranslationCallOptions = {}): Promise<FetchedDocument> {
    return named('documents.download', async () => {
      const known = asHandle(this.#service, handle)
      await checkSink(sink)
      const { signal, deadline, ...call } = oneEnd(options, this.#service.clock)
      const source = {
        name: 'documents.download',
        clock: this.#service.clock,
        // The deadline of a request would end with its headers.
        ask: (ending: AbortSignal) => downloadDocument(this.#service, known, sink, { ...call, signal: ending }),
        delayAfter: () => undefined,
        stateOf: () => undefined,
      }
      return this.#withHandle(known, poll<FetchedDocument>(source, { signal, deadline }))
    })
  }

  async #finish(handle: DocumentHandle, sink: DocumentSink, options: TranslationCallOptions): Promise<TranslatedDocument> {
    const status = await this.#withHandle(handle, waitForDocument(this.#service, handle, options))
    const fetched = await this.#withHandle(handle, fetchWhenDone(this.#service, handle, sink, options))
    return { ...fetched, status }
  }

  #withHandle<T>(handle: DocumentHandle, step: Promise<T>): Promise<T> {
    return step.catch((error: unknown) => {
      throw withHandle(error, handle)
    })
  }
}

/**
 * Waits until the document can be downloaded, and returns its state. Requests the state after 1 s, then less and less often, and uses the
 * estimate of the service.
 *
 * Errors: `DOCUMENT_FAILED` with the service's reason, `DOCUMENT_GONE` when this client downloaded it before, `TIMEOUT_TOTAL` at the
 * deadline with `lastState`, those of every call.
 *
 * @param deadline default: none, because a large document can take hours
 */
function waitForDocument(
  service: TranslationService,
  handle: DocumentHandle,
  { deadline, ...options }: TranslationCallOptions = {},
): Promise<DocumentStatus> {
  const delay = new PollDelay()
  const unknown = new Set<string>()
  const source = {
    name: 'documents.status',
    clock: service.clock,
    ask: async (signal: AbortSignal) => {
      const state = await documentStatus(service, handle, { ...options, signal }).catch((error: unknown) => {
        throw hasStatus(error, 404) && service.seenDocuments.of(handle) === 'fetched' ? documentGone(handle, error) : error
      })
      const { seconds_remaining } = state
      const status = service.scrub(state.status)
      service.emit('progress', { operation: 'documents.status', document_id: handle.document_id, status, seconds_remaining })
      if (status === 'error') throw documentFailure(service, handle, state)
      if (!KNOWN.has(status) && !unknown.has(status)) {
        unknown.add(status)
        service.emit('warning', { code: 'DOCUMENT_STATUS_UNKNOWN', message: `a document has the unknown state ${JSON.stringify(status)}` })
      }
      return state
    },
    stateOf: (state: DocumentStatus | undefined) => state && service.scrub(state.status),
    delayAfter: ({ status, seconds_remaining }: DocumentStatus) => (status === 'done' ? undefined : delay.next(seconds_remaining)),
  }
  return poll<DocumentStatus>(source, { signal: options.signal, deadline })
}

const KNOWN = new Set(['queued', 'translating', 'done'])

/** Returns a handle, and keeps its key out of errors and events. Errors: `TypeError`. */
function asHandle(service: TranslationService, handle: DocumentHandle | ExportedHandle): DocumentHandle {
  const exported = handle instanceof DocumentHandle ? handle.export() : handle
  if (typeof exported?.document_id !== 'string' || typeof exported.document_key !== 'string')
    throw new TypeError('a handle must have the strings document_id and document_key')
  service.protect(exported.document_key)
  return handle instanceof DocumentHandle ? handle : new DocumentHandle(exported)
}

/** Adds the handle of the document to an error, so that it need not be uploaded again. */
function withHandle(error: unknown, handle: DocumentHandle): unknown {
  if (!isAuthError(error) || 'handle' in error || !Object.isExtensible(error)) return error
  return Object.defineProperty(error, 'handle', { value: handle, enumerable: true })
}
