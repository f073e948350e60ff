/** `stac-auth/clients`: what clients of an API are made from. */

export { type Clock, systemClock, type TimerKind } from '../../net/clock.ts'
export type { RateLimit } from '../../net/limiter.ts'
export type { ApiClientOptions, Timeouts } from './api-client.ts'
export { ApiClient } from './api-client.ts'
export type { ApiResponse } from './call.ts'
export {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  HttpError,
  NotFoundError,
  PayloadTooLargeError,
  PermissionError,
  QuotaExceededError,
  RateLimitError,
  RetryBudgetError,
  ServerError,
  UnavailableError,
  UnsupportedMediaTypeError,
  UriTooLongError,
  ValidationError,
} from './errors.ts'
export type { CallEvent, ClientEvents, EventName, Hooks } from './events.ts'
export { CLEAR, encodeForm, type FormOptions } from './form.ts'
export type { Codec } from './outcome.ts'
export type { Paging } from './paging.ts'
export { type Paged, type PagedOptions, type PageSource, paged } from './paging.ts'
export type { CallInput, CallOptions, Interceptor, Method, Operation, PathValue, RetryOptions, StreamBody } from './request-builder.ts'
export type { Envelope } from './rest-resource.ts'
export {
  type Action,
  asBool,
  asDecimal,
  asDuration,
  asInstant,
  asInt,
  type Decoded,
  type DecodeIssue,
  decodeRecord,
  type FieldReaders,
  type Instant,
  JSON_REST,
  type Resource,
  type ResourceOptions,
  RestResource,
  type ServiceProfile,
} from './rest-resource.ts'
export type { ReplayClass } from './retries.ts'
export { ServiceLimits, type ServiceLimitsOptions } from './retries.ts'
