/**
 * The exports of `stac-auth/node`: credentials from the user's file and environment, logins, token stores, downloads, and the transport.
 */
export { type AuthorizeAllOptions, type AuthorizedTarget, authorizeAll, type TargetInput } from './authorize-all.ts'
export { credentialsFromEnvironment, credentialsFromFile, type EnvironmentOptions } from './credentials/credential-file.ts'
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
export {
  createGateway,
  type Gateway,
  type GatewayDocument,
  type GatewayListen,
  type GatewayOptions,
  type GatewayRequest,
  type GatewayTarget,
} from './gateway/index.ts'
export { type LoopbackOptions, loopbackRedirect } from './login/loopback-login.ts'
export { type BrowserOptions, openBrowser } from './login/open-browser.ts'
export { type OrderOptions, withOrders } from './orders.ts'
export { type DownloadQueueOptions, type DownloadWorkerOptions, downloadByQueue, workDownloads } from './queue/index.ts'
export { type TokenFilesOptions, tokenFiles } from './tokens/token-files.ts'
export { tokenKeyring } from './tokens/token-keyring.ts'
export { type TokenRedis, type TokenRedisOptions, tokenRedis } from './tokens/token-redis.ts'
export { type UndiciTransportOptions, undiciTransport } from './transport/undici-transport.ts'
