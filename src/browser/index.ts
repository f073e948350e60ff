/** What `stac-auth/browser` gives: logins of a page, forms for what catalogs need, and stores that outlive a reload. */
export { type CompleteLoginOptions, completeLogin } from './complete-login.ts'
export type { DatabaseOptions } from './database.ts'
export { type DescribeOptions, describeNeeds } from './describe-needs.ts'
export { type DpopKeyStore, type DpopKeyStoreOptions, dpopKeyStore } from './dpop-key-store.ts'
export { type Consent, entryFrom } from './entry-from.ts'
export type { FormField, FormModel } from './form-model.ts'
export { type IndexedDbOptions, indexedDbStore } from './indexed-db-store.ts'
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
export { type SessionStorageOptions, sessionStorageStore } from './session-storage-store.ts'
