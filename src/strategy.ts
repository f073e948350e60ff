/** What a strategy of your own is written with; `createAuth({ strategies: [...defaultStrategies, mine] })` takes it. */
export type { Credential, CredentialFields, Field } from './auth/credential.ts'
export { Secret } from './auth/credential.ts'
export type { CacheEntry, Session, SessionStore } from './auth/session.ts'
export {
  type AuthContext,
  type AuthFlow,
  type AuthStep,
  authorized,
  handshake,
  type Identity,
  type IdentityMember,
  type Input,
  type LazyStrategy,
  loadStrategies,
  type ObjectKeys,
  type PeekContext,
  type Preparation,
  type Resource,
  type SchemeIdentity,
  type SessionChange,
  type Strategy,
  singleStep,
  type Token,
  type TokenState,
  type Warning,
} from './auth/strategy.ts'
export type { UrlPattern } from './auth/url-pattern.ts'
export type { Connection, HttpRequest, HttpResponse, ReplayableBody, Send, SendOptions } from './http/message.ts'
export type { CustomScheme } from './stac/scheme.ts'
export type { ObjectLocation, Storage } from './stac/storage.ts'
