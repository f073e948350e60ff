/** Downloads assets into files, verifies them and resumes interrupted runs; exported by `stac-auth/node`. */

import type { VerifyEvent, VerifyOptions } from './verify-folder.ts'

export { type PromisedFile, promisedFile } from '../base/promised-file.ts'
export { type Promised, promiseOf } from './checksums.ts'
export type {
  AssetChoice,
  DocumentEvent,
  DownloadEvent,
  DownloadFile,
  DownloadInput,
  DownloadOptions,
  FailedEvent,
  KeptEvent,
  PlannedEvent,
  ProgressEvent,
  RetryEvent,
  SkippedEvent,
  SourceDocument,
  StartedEvent,
  SummaryEvent,
  TransferOptions,
  Verification,
  WarningEvent,
  WrittenEvent,
} from './download.ts'
export { download } from './download.ts'
export { asExpired, expiredHref } from './expired-href.ts'
export { FileCheck } from './file-check.ts'
export type { ManifestEntry } from './manifest.ts'
export { pathTemplate } from './path-template.ts'
export { inspected } from './receive-body.ts'
export { codingProblem, type Delivery, deliveryOf, isWantedAsSent } from './response.ts'
export { PREPARED_WITHIN, Preparation } from './retries.ts'
export {
  alternativesOf,
  firstUsable,
  keyOf,
  lastName,
  originAndPath,
  type SelectionOptions,
  selectFiles,
  selectionOptionsOf,
} from './selected-files.ts'
export type { UnverifiedEvent, VerifiedEvent, VerifyEvent, VerifyOptions, VerifySummaryEvent } from './verify-folder.ts'

/**
 * Compares the files of a folder with its manifest and yields an event per file; the summary comes last.
 *
 * Errors: `FILE_ACCESS` without a manifest, `PATH_UNSAFE`, `ABORTED`.
 *
 * @example
 * for await (const event of verifyFolder({ folder: 'data' })) if (event.kind === 'failed') console.error(event.path, event.error.message)
 */
export async function* verifyFolder(options: VerifyOptions): AsyncGenerator<VerifyEvent, void> {
  const { verifyFiles } = await import('./verify-folder.ts')
  yield* verifyFiles(options)
}
