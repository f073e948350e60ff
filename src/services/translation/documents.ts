/** Translates documents: uploaded, translated by and by, fetched once. */

import { isAuthError } from '../../errors.ts'
import { type HttpError, NotFoundError } from '../client/errors.ts'
import { checkSink, type DocumentSink, downloadDocument, type FetchedDocument, fetchWhenDone } from './document-download.ts'
import { type DocumentParams, type DocumentSource, uploadDocument } from './document-upload.ts'
import { DocumentError } from './errors.ts'
import { poll } from './poll.ts'
import type { Result } from './result.ts'
import { named, oneEnd, type TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/** A document that was translated and fetched. */
export interface TranslatedDocument extends FetchedDocument {
  /** The last state before it was fetched. */
  readonly status: DocumentStatus
}

/** A handle of this session, or one that was kept. */
export type AnyHandle = DocumentHandle | ExportedHandle

/** Documents of the service. Every error after the upload has a `handle` with which `resume` goes on. */
export class Documents {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /**
   * Uploads, waits, fetches. A sink that cannot take the document is refused before anything is sent; a file is complete or not there.
   * `deadline` and `totalTimeout` are for all of it; there is none by default.
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
      // Members that were added to the document are none of the questions about it.
      const { extraBody: _extraBody, ...later } = whole
      return this.#finish(handle, sink, later)
    })
  }

  /** Goes on with a document that was uploaded: waits and fetches. Errors: as of {@link translate}. */
  resume(handle: AnyHandle, sink: DocumentSink, options: TranslationCallOptions = {}): Promise<TranslatedDocument> {
    return named('documents.resume', async () => {
      const known = asHandle(this.#service, handle)
      await checkSink(sink)
      return this.#finish(known, sink, oneEnd(options, this.#service.clock))
    })
  }

  /** What names the document. It is sent as it is read, and never twice once its first byte is out. */
  upload(source: DocumentSource, params: DocumentParams, options: TranslationCallOptions = {}): Promise<Result<DocumentHandle>> {
    return uploadDocument(this.#service, source, params, options)
  }

  /** The state of a document. */
  async status(handle: AnyHandle, options: TranslationCallOptions = {}): Promise<Result<DocumentStatus>> {
    return documentStatus(this.#service, asHandle(this.#service, handle), options)
  }

  /** The state in which a document can be fetched. Errors: `DOCUMENT_FAILED`, `TIMEOUT_TOTAL` with `lastState`, those of every call. */
  async wait(handle: AnyHandle, options: TranslationCallOptions = {}): Promise<DocumentStatus> {
    const known = asHandle(this.#service, handle)
    return this.#withHandle(known, waitForDocument(this.#service, known, oneEnd(options, this.#service.clock)))
  }

  /**
   * Fetches a document, which the service gives once. Errors: `DOCUMENT_NOT_READY`, `DOCUMENT_GONE`, `DOCUMENT_FAILED`,
   * `HTTP_404` for a handle that the service never accepted, `RESPONSE_TRUNCATED`, those of the sink, those of every call.
   */
  download(handle: AnyHandle, sink: DocumentSink, options: TranslationCallOptions = {}): Promise<FetchedDocument> {
    return named('documents.download', async () => {
      const known = asHandle(this.#service, handle)
      await checkSink(sink)
      return this.#withHandle(known, downloadDocument(this.#service, known, sink, options))
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

export interface DocumentStatus {
  readonly document_id: string
  readonly status: 'queued' | 'translating' | 'done' | 'error' | (string & {})
  /** Only while it is translated, and only a guess. */
  readonly seconds_remaining?: number
  /** Nothing is billed before the document was fetched. */
  readonly billed_characters?: number
  readonly error_message?: string
  readonly message?: string
}

/** The state of a document. Errors: `HTTP_404` for a wrong key as well, and once the document was fetched. */
export async function documentStatus(
  service: TranslationService,
  handle: DocumentHandle,
  options: TranslationCallOptions = {},
): Promise<Result<DocumentStatus>> {
  const { document_id, document_key } = handle.export()
  const status = await service.call<DocumentStatus>('documents.status', { path: { document_id }, body: { document_key } }, options)
  service.seenDocuments.note(handle, 'exists')
  return status
}

/**
 * The state in which the document can be fetched. Asks after 1 s, then less and less often, and takes the guess of the service into
 * account.
 *
 * Errors: `DOCUMENT_FAILED` with the service's reason, `DOCUMENT_GONE` when this client downloaded it before, `TIMEOUT_TOTAL` at the
 * deadline with `lastState`, those of every call.
 *
 * @param deadline none by default: a large document takes its time
 */
function waitForDocument(
  service: TranslationService,
  handle: DocumentHandle,
  { deadline, ...options }: TranslationCallOptions = {},
): Promise<DocumentStatus> {
  const pace = new Pace()
  const unknown = new Set<string>()
  const source = {
    name: 'documents.status',
    clock: service.clock,
    ask: async (signal: AbortSignal) => {
      const state = await documentStatus(service, handle, { ...options, signal }).catch((error: unknown) => {
        throw error instanceof NotFoundError && service.seenDocuments.of(handle) === 'fetched' ? documentGone(handle, error) : error
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
    stateOf: ({ status }: DocumentStatus) => service.scrub(status),
    delayAfter: ({ status, seconds_remaining }: DocumentStatus) => (status === 'done' ? undefined : pace.next(seconds_remaining)),
  }
  return poll<DocumentStatus>(source, { signal: options.signal, deadline })
}

/** `DOCUMENT_FAILED`. */
export function documentFailure(
  service: TranslationService,
  handle: DocumentHandle,
  { status, error_message, message }: DocumentStatus,
): DocumentError {
  const why: unknown = error_message ?? message
  const said = typeof why === 'string' ? service.scrub(why) : ''
  return new DocumentError('DOCUMENT_FAILED', `the document could not be translated${said && `: ${said}`}`, { handle, state: status })
}

/** `DOCUMENT_GONE`. */
export function documentGone(handle: DocumentHandle, cause: HttpError): DocumentError {
  const hint = 'upload it again: a result is given once, and not kept for long'
  return new DocumentError('DOCUMENT_GONE', 'the document is gone: it was fetched already, or it has expired', { handle, hint, cause })
}

const KNOWN = new Set(['queued', 'translating', 'done'])

const FIRST = 1000

const LONGEST = 15_000

/** A guess beyond an hour is none: the service is known for absurd ones. */
const BELIEVED = 3600

/** Milliseconds between questions: half as long again each time, or as long as the service says, 1 to 60 s. */
export class Pace {
  #delay = FIRST

  next(secondsRemaining?: number): number {
    const usual = this.#delay
    this.#delay = Math.min(LONGEST, usual * 1.5)
    const isBelieved = secondsRemaining !== undefined && secondsRemaining > 0 && secondsRemaining <= BELIEVED
    return isBelieved ? Math.max(1, Math.min(60, secondsRemaining)) * 1000 : usual
  }
}

/** The handle as text, for those who keep it for later: its key opens the document. */
export interface ExportedHandle {
  readonly document_id: string
  readonly document_key: string
}

/** Names an uploaded document. It prints without its key; `export()` gives all of it. */
export class DocumentHandle {
  readonly document_id: string
  readonly #key: string

  constructor({ document_id, document_key }: ExportedHandle) {
    this.document_id = document_id
    this.#key = document_key
  }

  /** With the key: keep it where secrets are kept. */
  export(): ExportedHandle {
    return { document_id: this.document_id, document_key: this.#key }
  }

  toJSON(): ExportedHandle {
    return { document_id: this.document_id, document_key: '[secret]' }
  }

  toString(): string {
    return `document ${this.document_id}`
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `DocumentHandle { ${this.document_id}, [secret] }`
  }
}

/** A handle from before, its key kept out of errors and events. Errors: `TypeError`. */
function asHandle(service: TranslationService, handle: DocumentHandle | ExportedHandle): DocumentHandle {
  const exported = handle instanceof DocumentHandle ? handle.export() : handle
  if (typeof exported?.document_id !== 'string' || typeof exported.document_key !== 'string')
    throw new TypeError('a handle has a document_id and a document_key, which are texts')
  service.protect(exported.document_key)
  return handle instanceof DocumentHandle ? handle : new DocumentHandle(exported)
}

/** The error with the handle of the document, so that it need not be uploaded again. */
function withHandle(error: unknown, handle: DocumentHandle): unknown {
  if (!isAuthError(error) || 'handle' in error || !Object.isExtensible(error)) return error
  return Object.defineProperty(error, 'handle', { value: handle, enumerable: true })
}

/** Documents whose handles a client remembers: enough for a batch, and no leak in a program that runs for months. */
const REMEMBERED = 10_000

/**
 * Remembers which handles the service accepted, and which documents were downloaded completely: the service answers 404 to a wrong handle
 * as well as to a document that it deleted, and only an earlier answer tells them apart.
 */
export class SeenDocuments {
  readonly #seen = new Map<string, 'exists' | 'fetched'>()

  /** Remembers a state; a document that was fetched stays fetched. The oldest handle is forgotten first. */
  note(handle: DocumentHandle, state: 'exists' | 'fetched'): void {
    const name = nameOf(handle)
    if (this.#seen.get(name) === 'fetched') return
    this.#seen.set(name, state)
    const [oldest] = this.#seen.keys()
    if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest)
  }

  /** Returns what is known of the document with this id and this key; undefined when nothing is. */
  of(handle: DocumentHandle): 'exists' | 'fetched' | undefined {
    return this.#seen.get(nameOf(handle))
  }
}

function nameOf(handle: DocumentHandle): string {
  const { document_id, document_key } = handle.export()
  return `${document_id}\0${document_key}`
}
