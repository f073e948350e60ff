/** `stac-auth/clients`: the building blocks of clients of an API. */
export { ApiClient, type ApiClientOptions } from './api-client.ts'
export { HttpError, PermissionError, RateLimitError, ValidationError } from './errors.ts'
export { CLEAR } from './form.ts'
export { ServiceLimits, type ServiceLimitsOptions } from './pacer.ts'
export type { Paged } from './paging.ts'
export type { CallOptions, Interceptor, Operation } from './request.ts'
export type { ApiResponse, Codec } from './response.ts'
export { JSON_REST, type ResourceOptions, RestResource, type ServiceProfile } from './rest-resource.ts'
