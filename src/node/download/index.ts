/** Downloads assets into files, verifies them and resumes interrupted runs; exported by `stac-auth/node`. */

export type { AssetChoice, DownloadInput, DownloadOptions, SourceDocument, TransferOptions } from './download.ts'
export { download } from './download.ts'
export type {
  DocumentEvent,
  DownloadEvent,
  DownloadFile,
  FailedEvent,
  KeptEvent,
  PlannedEvent,
  ProgressEvent,
  RetryEvent,
  SkippedEvent,
  StartedEvent,
  SummaryEvent,
  Verification,
  WarningEvent,
  WrittenEvent,
} from './events.ts'
export type { ManifestEntry } from './manifest.ts'
export {
  type UnverifiedEvent,
  type VerifiedEvent,
  type VerifyEvent,
  type VerifyOptions,
  type VerifySummaryEvent,
  verifyFolder,
} from './verify-folder.ts'
