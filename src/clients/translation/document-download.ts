/** Fetches a translated document: the service gives it once. */
import { isAuthError, ProtocolError } from '../../errors.ts'
import type { ApiResponse } from '../api-response.ts'
import { described } from '../described.ts'
import { NotFoundError, type UnavailableError } from '../errors.ts'
import type { DocumentHandle } from './document-handle.ts'
import { type DocumentSink, deliver } from './document-sink.ts'
import { documentFailure, documentStatus, Pace } from './document-status.ts'
import { DocumentError } from './errors.ts'
import { poll } from './poll.ts'
import { proposedName } from './proposed-name.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/** A document that was fetched, beside its bytes. */
export interface FetchedDocument {
  readonly handle: DocumentHandle
  /** As the service proposes, without folders. */
  readonly filename: string | undefined
  readonly contentType: string | undefined
  /** Where there is no sink. */
  readonly bytes: Uint8Array | undefined
  readonly traceId: string | undefined
}

/**
 * Fetches a document into its sink: all of it, else an error and no file. After its first byte it is never asked for again.
 *
 * Errors: `DOCUMENT_NOT_READY` with the state, `DOCUMENT_FAILED`, `DOCUMENT_GONE` (fetched before, or expired), `RESPONSE_TRUNCATED`, those
 * of the sink, those of every call.
 */
export async function downloadDocument(
  service: TranslationService,
  handle: DocumentHandle,
  sink: DocumentSink,
  options: TranslationCallOptions = {},
): Promise<FetchedDocument> {
  const seen: { answer?: ApiResponse } = {}
  const bytes = await deliver(sink, async () => {
    const answer = await begin(service, handle, options)
    seen.answer = answer
    return answer.data
  })
  const { headers, traceId } = seen.answer ?? {}
  const filename = proposedName(headers?.get('content-disposition') ?? null)
  return { handle, filename, contentType: headers?.get('content-type') ?? undefined, bytes, traceId }
}

/**
 * The same for a document that was said to be done: a service that is not ready after all is asked again, a few times. Errors: as of
 * {@link downloadDocument}; `RESPONSE_INVALID` when the document is no longer done.
 */
export async function fetchWhenDone(
  service: TranslationService,
  handle: DocumentHandle,
  sink: DocumentSink,
  { deadline, ...options }: TranslationCallOptions,
): Promise<FetchedDocument> {
  const pace = new Pace()
  let tries = 0
  const source = {
    name: 'documents.download',
    clock: service.clock,
    ask: async (signal: AbortSignal) => {
      try {
        return await downloadDocument(service, handle, sink, { ...options, signal })
      } catch (error) {
        if (!(error instanceof DocumentError) || error.code !== 'DOCUMENT_NOT_READY') throw error
        if (error.state !== 'done') throw backwards(error.state)
        if (++tries >= MOST_TRIES) throw error
        return undefined
      }
    },
    stateOf: () => undefined,
    delayAfter: (fetched: FetchedDocument | undefined) => (fetched ? undefined : pace.next()),
  }
  const fetched = await poll(source, { signal: options.signal, deadline })
  if (!fetched) throw new ProtocolError('RESPONSE_INVALID', 'documents.download: there is no document')
  return fetched
}

const MOST_TRIES = 5

/** A 503 means one of three things, which only the state can tell. */
async function begin(
  service: TranslationService,
  handle: DocumentHandle,
  options: TranslationCallOptions,
): Promise<ApiResponse<ReadableStream<Uint8Array>>> {
  const { document_id, document_key } = handle.export()
  try {
    const call = { ...options, totalTimeout: options.totalTimeout ?? false }
    return await service.send<ReadableStream<Uint8Array>>('documents.download', { path: { document_id }, body: { document_key } }, call)
  } catch (error) {
    if (!isAuthError(error) || error.code !== 'HTTP_503') throw error
    // For the result, and at least once for the state.
    throw described(await unavailable(service, handle, options, error as UnavailableError), (error.attempts ?? 0) + 1, 'documents.download')
  }
}

async function unavailable(
  service: TranslationService,
  handle: DocumentHandle,
  options: TranslationCallOptions,
  cause: UnavailableError,
): Promise<DocumentError> {
  try {
    const status = await documentStatus(service, handle, options)
    if (status.status === 'error') return documentFailure(service, handle, status)
    const state = service.scrub(status.status)
    return new DocumentError('DOCUMENT_NOT_READY', `the document is not ready: it is ${state}`, { handle, state, retryable: true, cause })
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error
    const hint = 'upload it again: a result is given once, and not kept for long'
    return new DocumentError('DOCUMENT_GONE', 'the document is gone: it was fetched already, or it has expired', { handle, hint, cause })
  }
}

function backwards(state: string | undefined): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `documents.status: a document that was done is ${state ?? 'in no state'}`)
}
