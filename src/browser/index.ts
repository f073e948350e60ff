/** What `stac-auth/browser` gives: a store for tokens that outlives a reload of the page. */
export { type SessionStorageOptions, sessionStorageStore } from './session-storage-store.ts'
