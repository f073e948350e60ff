/** What callers may say about one call, and what it is about. */
import type { ServiceCredential } from '../../auth/credential.ts'
import type { ErrorCode } from '../../errors.ts'
import type { HttpRequest, ReplayableBody } from '../../http/message.ts'
import type { PathValue } from './request-builder.ts'

/** A body that is sent as it comes; made anew for each attempt when it is a function. */
export type StreamBody = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** What an operation is given. */
export interface CallInput {
  readonly path?: Readonly<Record<string, PathValue>>
  readonly query?: Readonly<Record<string, unknown>>
  /** Data for the encoder of the operation. */
  readonly body?: unknown
  /** A body that is ready: text and bytes may be sent again, a stream only when a function makes it. */
  readonly content?: ReplayableBody | StreamBody | (() => StreamBody)
  /** Media type of `content`. */
  readonly contentType?: string
  /** Bytes of `content`, where it is a stream and they are known; without it a stream goes out in chunks. */
  readonly contentLength?: number
}

/** How often and when a call is tried again. */
export interface RetryOptions {
  /** Retries after the first attempt. */
  readonly maxRetries?: number
  /** Further statuses that may be tried again. */
  readonly statuses?: readonly number[]
  /** False: an operation that costs money is not sent twice. Only for operations that their client marks. */
  readonly billed?: boolean
  /** Has the last word on a failure that is not final; undefined leaves it to the policy. */
  readonly on?: (failure: { readonly attempt: number; readonly status?: number; readonly code: ErrorCode }) => boolean | undefined
}

/** The last argument of every method. It is never changed. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /** Milliseconds for one attempt. */
  readonly timeout?: number
  /** Milliseconds for the call with all waits and retries; `false` for none. */
  readonly totalTimeout?: number | false
  /** The same as a point in time. */
  readonly deadline?: Date
  readonly retry?: false | RetryOptions
  /** `idem`: sending it twice does no harm here, whatever the operation says. */
  readonly replay?: 'idem'
  /** Further headers; not that of the credential and not those that frame the message. */
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>> | undefined
  /** Members added to the body last; one that is there already is refused. */
  readonly extraBody?: Readonly<Record<string, unknown>>
  /** Another credential for this call, with limits of its own. */
  readonly credential?: ServiceCredential | undefined
  /** `high` goes before others that wait. */
  readonly priority?: 'high'
  /** Given to hooks as it is. */
  readonly tag?: unknown
}

/** What callers do to every attempt; awaited, in the order in which they were added. */
export interface Interceptor {
  /** The request as it is to be authorized and sent: another one with other headers or another body, never another address. */
  before?(request: HttpRequest, about: { readonly operation: string; readonly attempt: number }): HttpRequest | Promise<HttpRequest>
  /** Hears of an answer before it is judged. */
  after?(answer: { readonly status: number; readonly headers: { get(name: string): string | null } }): void | Promise<void>
}
