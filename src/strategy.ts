/** What a strategy of your own is written with; `createAuth({ strategies: [...defaultStrategies, mine] })` takes it. */
export type { Credential, CredentialFields, Field } from './auth/credential.ts'
export type { Session } from './auth/session.ts'
export {
  type AuthContext,
  type AuthFlow,
  type AuthStep,
  authorized,
  handshake,
  type LazyStrategy,
  type SchemeIdentity,
  type Strategy,
  singleStep,
  type Token,
} from './auth/strategy.ts'
