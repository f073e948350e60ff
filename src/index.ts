/** The public API of stac-auth: documents, credentials, the engine with all strategies. */
export { type AuthOptions, createAuth } from './auth/create-auth.ts'
export * from './engine.ts'
export type { TokenIssuer } from './strategies/http/private-token/issuance.ts'
export type { TokenChallenge } from './strategies/http/private-token/token-challenge.ts'
export { defaultStrategies } from './strategies/index.ts'
export type { ParameterFunction, ParameterValue } from './strategies/signed-url/parameters.ts'
