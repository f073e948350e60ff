import { jsonReply, Refusal } from '../service/reply.ts'
import { checkChoices } from './choices.ts'
import { DOCUMENT_TYPES, largestDocument } from './document-formats.ts'
import type { StoredDocument } from './documents.ts'
import { type Fields, formFields } from './fields.ts'
import { type Part, readMultipart } from './multipart.ts'
import { refuse, refuseViolation } from './refuse.ts'
import type { Call } from './state.ts'
import type { TranslationChoices } from './translate-fields.ts'

const FIELDS: Fields = {
  filename: { type: 'string' },
  target_lang: { type: 'string', required: true },
  source_lang: { type: 'string' },
  output_format: { type: 'string' },
  formality: { type: 'string', values: ['default', 'more', 'less', 'prefer_more', 'prefer_less'] },
  glossary_id: { type: 'string' },
  glossary_ids: { type: 'list' },
  style_id: { type: 'string' },
  translation_memory_id: { type: 'string' },
  translation_memory_threshold: { type: 'number' },
  enable_beta_languages: { type: 'boolean' },
}

type Upload = Pick<StoredDocument, 'parts' | 'filename' | 'target' | 'extension' | 'outputExtension' | 'content'>

interface UploadValues extends TranslationChoices {
  readonly filename?: string
  readonly output_format?: string
}

/** The document of an upload and what is to be done with it. */
export function readUpload(call: Call): Upload {
  const { state, key } = call
  const parts = partsOf(call)
  const files = parts.filter(({ name }) => name === 'file')
  const [file] = files
  if (files.length !== 1 || !file) return refuse(400, 'Exactly one file is needed.')
  const pairs = parts.filter((part) => part !== file).map(({ name, content }) => [name, textOf(content)] as const)
  const values = formFields(pairs, FIELDS, state.settings.allowExtra) as unknown as UploadValues
  const filename = values.filename ?? file.filename ?? refuse(400, 'The file has no name.')
  const extension = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  if (!Object.hasOwn(DOCUMENT_TYPES, extension)) refuse(400, `Files of the type '${extension}' are not supported.`)
  checkChoices(state, values)
  const outputExtension = outputOf(extension, values.output_format?.toLowerCase())
  if (file.content.length === 0) refuse(400, 'The file is empty.')
  if (file.content.length > largestDocument(extension, key.plan)) refuse(413, 'The file is too large.')
  return { parts: parts.map(({ name }) => name), filename, target: values.target_lang, extension, outputExtension, content: file.content }
}

function partsOf({ request }: Call): readonly Part[] {
  const contentType = String(request.headers['content-type'] ?? '')
  if (!/^multipart\/form-data\b/i.test(contentType)) return refuseViolation('Unsupported content type.', { code: 'invalid_content_type' })
  try {
    return readMultipart(contentType, request.body)
  } catch (error) {
    const message = `No multipart body: ${error instanceof Error ? error.message : error}`
    throw new Refusal(jsonReply(400, { message }), message)
  }
}

function textOf(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return refuseViolation('A part that is not UTF-8.')
  }
}

function outputOf(extension: string, asked: string | undefined): string {
  if (asked !== undefined && !(extension === 'pdf' && asked === 'docx')) refuse(400, "Value for 'output_format' not supported.")
  return asked ?? (extension === 'doc' ? 'docx' : extension)
}
