/** Uploads a document, piece by piece. */
import { ValidationError } from '../errors.ts'
import { checkTranslation } from './check-translation.ts'
import { DocumentHandle, type ExportedHandle } from './document-handle.ts'
import { type DocumentSource, type OpenDocument, openSource } from './document-source.ts'
import { type MultipartBody, multipart } from './multipart.ts'
import { named } from './named.ts'
import type { Result } from './result.ts'
import type { TranslateParams } from './translate-params.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/** What texts and documents have in common. */
type Common =
  | 'target_lang'
  | 'source_lang'
  | 'formality'
  | 'glossary_id'
  | 'glossary_ids'
  | 'style_id'
  | 'translation_memory_id'
  | 'translation_memory_threshold'
  | 'enable_beta_languages'

/** Names are those of the service. */
export interface DocumentParams extends Pick<TranslateParams, Common> {
  /** Tells the service the format by its extension; default: the name of the source, where it has one. */
  readonly filename?: string
  /** Extension of the format that is wanted; default: that of the source. */
  readonly output_format?: string
}

/**
 * Uploads a document and gives what names it. It is sent as it is read; where its size is known, with that length. It is never sent twice
 * once its first byte is out.
 *
 * Errors: `REQUEST_INVALID` for what the service would refuse and for a document without a name, those of the source, those of every
 * call.
 */
export function uploadDocument(
  service: TranslationService,
  source: DocumentSource,
  params: DocumentParams,
  options: TranslationCallOptions = {},
): Promise<Result<DocumentHandle>> {
  return named('documents.upload', () => uploaded(service, source, params, options))
}

async function uploaded(
  service: TranslationService,
  source: DocumentSource,
  { filename, ...params }: DocumentParams,
  { extraBody, ...options }: TranslationCallOptions,
): Promise<Result<DocumentHandle>> {
  checkTranslation(params, service.validation(options))
  const document = await openSource(source)
  const body = multipart(fieldsOf({ ...params }, extraBody), { ...document, filename: nameOf(filename ?? document.name) })
  const input = { ...contentOf(body, document, service), contentType: body.contentType, contentLength: body.contentLength }
  const answer = await service.call<ExportedHandle>('documents.upload', input, { ...options, totalTimeout: options.totalTimeout ?? false })
  const handle = new DocumentHandle(answer)
  service.protect(answer.document_key)
  service.seenDocuments.note(handle, 'exists')
  return Object.defineProperty(handle, 'response', { value: answer.response }) as Result<DocumentHandle>
}

function nameOf(name: string | undefined): string {
  if (name !== undefined && name !== '') return name
  const hint = 'give filename: the service tells the format by its extension'
  throw new ValidationError('REQUEST_INVALID', 'the document has no name; nothing was sent', { field: 'filename', hint })
}

/** Fields as a form has them; lists as one text with commas. */
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

function contentOf(body: MultipartBody, { replayable }: OpenDocument, service: TranslationService) {
  const chunks = () => watched(body, service)
  return { content: replayable ? chunks : chunks() }
}

async function* watched({ chunks, contentLength: total }: MultipartBody, service: TranslationService): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks()) {
    yield chunk
    bytes += chunk.length
    service.emit('progress', { operation: 'documents.upload', bytes, total })
  }
}
