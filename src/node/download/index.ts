/** Assets into files, verified, and taken up again where a run was stopped; `stac-auth/node` gives all of this. */

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
