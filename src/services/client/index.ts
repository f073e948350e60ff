/** `stac-auth/clients`: the building blocks of clients of an API. */

export type { ApiClientOptions, Timeouts } from './api-client.ts'
export { ApiClient } from './api-client.ts'
export type { ApiResponse } from './call.ts'
export { HttpError, PermissionError, RateLimitError, ValidationError } from './errors.ts'
export type { CallEvent, ClientEvents } from './events.ts'
export { CLEAR, type FormOptions } from './form.ts'
export type { Codec } from './outcome.ts'
export type { Paged, PagedOptions, Paging } from './paging.ts'
export type { CallInput, CallOptions, Interceptor, Method, Operation, RetryOptions, StreamBody } from './request-builder.ts'
export {
  asBool,
  asDecimal,
  asDuration,
  asInstant,
  asInt,
  type Decoded,
  type Instant,
  JSON_REST,
  type Resource,
  type ResourceOptions,
  RestResource,
  type ServiceProfile,
} from './rest-resource.ts'
export type { ReplayClass } from './retries.ts'
export { ServiceLimits, type ServiceLimitsOptions } from './retries.ts'
