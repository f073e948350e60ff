/** The handle of an uploaded document, and its state as the service reports it. */
import type { HttpError } from '../client/errors.ts'
import { DocumentError } from './errors.ts'
import type { Result, TranslationCallOptions, TranslationService } from './translation-service.ts'

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

/** Returns the state of a document. Errors: `HTTP_404` also for a wrong key, and after the download. */
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

/** Returns a `DOCUMENT_FAILED` error. */
export function documentFailure(
  service: TranslationService,
  handle: DocumentHandle,
  { status, error_message, message }: DocumentStatus,
): DocumentError {
  const why: unknown = error_message ?? message
  const said = typeof why === 'string' ? service.scrub(why) : ''
  return new DocumentError('DOCUMENT_FAILED', `the document could not be translated${said && `: ${said}`}`, { handle, state: status })
}

/** Returns a `DOCUMENT_GONE` error. */
export function documentGone(handle: DocumentHandle, cause: HttpError): DocumentError {
  const hint = 'upload it again: a result can be fetched once, and for a limited time'
  return new DocumentError('DOCUMENT_GONE', 'the document is gone: it was fetched already, or it has expired', { handle, hint, cause })
}

const FIRST = 1000

const LONGEST = 15_000

/** Longest estimate in seconds that is used: the service is known to return absurd ones. */
const BELIEVED = 3600

/**
 * The delay between requests for the state in milliseconds: half as long again each time, or the estimate of the service, limited to 1 to
 * 60 s.
 */
export class PollDelay {
  #delay = FIRST

  next(secondsRemaining?: number): number {
    const usual = this.#delay
    this.#delay = Math.min(LONGEST, usual * 1.5)
    const isBelieved = secondsRemaining !== undefined && secondsRemaining > 0 && secondsRemaining <= BELIEVED
    return isBelieved ? Math.max(1, Math.min(60, secondsRemaining)) * 1000 : usual
  }
}

/** A document handle as JSON, to keep it for later. */
export interface ExportedHandle {
  /** Identifier of the document. */
  readonly document_id: string
  /** The key that decrypts the document; a secret that the service does not keep. */
  readonly document_key: string
}

/**
 * The identifier and the key of an uploaded document. It prints without its key.
 *
 * @example
 * const handle = await client.documents.upload({ path: 'a.docx' }, { target_lang: 'de' })
 * await client.documents.resume(new DocumentHandle(handle.export()), { path: 'a.de.docx' })
 */
export class DocumentHandle {
  /** Identifier of the document. */
  readonly document_id: string
  readonly #key: string

  constructor({ document_id, document_key }: ExportedHandle) {
    this.document_id = document_id
    this.#key = document_key
  }

  /** Returns the handle with its key, which is a secret. */
  export(): ExportedHandle {
    return { document_id: this.document_id, document_key: this.#key }
  }

  /** Returns the handle without its key. */
  toJSON(): ExportedHandle {
    return { document_id: this.document_id, document_key: '[secret]' }
  }

  /** Returns a text with the identifier only. */
  toString(): string {
    return `document ${this.document_id}`
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `DocumentHandle { ${this.document_id}, [secret] }`
  }
}

/** Maximum number of handles that a client remembers: enough for a batch, and no memory leak in a program that runs for months. */
const REMEMBERED = 10_000

/**
 * Remembers which handles the service accepted, and which documents were downloaded completely. The service responds with 404 both to a
 * wrong handle and to a document that it deleted; only an earlier response distinguishes them.
 */
export class SeenDocuments {
  readonly #seen = new Map<string, 'exists' | 'fetched'>()

  /** Remembers a state; `fetched` is final. The oldest handle is forgotten first. */
  note(handle: DocumentHandle, state: 'exists' | 'fetched'): void {
    const name = nameOf(handle)
    if (this.#seen.get(name) === 'fetched') return
    this.#seen.set(name, state)
    const [oldest] = this.#seen.keys()
    if (this.#seen.size > REMEMBERED && oldest !== undefined) this.#seen.delete(oldest)
  }

  /** Returns what is known about the document with this id and key, or undefined. */
  of(handle: DocumentHandle): 'exists' | 'fetched' | undefined {
    return this.#seen.get(nameOf(handle))
  }
}

function nameOf(handle: DocumentHandle): string {
  const { document_id, document_key } = handle.export()
  return `${document_id}\0${document_key}`
}
