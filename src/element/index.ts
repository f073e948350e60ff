/** Exports of `stac-auth/element`: the custom element for credentials and logins. */
export { defineStacAuth, type LoginClient, StacAuthElement, type StacAuthEvents } from './stac-auth-element.ts'
export type { Strings } from './strings.ts'
