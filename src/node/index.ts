/** What `stac-auth/node` gives: credentials from the user's file and environment, stores for tokens, and the transport. */
export { credentialsFromFile } from './credential-file.ts'
export { credentialsFromEnvironment, type EnvironmentOptions } from './environment.ts'
export { type TokenFilesOptions, tokenFiles } from './token-files.ts'
export { tokenKeyring } from './token-keyring.ts'
export { type UndiciTransportOptions, undiciTransport } from './undici-transport.ts'
