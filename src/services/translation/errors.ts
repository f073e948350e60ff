/** What only the translation client raises, besides the errors of all clients. */
import { AuthError, type AuthErrorFields, type ErrorCode } from '../../errors.ts'
import type { DocumentHandle } from './document-handle.ts'

/** A document that cannot be had. `DOCUMENT_FAILED`, `DOCUMENT_NOT_READY`, `DOCUMENT_GONE`. */
export class DocumentError extends AuthError {
  override readonly name = 'DocumentError'
  /** What names the document; its key is not shown. */
  readonly handle: DocumentHandle
  /** The last state that the service reported: `queued`, `translating`, `done`, `error`. */
  readonly state?: string

  constructor(code: ErrorCode, message: string, { handle, state, ...fields }: AuthErrorFields & Pick<DocumentError, 'handle' | 'state'>) {
    super(code, message, fields)
    this.handle = handle
    if (state !== undefined) this.state = state
  }
}

/** A job that the service could not do. `JOB_FAILED`. */
export class JobFailedError extends AuthError {
  override readonly name = 'JobFailedError'
  readonly jobId: string
  /** The service's own code. */
  readonly serviceCode?: string

  constructor(message: string, { jobId, serviceCode, ...fields }: AuthErrorFields & Pick<JobFailedError, 'jobId' | 'serviceCode'>) {
    super('JOB_FAILED', message, fields)
    this.jobId = jobId
    if (serviceCode !== undefined) this.serviceCode = serviceCode
  }
}

/** Not all of many could be done; what was done is in `results`. `BATCH_INCOMPLETE`. */
export class BatchError<Done = unknown> extends AuthError {
  override readonly name = 'BatchError'
  /** In the order of what was asked for; `undefined` where there is none. */
  readonly results: readonly (Done | undefined)[]
  /** Places of what was tried and failed, and why. */
  readonly failures: readonly { readonly index: number; readonly error: AuthError }[]
  /** Places of what was not sent any more. */
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

/** The service ended a voice session, which cannot continue. `VOICE_FAILED`. */
export class VoiceError extends AuthError {
  override readonly name = 'VoiceError'
  /** The service's own codes: what failed, and why. */
  readonly serviceCode?: string
  readonly reasonCode?: string
  /** The message of ours that it speaks of. */
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
