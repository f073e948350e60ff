/** Errors of the translation client, in addition to those of all clients. */
import { AuthError, type AuthErrorFields, type ErrorCode } from '../../errors.ts'
import type { DocumentHandle } from './document-upload.ts'

/**
 * A document could not be translated or downloaded. Codes: `DOCUMENT_FAILED`, `DOCUMENT_NOT_READY`, `DOCUMENT_GONE` (downloaded before, or
 * expired).
 *
 * @example if (error instanceof DocumentError) await client.documents.resume(error.handle, { path: 'a.de.docx' })
 */
export class DocumentError extends AuthError {
  override readonly name = 'DocumentError'
  /** The document, for `documents.resume`; prints without its key. */
  readonly handle: DocumentHandle
  /** The last state that the service reported: `queued`, `translating`, `done`, `error`. */
  readonly state?: string

  constructor(code: ErrorCode, message: string, { handle, state, ...fields }: AuthErrorFields & Pick<DocumentError, 'handle' | 'state'>) {
    super(code, message, fields)
    this.handle = handle
    if (state !== undefined) this.state = state
  }
}

/**
 * A job of the service failed. Code `JOB_FAILED`.
 *
 * @example if (error instanceof JobFailedError) console.error(error.jobId, error.serviceCode)
 */
export class JobFailedError extends AuthError {
  override readonly name = 'JobFailedError'
  /** Identifier of the job. */
  readonly jobId: string
  /** The service's own code. */
  readonly serviceCode?: string

  constructor(message: string, { jobId, serviceCode, ...fields }: AuthErrorFields & Pick<JobFailedError, 'jobId' | 'serviceCode'>) {
    super('JOB_FAILED', message, fields)
    this.jobId = jobId
    if (serviceCode !== undefined) this.serviceCode = serviceCode
  }
}

/**
 * Some of many texts were not translated. Code `BATCH_INCOMPLETE`.
 *
 * @example if (error instanceof BatchError) console.error(error.failures.length, 'failed,', error.notSent.length, 'not sent')
 */
export class BatchError<Done = unknown> extends AuthError {
  override readonly name = 'BatchError'
  /** The results in the order of the input; `undefined` for a text without a result. */
  readonly results: readonly (Done | undefined)[]
  /** Indexes of the texts that failed, with their errors. */
  readonly failures: readonly { readonly index: number; readonly error: AuthError }[]
  /** Indexes of the texts that were not sent, because the quota is used up. */
  readonly notSent: readonly number[]

  constructor(
    message: string,
    { results, failures, notSent, ...fields }: AuthErrorFields & Pick<BatchError<Done>, 'results' | 'failures' | 'notSent'>,
  ) {
    super('BATCH_INCOMPLETE', message, fields)
    this.results = results
    this.failures = failures
    this.notSent = notSent
  }
}

/**
 * The service ended a voice session, which cannot continue. Code `VOICE_FAILED`.
 *
 * @example if (error instanceof VoiceError) console.error(error.serviceCode, error.reasonCode)
 */
export class VoiceError extends AuthError {
  override readonly name = 'VoiceError'
  /** The service's own code of the failure. */
  readonly serviceCode?: string
  /** The service's own code of the reason. */
  readonly reasonCode?: string
  /** Type of the message of the client that failed. */
  readonly requestType?: string

  constructor(
    message: string,
    { serviceCode, reasonCode, requestType, ...fields }: AuthErrorFields & Pick<VoiceError, 'serviceCode' | 'reasonCode' | 'requestType'>,
  ) {
    super('VOICE_FAILED', message, fields)
    if (serviceCode !== undefined) this.serviceCode = serviceCode
    if (reasonCode !== undefined) this.reasonCode = reasonCode
    if (requestType !== undefined) this.requestType = requestType
  }
}
