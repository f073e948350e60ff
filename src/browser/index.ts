/** What `stac-auth/browser` gives: logins of a page, and a store for tokens that outlives a reload of it. */
export { type CompleteLoginOptions, completeLogin } from './complete-login.ts'
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
