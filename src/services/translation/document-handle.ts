/** The handle of an uploaded document, and the documents that a client has seen. */

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
