/** What names an uploaded document. The service does not keep its key. */

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
