/** What `stac-auth/node` gives: credentials from the user's file and environment, a way to log in, where tokens are kept, and the transport. */
export { credentialsFromFile } from './credential-file.ts'
export { credentialsFromEnvironment, type EnvironmentOptions } from './environment.ts'
export { type LoopbackOptions, loopbackRedirect } from './loopback-login.ts'
export { type BrowserOptions, openBrowser } from './open-browser.ts'
export { type TokenFilesOptions, tokenFiles } from './token-files.ts'
export { tokenKeyring } from './token-keyring.ts'
export { type UndiciTransportOptions, undiciTransport } from './undici-transport.ts'
