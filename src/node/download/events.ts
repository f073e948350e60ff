/** The events of a download. */
import type { AuthError, ErrorCode } from '../../errors.ts'

/** One file to download. */
export interface DownloadFile {
  /** From 1, in the order of planning. */
  readonly number: number
  /**
   * Path below the folder, with `/` as separator. A name planned without an extension may have one in `written` and `kept`: the one that the
   * server proposes.
   */
  readonly name: string
  /** Path in the file system. */
  readonly path: string
  /** Origin and path of the first request. */
  readonly url: string
  /** JSON pointer of the target in the input. */
  readonly pointer: string
  /** `id` of the document. */
  readonly document?: string
  /** Key of the asset. */
  readonly key?: string
  /** Size in bytes by the document (`file:size`). */
  readonly size?: number
  /** True in a dry run for a folder of an object store, which is not listed. */
  readonly folder?: true
}

/**
 * What was compared: a hash (`checksum` of the document, `digest` of the server), a size, the length of the response; for an existing
 * file, the entry of an earlier run (`manifest`) and what the server says now (`server`).
 */
export type Verification = 'checksum' | 'digest' | 'size' | 'length' | 'manifest' | 'server'

/** The first event of every file. */
export interface PlannedEvent {
  readonly kind: 'planned'
  readonly file: DownloadFile
}

/** The response of a file has begun. */
export interface StartedEvent {
  readonly kind: 'started'
  readonly file: DownloadFile
  /** Size of the file in bytes, if known. */
  readonly size?: number
  /** Bytes resumed from an earlier run. */
  readonly resumed: number
}

/** Bytes received so far; fewer than before after a restart. */
export interface ProgressEvent {
  readonly kind: 'progress'
  readonly file: DownloadFile
  readonly bytes: number
  readonly size?: number
}

/** The file is requested again after that many milliseconds. */
export interface RetryEvent {
  readonly kind: 'retry'
  readonly file: DownloadFile
  readonly error: AuthError
  readonly delay: number
  /** Consecutive attempts without a new byte. */
  readonly attempt: number
}

/** A warning: `CONTENT_TYPE_UNEXPECTED`, `CONTENT_CODING_UNKNOWN`, `CHECKSUM_UNSUPPORTED`. */
export interface WarningEvent {
  readonly kind: 'warning'
  readonly file: DownloadFile
  readonly code: ErrorCode
  readonly message: string
}

/** The file is complete and has its final name. */
export interface WrittenEvent {
  readonly kind: 'written'
  readonly file: DownloadFile
  /** Size of the file in bytes. */
  readonly bytes: number
  /** Bytes received over the network for it in this run. */
  readonly received: number
  readonly verified: readonly Verification[]
}

/** The file exists already and was kept. */
export interface KeptEvent {
  readonly kind: 'kept'
  readonly file: DownloadFile
  readonly bytes: number
  readonly verified: readonly Verification[]
}

export interface FailedEvent {
  readonly kind: 'failed'
  readonly file: DownloadFile
  readonly error: AuthError
  /** Bytes received over the network for it in this run. */
  readonly received: number
  /** Bytes kept for the next run. */
  readonly resumable: number
}

/** The file was left out because the size of its response is outside `assets.minSize` and `assets.maxSize`. */
export interface SkippedEvent {
  readonly kind: 'skipped'
  readonly file: DownloadFile
  /** Size of the file in bytes. */
  readonly size: number
  /** Bytes received over the network for it in this run. */
  readonly received: number
}

/** A copy of a document was written, or has failed. */
export interface DocumentEvent {
  readonly kind: 'document'
  /** Path in the file system. */
  readonly path: string
  readonly id?: string
  readonly error?: AuthError
}

/** The last event, also of an aborted download. */
export interface SummaryEvent {
  readonly kind: 'summary'
  /** Planned files: each was written, kept, skipped or failed, except in a dry run or an aborted download. */
  readonly files: number
  readonly written: number
  readonly kept: number
  readonly failed: number
  /** Files left out because of the size of their response; those left out by `file:size` are not planned. */
  readonly skipped: number
  /** Written copies of documents. */
  readonly documents: number
  /** Bytes of all files written and kept. */
  readonly bytes: number
  /** Bytes received over the network in this run. */
  readonly received: number
  readonly retries: number
  readonly milliseconds: number
  /** Why no further file was started: no space is left, or `signal` has aborted. */
  readonly stopped?: AuthError
}

export type DownloadEvent =
  | PlannedEvent
  | StartedEvent
  | ProgressEvent
  | RetryEvent
  | WarningEvent
  | WrittenEvent
  | KeptEvent
  | FailedEvent
  | SkippedEvent
  | DocumentEvent
  | SummaryEvent
