/** `stac-auth/time-tracking`: the client of the time-tracking service. Its errors and `CLEAR` are in `stac-auth/clients`. */
export { type Customer, type LoginToken, type Project, TimeTrackingClient, type TimeTrackingOptions } from './time-tracking-client.ts'
