/** Downloads assets into files, verifies them and resumes interrupted runs; exported by `stac-auth/node`. */

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
export type { ManifestEntry } from './manifest.ts'
export {
  type UnverifiedEvent,
  type VerifiedEvent,
  type VerifyEvent,
  type VerifyOptions,
  type VerifySummaryEvent,
  verifyFolder,
} from './verify-folder.ts'
