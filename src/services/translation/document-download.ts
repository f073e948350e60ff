/** Downloads a translated document, which the service returns only once. */

import { platform } from '#platform'
import { ProtocolError } from '../../errors.ts'
import { proposedName } from '../../http/headers.ts'
import { readBody } from '../../http/message.ts'
import { described, foreign, type HttpError, hasStatus } from '../client/errors.ts'
import { chunksOf } from '../client/request.ts'
import type { ApiResponse } from '../client/response.ts'
import { type DocumentHandle, documentFailure, documentGone, documentStatus, PollDelay } from './document-handle.ts'
import { DocumentError } from './errors.ts'
import { poll } from './poll.ts'
import type { TranslationCallOptions, TranslationService } from './translation-service.ts'

/** A downloaded document. */
export interface FetchedDocument {
  /** The handle that it was downloaded with. */
  readonly handle: DocumentHandle
  /** The name that the service proposes, without folders. */
  readonly filename: string | undefined
  /** Media type of the document. */
  readonly contentType: string | undefined
  /** The document, if there is no sink. */
  readonly bytes: Uint8Array | undefined
  /** Identifier of the request for the support of the service. */
  readonly traceId: string | undefined
}

/**
 * Downloads a document into its sink, completely, or fails and leaves no file. It is not requested again after its first byte.
 *
 * Errors: `DOCUMENT_NOT_READY` with the state, `DOCUMENT_FAILED`, `DOCUMENT_GONE` (fetched before, or expired), `HTTP_404` for a handle
 * that the service never accepted from this client, `RESPONSE_TRUNCATED`, those of the sink, those of every call.
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
  service.seenDocuments.note(handle, 'fetched')
  const { headers, traceId } = seen.answer ?? {}
  const filename = proposedName(headers?.get('content-disposition') ?? null)
  return { handle, filename, contentType: headers?.get('content-type') ?? undefined, bytes, traceId }
}

/**
 * Downloads a document with the state `done`: if the service is not ready after all, the request is repeated a few times. Errors: those of
 * {@link downloadDocument}; `RESPONSE_INVALID` when the document is no longer done.
 */
export async function fetchWhenDone(
  service: TranslationService,
  handle: DocumentHandle,
  sink: DocumentSink,
  { deadline, ...options }: TranslationCallOptions,
): Promise<FetchedDocument> {
  const delay = new PollDelay()
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
    stateOf: () => 'done',
    delayAfter: (got: FetchedDocument | undefined) => (got ? undefined : delay.next()),
  }
  const fetched = await poll(source, { signal: options.signal, deadline })
  if (!fetched) throw new ProtocolError('RESPONSE_INVALID', 'documents.download: the response has no document')
  return fetched
}

const MOST_TRIES = 5

/** Begins the download. A 503 or 404 has several meanings; the state and earlier responses distinguish them. */
async function begin(
  service: TranslationService,
  handle: DocumentHandle,
  options: TranslationCallOptions,
): Promise<ApiResponse<ReadableStream<Uint8Array>>> {
  const { document_id, document_key } = handle.export()
  try {
    const call = { ...options, totalTimeout: options.totalTimeout ?? false }
    const input = { path: { document_id }, body: { document_key } }
    const answer = await service.send<ReadableStream<Uint8Array>>('documents.download', input, call)
    service.seenDocuments.note(handle, 'exists')
    return answer
  } catch (error) {
    if (!hasStatus(error, 404) && !hasStatus(error, 503)) throw error
    const attempts = error.attempts ?? 0
    if (service.seenDocuments.of(handle) === 'fetched') throw described(documentGone(handle, error), attempts, 'documents.download')
    // Counts the requests for the result, and at least one for the state.
    throw described(await unavailable(service, handle, options, error), attempts + 1, 'documents.download')
  }
}

/** Returns the error for a 404 or 503. A 404 for a handle that the service never accepted stays unchanged: its id or key may be wrong. */
async function unavailable(
  service: TranslationService,
  handle: DocumentHandle,
  options: TranslationCallOptions,
  cause: HttpError,
): Promise<DocumentError | HttpError> {
  const isMissing = cause.status === 404
  const isKnown = service.seenDocuments.of(handle) !== undefined
  try {
    const status = await documentStatus(service, handle, options)
    if (status.status === 'error') return documentFailure(service, handle, status)
    const state = service.scrub(status.status)
    if (isMissing && state === 'done') return cause
    return new DocumentError('DOCUMENT_NOT_READY', `the document is not ready: it is ${state}`, { handle, state, retryable: true, cause })
  } catch (error) {
    if (!hasStatus(error, 404)) throw error
    return isMissing && !isKnown ? cause : documentGone(handle, cause)
  }
}

function backwards(state: string | undefined): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `documents.status: the state changed from done to ${state ?? 'no state'}`)
}

/**
 * The destination of a document: on Node the path of a new file, which is complete or absent (`overwrite` replaces an existing one); a
 * stream; or `undefined` for bytes in the result. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`.
 */
export type DocumentSink = { readonly path: string; readonly overwrite?: boolean } | WritableStream<Uint8Array> | undefined

/** Refuses an unusable sink before the translation is billed. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function checkSink(sink: DocumentSink): Promise<void> {
  if (sink === undefined || isWritable(sink)) return
  // A stream of Node has a path as well, of a file that it creates itself.
  if (typeof sink?.path !== 'string' || 'pipe' in sink) throw new TypeError('the output must be { path } or a WritableStream')
  await (await platform.files()).check(sink.path, sink.overwrite ?? false)
}

/**
 * Writes a document to its sink. An incomplete document never looks complete; a stream that fails is aborted.
 *
 * @param open starts the download; called once, when the sink is ready
 * @returns the bytes if there is no sink
 */
async function deliver(sink: DocumentSink, open: () => Promise<ReadableStream<Uint8Array>>): Promise<Uint8Array | undefined> {
  if (sink === undefined) return readBody(chunksOf(await open()), Number.POSITIVE_INFINITY, '')
  if (isWritable(sink)) {
    await (await open()).pipeTo(sink).catch((error: unknown) => {
      throw foreign(error, 'documents.download')
    })
  } else {
    const files = await platform.files()
    await files.write(sink.path, async () => chunksOf(await open()), sink.overwrite ?? false)
  }
  return undefined
}

function isWritable(sink: NonNullable<DocumentSink>): sink is WritableStream<Uint8Array> {
  return 'getWriter' in Object(sink)
}
