/** The public API of stac-auth: documents, credentials, the engine with all strategies. */
export type {
  Auth,
  AuthorizedRequest,
  AuthorizeOptions,
  ByAddressExplanation,
  CredentialStatus,
  DevicePrompt,
  Explanation,
  Interaction,
  LogoutChoice,
  OngoingLogin,
  Redirection,
  RedirectWish,
  RefExplanation,
  Service,
  SignatureExplanation,
  TargetSendOptions,
} from './auth/auth.ts'
export { type AuthOptions, createAuth } from './auth/create-auth.ts'
export {
  apiKey,
  basic,
  bearer,
  type CredentialForm,
  type CredentialInput,
  type CredentialObject,
  type CredentialSet,
  type CredentialSource,
  type Field,
  oauth2,
  openIdConnect,
  Secret,
  type SecretInput,
  type SecretSource,
  type SecretValue,
  type ServiceCredential,
  s3,
  signedUrl,
  type UncheckedCredential,
  type UrlPatterns,
  uncheckedCredential,
} from './auth/credential.ts'
export type { SessionStore } from './auth/session.ts'
export { memoryStore } from './auth/session.ts'
export type { LazyStrategy, ObjectKeys, SessionChange, Strategy, Warning } from './auth/strategy.ts'
export {
  AbortedError,
  AuthError,
  type AuthErrorFields,
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
export type {
  ClientCertificate,
  CredentialUse,
  HttpRequest,
  HttpResponse,
  ReplayableBody,
  Send,
  SendOptions,
  Transport,
} from './http/message.ts'
export type { Clock } from './net/clock.ts'
export type { DocumentKind, JsonObject, StacDocument } from './stac/document.ts'
export { kindOf } from './stac/document.ts'
export {
  type ApiKeyScheme,
  type AuthScheme,
  type CustomScheme,
  type HttpScheme,
  isApiKeyScheme,
  isHttpScheme,
  isOAuth2Scheme,
  isOpenIdConnectScheme,
  isS3Scheme,
  isSignedUrlScheme,
  type OAuth2Flow,
  type OAuth2Scheme,
  type OpenIdConnectScheme,
  type S3Scheme,
  type SignedUrlFlow,
  type SignedUrlScheme,
  type SigningParameter,
} from './stac/scheme.ts'
export type { ObjectLocation } from './stac/storage.ts'
export {
  alternateOf,
  assetOf,
  linkOf,
  type MalformedRef,
  type Scope,
  type Target,
  type TargetKind,
  type TargetOptions,
  targetsOf,
} from './stac/target.ts'
export type { TokenChallenge, TokenIssuer } from './strategies/http/private-token.ts'
export { defaultStrategies } from './strategies/index.ts'
export type { ParameterFunction, ParameterValue } from './strategies/signed-url/parameters.ts'
