/** What names an uploaded document. The service does not keep its key. */
import { isAuthError } from '../../errors.ts'
import type { TranslationService } from './translation-service.ts'

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
export function asHandle(service: TranslationService, handle: DocumentHandle | ExportedHandle): DocumentHandle {
  const exported = handle instanceof DocumentHandle ? handle.export() : handle
  if (typeof exported?.document_id !== 'string' || typeof exported.document_key !== 'string')
    throw new TypeError('a handle has a document_id and a document_key, which are texts')
  service.protect(exported.document_key)
  return handle instanceof DocumentHandle ? handle : new DocumentHandle(exported)
}

/** The error with the handle of the document, so that it need not be uploaded again. */
export function withHandle(error: unknown, handle: DocumentHandle): unknown {
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
