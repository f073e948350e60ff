/** `stac-auth/time-tracking`: the client of the time-tracking service. Errors, `CLEAR` and readers of values are in `stac-auth/clients`. */

export type {
  AuthHeader,
  BoundToken,
  Customer,
  CustomerChanges,
  LoginInput,
  LoginToken,
  NewProject,
  OnceOptions,
  ProfileOptions,
  Project,
  ProjectChanges,
  TimeTrackingAuth,
  TimeTrackingOptions,
} from './time-tracking-client.ts'
export { type RequestOptions, TIME_TRACKING, TimeTrackingClient } from './time-tracking-client.ts'
