/** `stac-auth/clients`: the building blocks of clients of an API. */

export type { ApiClientOptions, Timeouts } from './api-client.ts'
export { ApiClient } from './api-client.ts'
export { HttpError, PermissionError, RateLimitError, ValidationError } from './errors.ts'
export type { CallEvent, ClientEvents } from './events.ts'
export { CLEAR, type FormOptions } from './form.ts'
export { ServiceLimits, type ServiceLimitsOptions } from './pacer.ts'
export type { Paged, PagedOptions, Paging } from './paging.ts'
export type { CallInput, CallOptions, Interceptor, Method, Operation, RetryOptions, StreamBody } from './request.ts'
export type { ApiResponse, Codec } from './response.ts'
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
