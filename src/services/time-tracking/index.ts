/** `stac-auth/time-tracking`: the client of the time-tracking service. Errors, `CLEAR` and readers of values are in `stac-auth/clients`. */

export type { NewProject, Project, ProjectChanges } from './project.ts'
export type {
  AuthHeader,
  BoundToken,
  Customer,
  CustomerChanges,
  LoginInput,
  LoginToken,
  OnceOptions,
  ProfileOptions,
  TimeTrackingAuth,
  TimeTrackingOptions,
} from './time-tracking-client.ts'
export { type RequestOptions, TIME_TRACKING, TimeTrackingClient } from './time-tracking-client.ts'
