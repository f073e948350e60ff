/** Exports of `stac-auth/element`: the custom element for credentials and logins. */
export {
  type AccessState,
  defineStacAuth,
  type ElementAuth,
  type LoginClient,
  StacAuthElement,
  type StacAuthEvents,
} from './stac-auth-element.ts'
export { english, type StringName, type Strings } from './strings.ts'
