/**
 * What `stac-auth/node` gives: credentials from the user's file and environment, a way to log in, where tokens are kept, downloads, and
 * the transport.
 */
export { credentialsFromFile } from './credential-file.ts'
export {
  type AssetChoice,
  type DocumentEvent,
  type DownloadEvent,
  type DownloadFile,
  type DownloadInput,
  type DownloadOptions,
  download,
  type FailedEvent,
  type KeptEvent,
  type ManifestEntry,
  type PlannedEvent,
  type ProgressEvent,
  type RetryEvent,
  type SkippedEvent,
  type SourceDocument,
  type StartedEvent,
  type SummaryEvent,
  type TransferOptions,
  type UnverifiedEvent,
  type Verification,
  type VerifiedEvent,
  type VerifyEvent,
  type VerifyOptions,
  type VerifySummaryEvent,
  verifyFolder,
  type WarningEvent,
  type WrittenEvent,
} from './download/index.ts'
export { credentialsFromEnvironment, type EnvironmentOptions } from './environment.ts'
export { type LoopbackOptions, loopbackRedirect } from './loopback-login.ts'
export { type BrowserOptions, openBrowser } from './open-browser.ts'
export { type TokenFilesOptions, tokenFiles } from './token-files.ts'
export { tokenKeyring } from './token-keyring.ts'
export { type UndiciTransportOptions, undiciTransport } from './undici-transport.ts'
