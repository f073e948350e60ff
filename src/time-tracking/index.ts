/** `stac-auth/time-tracking`: the client of the time-tracking service. Errors, `CLEAR` and readers of values are in `stac-auth/clients`. */
export type { Customer, CustomerChanges } from './customer.ts'
export type { AuthHeader, BoundToken, ProfileOptions, TimeTrackingOptions } from './options.ts'
export { TIME_TRACKING } from './profile.ts'
export type { NewProject, Project, ProjectChanges } from './project.ts'
export type { LoginInput, LoginToken, OnceOptions, TimeTrackingAuth } from './time-tracking-auth.ts'
export { type RequestOptions, TimeTrackingClient } from './time-tracking-client.ts'
