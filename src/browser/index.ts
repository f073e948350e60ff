/** Exports of `stac-auth/browser`: logins of a page, credential forms, and stores that survive a reload. */
export { type CompleteLoginOptions, completeLogin } from './complete-login.ts'
export type { FormField, FormModel } from './credential-form.ts'
export { type Consent, credentialFrom, type DescribeOptions, describeRequirements } from './credential-form.ts'
export {
  createLogins,
  type FinishedLogin,
  type Logins,
  type LoginsOptions,
  type LogoutOptions,
  type PopupLoginOptions,
  type RedirectLoginOptions,
} from './logins.ts'
export type { Page } from './page.ts'
export type { DatabaseOptions } from './stores.ts'
export {
  type DpopKeyStore,
  type DpopKeyStoreOptions,
  dpopKeyStore,
  type IndexedDbOptions,
  indexedDbStore,
  type SessionStorageOptions,
  sessionStorageStore,
} from './stores.ts'
