/** The public API of stac-auth: documents, credentials, the engine with all strategies or with those that a program names. */
export type {
  Auth,
  AuthorizedRequest,
  CredentialStatus,
  Explanation,
  Interaction,
  RefExplanation,
  Service,
} from './auth/auth.ts'
export { type AuthOptions, createAuth } from './auth/create-auth.ts'
export { createEngine, type EngineOptions } from './auth/create-engine.ts'
export {
  apiKey,
  basic,
  bearer,
  type CredentialInput,
  type CredentialSource,
  oauth2,
  openIdConnect,
  Secret,
  type SecretInput,
  type SecretSource,
  s3,
  signedUrl,
  uncheckedCredential,
} from './auth/credential.ts'
export { memoryStore, type SessionStore } from './auth/session.ts'
export type { SessionChange, Warning } from './auth/strategy.ts'
export {
  AbortedError,
  AuthError,
  ChallengeError,
  ConfigurationError,
  CredentialError,
  type ErrorCode,
  IntegrityError,
  isAuthError,
  NetworkError,
  ProtocolError,
  SelectionError,
  TimeoutError,
  TrustError,
  UnsupportedError,
} from './errors.ts'
export type { HttpRequest, HttpResponse, Send, Transport } from './http/message.ts'
export type { Clock } from './net/clock.ts'
export { type JsonObject, kindOf, type StacDocument } from './stac/document.ts'
export { type AuthScheme, isOAuth2Scheme, isSignedUrlScheme } from './stac/scheme.ts'
export { alternateOf, assetOf, linkOf, type Target, type TargetOptions, targetsOf } from './stac/target.ts'
export type { TokenIssuer } from './strategies/http/private-token.ts'
export { defaultStrategies } from './strategies/index.ts'
