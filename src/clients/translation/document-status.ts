/** How far the translation of a document is. */

import { type HttpError, NotFoundError } from '../errors.ts'
import type { DocumentHandle } from './document-handle.ts'
import { DocumentError } from './errors.ts'
import { poll } from './poll.ts'
import type { Result } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

export interface DocumentStatus {
  readonly document_id: string
  readonly status: 'queued' | 'translating' | 'done' | 'error' | (string & {})
  /** Only while it is translated, and only a guess. */
  readonly seconds_remaining?: number
  /** Nothing is billed before the document was fetched. */
  readonly billed_characters?: number
  readonly error_message?: string
  readonly message?: string
}

/** The state of a document. Errors: `HTTP_404` for a wrong key as well, and once the document was fetched. */
export async function documentStatus(
  service: TranslationService,
  handle: DocumentHandle,
  options: TranslationCallOptions = {},
): Promise<Result<DocumentStatus>> {
  const { document_id, document_key } = handle.export()
  const status = await service.call<DocumentStatus>('documents.status', { path: { document_id }, body: { document_key } }, options)
  service.seenDocuments.note(handle, 'exists')
  return status
}

/**
 * The state in which the document can be fetched. Asks after 1 s, then less and less often, and takes the guess of the service into
 * account.
 *
 * Errors: `DOCUMENT_FAILED` with the service's reason, `DOCUMENT_GONE` when this client downloaded it before, `TIMEOUT_TOTAL` at the
 * deadline with `lastState`, those of every call.
 *
 * @param deadline none by default: a large document takes its time
 */
export function waitForDocument(
  service: TranslationService,
  handle: DocumentHandle,
  { deadline, ...options }: TranslationCallOptions = {},
): Promise<DocumentStatus> {
  const pace = new Pace()
  const unknown = new Set<string>()
  const source = {
    name: 'documents.status',
    clock: service.clock,
    ask: async (signal: AbortSignal) => {
      const state = await documentStatus(service, handle, { ...options, signal }).catch((error: unknown) => {
        throw error instanceof NotFoundError && service.seenDocuments.of(handle) === 'fetched' ? documentGone(handle, error) : error
      })
      const { seconds_remaining } = state
      const status = service.scrub(state.status)
      service.emit('progress', { operation: 'documents.status', document_id: handle.document_id, status, seconds_remaining })
      if (status === 'error') throw documentFailure(service, handle, state)
      if (!KNOWN.has(status) && !unknown.has(status)) {
        unknown.add(status)
        service.emit('warning', { code: 'DOCUMENT_STATUS_UNKNOWN', message: `a document has the unknown state ${JSON.stringify(status)}` })
      }
      return state
    },
    stateOf: ({ status }: DocumentStatus) => service.scrub(status),
    delayAfter: ({ status, seconds_remaining }: DocumentStatus) => (status === 'done' ? undefined : pace.next(seconds_remaining)),
  }
  return poll<DocumentStatus>(source, { signal: options.signal, deadline })
}

/** `DOCUMENT_FAILED`. */
export function documentFailure(
  service: TranslationService,
  handle: DocumentHandle,
  { status, error_message, message }: DocumentStatus,
): DocumentError {
  const why: unknown = error_message ?? message
  const said = typeof why === 'string' ? service.scrub(why) : ''
  return new DocumentError('DOCUMENT_FAILED', `the document could not be translated${said && `: ${said}`}`, { handle, state: status })
}

/** `DOCUMENT_GONE`. */
export function documentGone(handle: DocumentHandle, cause: HttpError): DocumentError {
  const hint = 'upload it again: a result is given once, and not kept for long'
  return new DocumentError('DOCUMENT_GONE', 'the document is gone: it was fetched already, or it has expired', { handle, hint, cause })
}

const KNOWN = new Set(['queued', 'translating', 'done'])
const FIRST = 1000
const LONGEST = 15_000
/** A guess beyond an hour is none: the service is known for absurd ones. */
const BELIEVED = 3600

/** Milliseconds between questions: half as long again each time, or as long as the service says, 1 to 60 s. */
export class Pace {
  #delay = FIRST

  next(secondsRemaining?: number): number {
    const usual = this.#delay
    this.#delay = Math.min(LONGEST, usual * 1.5)
    const isBelieved = secondsRemaining !== undefined && secondsRemaining > 0 && secondsRemaining <= BELIEVED
    return isBelieved ? Math.max(1, Math.min(60, secondsRemaining)) * 1000 : usual
  }
}
