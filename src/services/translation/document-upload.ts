/** Uploads a document in chunks, and returns its handle. */

import { platform } from '#platform'
import { IntegrityError } from '../../errors.ts'
import { readBody } from '../../http/message.ts'
import type { ApiClient } from '../client/api-client.ts'
import { ValidationError } from '../client/errors.ts'
import { type CallInput, chunksOf, heard, type StreamBody } from '../client/request.ts'
import { checkTranslation } from './operations.ts'
import type { TranslateParams } from './translate-text.ts'
import type { Result, TranslationCallOptions, TranslationService, Validation } from './translation-service.ts'

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

/** Parameters of a translation of a document (`POST /v2/document`), with the names of the service. */
export interface DocumentParams
  extends Pick<
    TranslateParams,
    | 'target_lang'
    | 'source_lang'
    | 'formality'
    | 'glossary_id'
    | 'glossary_ids'
    | 'style_id'
    | 'translation_memory_id'
    | 'translation_memory_threshold'
    | 'enable_beta_languages'
  > {
  /** Name of the document, whose extension is its format; default: the name of the source, if it has one. */
  readonly filename?: string
  /** Extension of the format of the result; default: that of the source. */
  readonly output_format?: string
}

/**
 * Uploads a document and returns its handle. It is sent as it is read, with `Content-Length` if its size is known, and not retried once its
 * first byte was sent.
 *
 * Errors: `REQUEST_INVALID` for parameters that the service would refuse and for a document without a name, those of the source, those of
 * every call.
 */
export async function uploadDocument(
  service: TranslationService,
  source: DocumentSource,
  { filename, ...params }: DocumentParams,
  { extraBody, ...options }: TranslationCallOptions = {},
): Promise<Result<DocumentHandle>> {
  const input = async (validation: Validation): Promise<CallInput> => {
    checkTranslation({ ...params, ...extraBody }, validation)
    const document = await openSource(source)
    const name = filename ?? document.name
    if (!name) {
      const hint = 'set filename: the service detects the format by its extension'
      throw new ValidationError('REQUEST_INVALID', 'the document has no name; nothing was sent', { field: 'filename', hint })
    }
    const body = multipart(fieldsOf({ ...params }, extraBody), name, document)
    const chunks = () => watched(body, service.client)
    const { contentType, contentLength } = body
    return { content: document.replayable ? chunks : chunks(), contentType, contentLength }
  }
  const call = { ...options, totalTimeout: options.totalTimeout ?? false }
  return service.call('documents.upload', input, call, (answer: Result<ExportedHandle>) => {
    service.client.protect(answer.document_key)
    return Object.defineProperty(new DocumentHandle(answer), 'response', { value: answer.response }) as Result<DocumentHandle>
  })
}

/** Returns the fields of a form; lists become one comma-separated text. */
function fieldsOf(params: Readonly<Record<string, unknown>>, extra: TranslationCallOptions['extraBody'] = {}) {
  const twice = Object.keys(extra).find((name) => params[name] !== undefined || name === 'file')
  if (twice !== undefined)
    throw new ValidationError('REQUEST_INVALID', `"${twice}" is given twice; nothing was sent`, { field: `body.${twice}` })
  const present = Object.entries({ ...params, ...extra }).filter(([, value]) => value !== undefined)
  return present.map(([name, value]) => [name, fieldText(name, value)] as const)
}

function fieldText(name: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'string' || Number.isFinite(value)) return String(value)
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',')
  throw new ValidationError('REQUEST_INVALID', `"${name}" cannot be written as a field; nothing was sent`, { field: name })
}

async function* watched({ chunks, contentLength: total }: MultipartBody, client: ApiClient): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks()) {
    yield chunk
    bytes += chunk.length
    client.emit('progress', { operation: 'documents.upload', bytes, total })
  }
}

/** A complete `multipart/form-data` body. */
interface MultipartBody {
  readonly contentType: string
  /** Length in bytes, if the size of the file is known. */
  readonly contentLength: number | undefined
  chunks(): AsyncIterable<Uint8Array>
}

/**
 * Returns a body of the fields in their order and the file after them. Errors of its chunks: `FILE_CHANGED` if the file does not have its
 * announced size, and those of the file.
 */
function multipart(fields: readonly (readonly [name: string, value: string])[], filename: string, file: OpenDocument): MultipartBody {
  const boundary = `stac-auth-${crypto.randomUUID()}`
  const disposition = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`
  const texts = fields.map(([name, value]) => `${disposition(name)}\r\n\r\n${value}\r\n`)
  const opening = `${disposition('file')}; filename="${escaped(filename)}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  const encoder = new TextEncoder()
  const head = encoder.encode(texts.join('') + opening)
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: file.size === undefined ? undefined : head.length + file.size + tail.length,
    async *chunks() {
      yield head
      yield* counted(filename, file)
      yield tail
    },
  }
}

/** Escapes a name as browsers do (HTML, multipart/form-data encoding algorithm): line breaks and quotes are percent-encoded. */
function escaped(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

async function* counted(filename: string, { size, chunks }: OpenDocument): AsyncGenerator<Uint8Array> {
  const changed = () => new IntegrityError('FILE_CHANGED', `"${filename}" changed while it was read`, { hint: 'upload it again' })
  let count = 0
  for await (const chunk of chunks()) {
    count += chunk.length
    if (size !== undefined && count > size) throw changed()
    yield chunk
  }
  if (size !== undefined && count < size) throw changed()
}

/**
 * A document: bytes, a `Blob` or `File`, a stream (or a function that returns one, which can be sent again), or on Node the path of a file.
 */
export type DocumentSource = Uint8Array | Blob | StreamBody | (() => StreamBody) | { readonly path: string }

/** A document that is ready to be read. */
interface OpenDocument {
  /** The name without folders; undefined if the source has none. */
  readonly name: string | undefined
  /** Size in bytes, if it is known. */
  readonly size: number | undefined
  /** False: the chunks can be read only once. */
  readonly replayable: boolean
  chunks(): AsyncIterable<Uint8Array>
}

/** Reads a whole source. Errors: those of {@link uploadDocument} about it. */
export async function readSource(source: DocumentSource): Promise<{ readonly name: string | undefined; readonly bytes: Uint8Array }> {
  const { name, chunks } = await openSource(source)
  return { name, bytes: await readBody(chunks(), Number.POSITIVE_INFINITY, '') }
}

/** Opens a source. Errors: `FILE_ACCESS`, `UNSUPPORTED_IN_BROWSER`; `TypeError` for an invalid source. */
async function openSource(source: DocumentSource): Promise<OpenDocument> {
  const from = { name: undefined, size: undefined, replayable: true }
  if (source instanceof Uint8Array) return { ...from, size: source.length, chunks: () => once(source) }
  if (typeof source === 'function') return { ...from, chunks: () => chunksOf(source()) }
  const given = Object(source)
  if (typeof Blob === 'function' && given instanceof Blob) {
    const { name } = given as { readonly name?: unknown }
    return { ...from, name: typeof name === 'string' ? name : undefined, size: given.size, chunks: () => chunksOf(given.stream()) }
  }
  // A stream of Node also has the path of its file, of which it may read only a part.
  if (Symbol.asyncIterator in given || 'getReader' in given) {
    const stream = heard(source as StreamBody)
    return { ...from, replayable: false, chunks: () => chunksOf(stream) }
  }
  if (typeof given.path === 'string') return { ...(await (await platform.files()).open(given.path)), replayable: true }
  throw new TypeError('a document must be bytes, a Blob, a stream of bytes, a function that returns one, or { path }')
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
