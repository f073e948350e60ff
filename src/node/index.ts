/** What `stac-auth/node` gives: credentials from the user's file and environment, and the transport. */
export { credentialsFromFile } from './credential-file.ts'
export { credentialsFromEnvironment, type EnvironmentOptions } from './environment.ts'
export { type UndiciTransportOptions, undiciTransport } from './undici-transport.ts'
