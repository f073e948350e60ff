/**
 * The exports of `stac-auth/node`: credentials from the user's file and environment, logins, token stores, downloads, and the transport.
 */
export { type AuthorizedTarget, authorizeAll } from './authorize-all.ts'
export { credentialsFromEnvironment, credentialsFromFile } from './credentials/credential-file.ts'
export {
  type DownloadEvent,
  type DownloadInput,
  type DownloadOptions,
  download,
  type VerifyEvent,
  type VerifyOptions,
  verifyFolder,
} from './download/index.ts'
export { createGateway, type Gateway, type GatewayOptions } from './gateway/index.ts'
export { loopbackRedirect } from './login/loopback-login.ts'
export { openBrowser } from './login/open-browser.ts'
export { type OrderOptions, withOrders } from './orders.ts'
export { downloadByQueue, workDownloads } from './queue/queued-downloads.ts'
export { tokenFiles } from './tokens/token-files.ts'
export { tokenKeyring } from './tokens/token-keyring.ts'
export { type TokenRedis, tokenRedis } from './tokens/token-redis.ts'
export { type UndiciTransportOptions, undiciTransport } from './transport/undici-transport.ts'
