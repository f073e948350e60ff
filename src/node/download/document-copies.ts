/** Waits until all files of a document are settled, then writes its copy. */
import { dirname, join } from 'node:path'
import { type AuthError, isAuthError } from '../../errors.ts'
import { failure } from '../../http/network-error.ts'
import type { StacDocument } from '../../stac/document.ts'
import { ownString } from '../../stac/json.ts'
import { forFileName } from '../../text/file-name.ts'
import type { DocumentEvent, DownloadEvent } from './events.ts'
import type { FilePlan, PlannedFile } from './file-plan.ts'
import { localDocument, sourceOf, writeDocument } from './local-document.ts'

/** A document and what has come of its files. */
interface Copy {
  readonly document: StacDocument
  readonly url: string | undefined
  readonly path: string
  /** The same document has a copy there already. */
  readonly isRepeated: boolean
  readonly error?: AuthError
  readonly files: Map<string, string>
  /** Keys of assets that are folders of which an object is missing here. */
  readonly partial: Set<string>
  waiting: number
  isWhole: boolean
}

export class DocumentCopies {
  readonly #plan: FilePlan
  readonly #copies = new Map<StacDocument, Copy>()
  /** Documents of which nobody knows where they are from. */
  #unknown = 0

  constructor(plan: FilePlan) {
    this.#plan = plan
  }

  /** A file of a document is wanted; the copy is to be beside the first one. */
  expect({ file, wanted }: PlannedFile): void {
    const { document, url } = wanted.targets[0].scope
    const copy = this.#copies.get(document) ?? this.#begin(document, url, wanted.folder?.path ?? file.path)
    copy.waiting++
  }

  /** What has come of a file. Gives the document's event when it was the last one. */
  async settle({ wanted }: PlannedFile, event: DownloadEvent): Promise<DocumentEvent | undefined> {
    const { document } = wanted.targets[0].scope
    const copy = this.#copies.get(document)
    if (!copy) return undefined
    copy.waiting--
    if (event.kind === 'written' || event.kind === 'kept') copy.files.set(wanted.key, wanted.folder?.path ?? event.file.path)
    else if (wanted.folder) copy.partial.add(wanted.key)
    return copy.isWhole ? this.#finish(copy) : undefined
  }

  /** All files of what was expected so far are known. Gives the events of what is settled already. */
  async close(): Promise<readonly DocumentEvent[]> {
    const events: DocumentEvent[] = []
    for (const copy of this.#copies.values()) {
      copy.isWhole = true
      const event = await this.#finish(copy)
      if (event) events.push(event)
    }
    return events
  }

  #begin(document: StacDocument, url: string | undefined, beside: string): Copy {
    const id = ownString(document, 'id') ?? 'document'
    const path = join(dirname(beside), forFileName(`${id}.json`))
    const place = this.#placeFor(path, `document ${sourceOf(document, url).source ?? ++this.#unknown}`)
    const copy: Copy = { document, url, path, files: new Map(), partial: new Set(), waiting: 0, isWhole: false, ...place }
    this.#copies.set(document, copy)
    return copy
  }

  #placeFor(path: string, source: string): { readonly isRepeated: boolean; readonly error?: AuthError } {
    try {
      return { isRepeated: !this.#plan.reserve(path, source) }
    } catch (error) {
      if (!isAuthError(error)) throw error
      return { isRepeated: false, error }
    }
  }

  async #finish(copy: Copy): Promise<DocumentEvent | undefined> {
    const { document, files, path, url, error } = copy
    if (copy.waiting > 0 || !this.#copies.delete(document)) return undefined
    for (const key of copy.partial) files.delete(key)
    // A copy that leads to nothing here is of no use.
    if (files.size === 0 || copy.isRepeated) return undefined
    const id = ownString(document, 'id')
    const event = { kind: 'document', path, ...(id !== undefined && { id }) } as const
    if (error) return { ...event, error }
    try {
      await writeDocument(path, localDocument(document, files, path, url))
      return event
    } catch (thrown) {
      return { ...event, error: isAuthError(thrown) ? thrown : failure(thrown, undefined, '') }
    }
  }
}
