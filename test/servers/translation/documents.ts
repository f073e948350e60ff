import { jsonReply, Refusal, type Reply } from '../service/reply.ts'
import { requireCharacters } from './account.ts'
import { DOCUMENT_TYPES, documentCharacters, translatedDocument } from './document-formats.ts'
import { readUpload } from './document-upload.ts'
import { readBody } from './read-body.ts'
import { refuse } from './refuse.ts'
import { bill, type Call, type TranslationState } from './state.ts'

/** An uploaded document until it is fetched. */
export interface StoredDocument {
  readonly id: string
  readonly key: string
  /** Names of the parts in the order in which they came. */
  readonly parts: readonly string[]
  readonly filename: string
  readonly target: string
  readonly extension: string
  readonly outputExtension: string
  readonly content: Buffer
  readonly characters: number
  readonly uploadedAt: number
  readonly owner: string
  /** Set by tests: the translation ends with this message. */
  failure?: string
  /** Set by tests: the result is answered 503, though the status knows nothing of it any more. */
  goneAs503?: boolean
}

type DocumentStatus = 'queued' | 'translating' | 'done' | 'error'

const GONE = 'Document not found'

/** Operation 9. */
export function uploadDocument(call: Call): Reply {
  const { state, key } = call
  const upload = readUpload(call)
  const waiting = [...state.documents.values()].filter(({ owner, id }) => owner === key.key && liveDocument(state, id))
  if (waiting.length >= state.settings.maxUnfetched) refuse(429, 'Too many documents were not fetched.')
  const characters = documentCharacters(upload.content, upload.extension)
  requireCharacters(key, characters)
  const handle = { id: state.ids.hex(32).toUpperCase(), key: state.ids.hex(64).toUpperCase() }
  state.documents.set(handle.id, { ...handle, ...upload, characters, uploadedAt: state.clock.now(), owner: key.key })
  return jsonReply(200, { document_id: handle.id, document_key: handle.key })
}

/** Operation 10. */
export function documentStatus(call: Call): Reply {
  const document = ownDocument(call)
  const status = statusOf(call.state, document)
  return jsonReply(200, {
    document_id: document.id,
    status,
    ...(status === 'translating' && { seconds_remaining: call.state.settings.secondsRemaining }),
    ...(status === 'done' && { billed_characters: document.characters }),
    ...(status === 'error' && { error_message: document.failure, message: document.failure }),
  })
}

/** Operation 11: the document is billed and forgotten once its last byte is out, and only then. */
export function downloadDocument(call: Call): Reply {
  const { state } = call
  const gone = state.documents.get(call.request.params.document_id ?? '')?.goneAs503
  if (gone) {
    state.documents.delete(call.request.params.document_id ?? '')
    throw new Refusal(jsonReply(503, { message: 'Document already downloaded' }))
  }
  const document = ownDocument(call)
  const status = statusOf(state, document)
  if (status === 'error') refuse(404, 'Document translation failed')
  if (status !== 'done') refuse(503, 'Document is not ready')
  const { filename, extension, outputExtension } = document
  const name = filename.slice(0, -extension.length) + outputExtension
  return {
    status: 200,
    headers: { 'Content-Type': DOCUMENT_TYPES[outputExtension] ?? 'application/octet-stream', 'Content-Disposition': attachment(name) },
    body: translatedDocument(document.content, document.target),
    sent(complete) {
      if (!complete || !state.documents.delete(document.id)) return
      bill(call, 'document_translation', document.characters)
    },
  }
}

function ownDocument(call: Call): StoredDocument {
  const { document_key: key } = readBody(call, { document_key: { type: 'string', required: true } })
  const document = liveDocument(call.state, call.request.params.document_id ?? '')
  return document && document.key === key && document.owner === call.key.key ? document : refuse(404, GONE)
}

/** Nothing once the result has waited for too long. */
function liveDocument({ documents, clock, settings }: TranslationState, id: string): StoredDocument | undefined {
  const document = documents.get(id)
  if (!document) return undefined
  if (clock.now() - document.uploadedAt < settings.queueMs + settings.translateMs + settings.ttlMs) return document
  documents.delete(id)
  return undefined
}

function statusOf({ clock, settings }: TranslationState, { uploadedAt, failure }: StoredDocument): DocumentStatus {
  const age = clock.now() - uploadedAt
  if (age < settings.queueMs) return 'queued'
  if (age < settings.queueMs + settings.translateMs) return 'translating'
  return failure === undefined ? 'done' : 'error'
}

/** RFC 6266: in quotes, and encoded where it has more than ASCII. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\]/g, '\\$&')
  const encoded = /[^\x20-\x7e]/.test(name) ? `; filename*=UTF-8''${encodeURIComponent(name)}` : ''
  return `attachment; filename="${plain}"${encoded}`
}
