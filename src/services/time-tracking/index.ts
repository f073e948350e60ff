/** `stac-auth/time-tracking`: the client of the time-tracking service. Errors, `CLEAR` and readers of values are in `stac-auth/clients`. */

export type {
  Customer,
  CustomerChanges,
  LoginToken,
  OnceOptions,
  Project,
  ProjectChanges,
  TimeTrackingAuth,
  TimeTrackingOptions,
} from './time-tracking-client.ts'
export { TimeTrackingClient } from './time-tracking-client.ts'
