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
