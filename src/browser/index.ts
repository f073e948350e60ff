/** Exports of `stac-auth/browser`: logins of a page, credential forms, stores that survive a reload, credentials that change. */
export { completeLogin } from './complete-login.ts'
export { credentialFrom, describeRequirements, type FormModel } from './credential-form.ts'
export {
  type CredentialSummary,
  createLiveAuth,
  type LiveAuth,
  type LiveAuthOptions,
  type LiveChange,
} from './live-auth.ts'
export { createLogins, type Logins, type LoginsOptions } from './logins.ts'
export { type DpopKeyStore, dpopKeyStore, indexedDbStore, sessionStorageStore } from './stores.ts'
