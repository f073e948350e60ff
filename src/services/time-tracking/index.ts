/** `stac-auth/time-tracking`: the client of the time-tracking service. Errors, `CLEAR` and readers of values are in `stac-auth/clients`. */

export type { AuthHeader, BoundToken, ProfileOptions, TimeTrackingOptions } from './options.ts'
export type { NewProject, Project, ProjectChanges } from './project.ts'
export type { Customer, CustomerChanges, LoginInput, LoginToken, OnceOptions, TimeTrackingAuth } from './time-tracking-client.ts'
export { type RequestOptions, TIME_TRACKING, TimeTrackingClient } from './time-tracking-client.ts'
