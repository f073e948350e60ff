/** What a client says about one operation of its service: data, no logic. */
import type { FormOptions } from './form.ts'
import type { ReplayClass } from './replay.ts'
import type { PathTemplate } from './request-builder.ts'
import { pathTemplate } from './request-builder.ts'

/** Methods that operations use. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One operation. */
export interface Operation {
  /** As the reference calls it: `projects.list`; in errors and events. */
  readonly name: string
  readonly method: Method
  /** Below the base address, with places: `/projects/{id}`. */
  readonly path: string
  readonly replay: ReplayClass
  /** How a body that is given as data is written; default `json`. Bytes, text and streams are sent as they are. */
  readonly body?: 'json' | 'form'
  /** How its query and a body of `form` are written; default that of the client. */
  readonly formOptions?: FormOptions
  /** Media type of a body given as bytes, text or stream. */
  readonly contentType?: string
  /** What the answer is; default `json`. `stream` gives a `ReadableStream` of bytes. */
  readonly response?: 'json' | 'text' | 'bytes' | 'stream'
  /** Media types of the answer; default by `response`. */
  readonly accept?: string
  /** Bytes of the decoded answer; default 64 MiB, none for streams. */
  readonly limit?: number
  /** Milliseconds for one attempt; default that of the client, none for streams. */
  readonly timeout?: number
  /** Statuses that are not tried again although their class would allow it. */
  readonly final?: readonly number[]
  /** Members of the body whose values are secrets. */
  readonly secrets?: readonly string[]
  /** The answer has secrets that nobody knows before: errors do not quote it. */
  readonly secretAnswer?: boolean
  /** Each success costs money. */
  readonly billed?: boolean
  /** Operations with another limit of their own, such as logins, name it. */
  readonly limits?: string
  /** False: a 401 is never answered with a renewed credential. */
  readonly renew?: boolean
}

/** An operation as far as it does not depend on the call. */
export interface PreparedOperation {
  readonly operation: Operation
  readonly path: PathTemplate
  /** `accept`, `user-agent` and what the client adds to every request. */
  readonly headers: Readonly<Record<string, string>>
  /** The same with the media type of the body. */
  readonly bodyHeaders: Readonly<Record<string, string>>
  readonly responseKind: NonNullable<Operation['response']>
  readonly limit: number
}

const ACCEPT = { json: 'application/json', text: 'text/plain, */*;q=0.5', bytes: '*/*', stream: '*/*' } as const
const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const
const LIMIT = 64 * 2 ** 20

/** Prepares an operation for a client with those headers. */
export function prepareOperation(operation: Operation, common: Readonly<Record<string, string>>): PreparedOperation {
  const responseKind = operation.response ?? 'json'
  const headers = { ...common, accept: operation.accept ?? ACCEPT[responseKind] }
  return {
    operation,
    path: pathTemplate(operation.path),
    headers,
    bodyHeaders: { ...headers, 'content-type': operation.contentType ?? TYPES[operation.body ?? 'json'] },
    responseKind,
    limit: operation.limit ?? (responseKind === 'stream' ? Number.POSITIVE_INFINITY : LIMIT),
  }
}
