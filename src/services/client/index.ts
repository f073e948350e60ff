/** `stac-auth/clients`: what clients of an API are made from. */

export { type Clock, systemClock, type TimerKind } from '../../net/clock.ts'
export type { RateLimit } from '../../net/limiter.ts'
export { ApiClient } from './api-client.ts'
export type { ApiResponse } from './api-response.ts'
export type { CallInput, CallOptions, Interceptor, RetryOptions, StreamBody } from './call-options.ts'
export type { Codec } from './decode.ts'
export { asBool, asDecimal, asDuration, asInstant, asInt, type Instant } from './decode.ts'
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
export type { Method, Operation } from './operation.ts'
export type { Paging } from './paging.ts'
export { type Paged, type PagedOptions, type PageSource, paged } from './paging.ts'
export type { ReplayClass } from './replay.ts'
export type { PathValue } from './request-builder.ts'
export type { Envelope } from './rest-resource.ts'
export {
  type Decoded,
  type DecodeIssue,
  decodeRecord,
  type FieldReaders,
  type Resource,
  type ResourceOptions,
  RestResource,
} from './rest-resource.ts'
export { ServiceLimits, type ServiceLimitsOptions } from './service-limits.ts'
export type { ApiClientOptions, Timeouts } from './settings.ts'
export { type Action, JSON_REST, type ServiceProfile } from './settings.ts'
