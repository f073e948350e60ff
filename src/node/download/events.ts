/** The events of a download. */
import type { AuthError, ErrorCode } from '../../errors.ts'

/** One file that is wanted. */
export interface DownloadFile {
  /** From 1, in the order of planning. */
  readonly number: number
  /**
   * Below the folder, with `/` between its parts. A name that is planned without an extension may have one in `written` and `kept`: that which
   * the server proposes.
   */
  readonly name: string
  /** In the file system. */
  readonly path: string
  /** Origin and path of what is asked first. */
  readonly url: string
  /** Of the target in what was read. */
  readonly pointer: string
  /** `id` of the document. */
  readonly document?: string
  /** Key of the asset. */
  readonly key?: string
  /** Bytes, as the document promises (`file:size`). */
  readonly size?: number
  /** In a dry run: a folder of an object store, which is not listed. */
  readonly folder?: true
}

/**
 * What was compared: a hash (`checksum` of the document, `digest` of the server), a size, the length of the answer; for a file that was
 * there, what an earlier run has noted about it (`manifest`) and what its server says now (`server`).
 */
export type Verification = 'checksum' | 'digest' | 'size' | 'length' | 'manifest' | 'server'

/** A file is wanted; every one is planned before it has another event. */
export interface PlannedEvent {
  readonly kind: 'planned'
  readonly file: DownloadFile
}

/** The server begins to answer. */
export interface StartedEvent {
  readonly kind: 'started'
  readonly file: DownloadFile
  /** Bytes of the whole, where somebody knows. */
  readonly size?: number
  /** Bytes that an earlier run has left. */
  readonly resumed: number
}

/** Bytes that are there; they may become fewer when a server makes us begin anew. */
export interface ProgressEvent {
  readonly kind: 'progress'
  readonly file: DownloadFile
  readonly bytes: number
  readonly size?: number
}

/** It is asked again after so many milliseconds. */
export interface RetryEvent {
  readonly kind: 'retry'
  readonly file: DownloadFile
  readonly error: AuthError
  readonly delay: number
  /** Attempts in a row that gained nothing. */
  readonly attempt: number
}

/** Something worth telling that stops nothing: `CONTENT_TYPE_UNEXPECTED`, `CONTENT_CODING_UNKNOWN`, `CHECKSUM_UNSUPPORTED`. */
export interface WarningEvent {
  readonly kind: 'warning'
  readonly file: DownloadFile
  readonly code: ErrorCode
  readonly message: string
}

/** The file is complete, on the disk and under its name. */
export interface WrittenEvent {
  readonly kind: 'written'
  readonly file: DownloadFile
  /** Bytes of the file. */
  readonly bytes: number
  /** Bytes that came over the network for it in this run. */
  readonly received: number
  readonly verified: readonly Verification[]
}

/** The file was there already and nothing speaks against it. */
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
  /** Bytes that came over the network for it in this run. */
  readonly received: number
  /** Bytes that the next run need not ask for. */
  readonly resumable: number
}

/** The response says a size outside of `assets.minSize` and `assets.maxSize`: the file was left out, and nothing of the response is stored. */
export interface SkippedEvent {
  readonly kind: 'skipped'
  readonly file: DownloadFile
  /** Bytes of the file. */
  readonly size: number
  /** Bytes that came over the network for it in this run. */
  readonly received: number
}

/** A copy of a document was written, or why not. */
export interface DocumentEvent {
  readonly kind: 'document'
  /** In the file system. */
  readonly path: string
  readonly id?: string
  readonly error?: AuthError
}

/** The last event, also of a download that was aborted. */
export interface SummaryEvent {
  readonly kind: 'summary'
  /** Files that were planned; all of them were written, kept, skipped or failed, unless it was a dry run or the download stopped. */
  readonly files: number
  readonly written: number
  readonly kept: number
  readonly failed: number
  /** Files left out because of the size that their response says; what `file:size` leaves out is not planned. */
  readonly skipped: number
  /** Copies of documents that were written. */
  readonly documents: number
  /** Bytes of the files written and kept. */
  readonly bytes: number
  /** Bytes that came over the network in this run. */
  readonly received: number
  readonly retries: number
  readonly milliseconds: number
  /** Why nothing more was begun: no space is left, or `signal` has aborted it. */
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
