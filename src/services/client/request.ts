/** Operations, the input and options of a call, and the request that is built from them, before it is authorized. */

import type { ServiceCredential } from '../../auth/credential.ts'
import type { ErrorCode } from '../../errors.ts'
import { isToken } from '../../http/headers.ts'
import { type HttpRequest, percentEncoded, type ReplayableBody } from '../../http/message.ts'
import { ValidationError } from './errors.ts'
import { encodeForm, type FormOptions } from './form.ts'
import type { ReplayClass } from './retries.ts'

/** The HTTP method of an operation. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An operation of a service: a plain object, defined once and sent many times. */
export interface Operation {
  /** Name in errors and events: `projects.list`. */
  readonly name: string
  /** HTTP method. */
  readonly method: Method
  /** Path below the base URL, with parameters in braces: `/projects/{id}`. */
  readonly path: string
  /** The effect of sending it twice, which decides when it is retried. */
  readonly replay: ReplayClass
  /** Encoding of `body` of a call; default `json`. `content` is sent unchanged. */
  readonly body?: 'json' | 'form'
  /** Encoding of its query and of a form body; default: `form` of the client. */
  readonly formOptions?: FormOptions
  /** Media type of `content`; a call may set another one. */
  readonly contentType?: string
  /** Decoding of the response; default `json`. `stream` returns a `ReadableStream` of bytes. */
  readonly response?: 'json' | 'text' | 'bytes' | 'stream'
  /** The `Accept` header; default by `response`. */
  readonly accept?: string
  /** Maximum size of the decoded response in bytes (`RESPONSE_TOO_LARGE`); default 64 MiB, none for streams. */
  readonly limit?: number
  /** Timeout of one attempt in milliseconds; default: `timeouts.attempt` of the client, none for streams. */
  readonly timeout?: number
  /** Statuses that are not retried although `replay` allows it. */
  readonly final?: readonly number[]
  /** Members of the body whose values are secrets. */
  readonly secrets?: readonly string[]
  /** The response contains secrets: errors do not quote it. */
  readonly secretAnswer?: boolean
  /** Each success costs money: not retried with `retry: { billed: false }`. */
  readonly billed?: boolean
  /** Name of a separate limit that operations with the same name share, such as logins. */
  readonly limits?: string
  /** False: a request is not repeated with refreshed tokens after a 401. */
  readonly refresh?: boolean
}

/** A body of bytes in chunks. It can be sent once; a function that returns a new one can be sent again. */
export type StreamBody = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** The input of an operation. */
export interface CallInput {
  /** Values of the path parameters: each one segment, percent-encoded. Empty, `.` and `..` are `REQUEST_INVALID`. */
  readonly path?: Readonly<Record<string, string | number | bigint>>
  /** Query parameters, written like a form; `undefined` is left out. */
  readonly query?: Readonly<Record<string, unknown>>
  /** The body as data, encoded according to `body` of the operation. */
  readonly body?: unknown
  /** The body as text, bytes or a stream, sent unchanged. A stream can be sent again only if it is a function that returns a new one. */
  readonly content?: ReplayableBody | StreamBody | (() => StreamBody)
  /** Media type of `content`. */
  readonly contentType?: string
  /** Size of a stream in bytes; without it the stream is sent in chunks. */
  readonly contentLength?: number
}

/** Options of retries of a call. */
export interface RetryOptions {
  /** Retries after the first attempt; default: that of the client. */
  readonly retries?: number
  /** Further statuses that are retried. */
  readonly statuses?: readonly number[]
  /** False: an operation that costs money (`billed`) is retried as `unsafe`. */
  readonly billed?: boolean
  /** Decides about each failure that is not final, with the number of the attempt from 1; `undefined` leaves it to the policy. */
  readonly on?: (failure: { readonly attempt: number; readonly status?: number; readonly code: ErrorCode }) => boolean | undefined
}

/** Options of one call, the last argument of every method. */
export interface CallOptions {
  /** Aborts the call (`ABORTED`). */
  readonly signal?: AbortSignal
  /** Timeout of one attempt in milliseconds (`TIMEOUT_ATTEMPT`). */
  readonly timeout?: number
  /** Timeout of the call with all delays and retries in milliseconds (`TIMEOUT_TOTAL`); `false` for none. */
  readonly totalTimeout?: number | false
  /** The time at which the call ends (`TIMEOUT_TOTAL`), instead of a duration. */
  readonly deadline?: Date
  /** Options of retries; `false` disables them. */
  readonly retry?: false | RetryOptions
  /** `idem`: sending an `unsafe` operation twice does no harm here, so it is retried like an `idem` one. */
  readonly replay?: 'idem'
  /** Further headers. The header of the credential and headers that frame the message are `REQUEST_INVALID`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further query parameters; one that the operation sets is `REQUEST_INVALID`. */
  readonly query?: Readonly<Record<string, unknown>> | undefined
  /** Further members of the body; one that is set already is `REQUEST_INVALID`. */
  readonly extraBody?: Readonly<Record<string, unknown>>
  /** Another credential for this call, as with `withCredential`. */
  readonly credential?: ServiceCredential | undefined
  /** `high` starts before other calls that wait for the concurrency limit. */
  readonly priority?: 'high'
  /** Any value, passed on to the events of this call. */
  readonly tag?: unknown
}

/**
 * Functions around every attempt, awaited in the order in which they were added. An error that one throws becomes `CONFIG_INVALID` and is
 * not shown.
 */
export interface Interceptor {
  /** Returns the request that is authorized and sent: with other headers or another body; URL and method stay the same. */
  before?(request: HttpRequest, attempt: { readonly operation: string; readonly attempt: number }): HttpRequest | Promise<HttpRequest>
  /** Receives status and headers of a response before they are evaluated. */
  after?(response: { readonly status: number; readonly headers: { get(name: string): string | null } }): void | Promise<void>
}

const ACCEPT = { json: 'application/json', text: 'text/plain, */*;q=0.5', bytes: '*/*', stream: '*/*' } as const

const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const

/** The parts of a request that every attempt shares. */
export interface BuiltRequest {
  readonly method: string
  /** Path and query below the origin. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: ReplayableBody
  /** Returns a new body for each attempt, or always the same one. */
  readonly stream?: () => StreamBody
  /** False: `stream` returns the same, consumed body each time. */
  readonly replayable: boolean
}

/** The settings of a client that building a request needs. */
interface RequestSettings {
  /** Path of the base URL without a slash at its end. */
  readonly base: string
  /** Headers of every request, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly form: FormOptions
  /** Names of headers that a call may not set, in lower case: that of the credential, and more if the service requires it. */
  readonly pinned: ReadonlySet<string>
}

/** Builds the request of a call. Errors: `ValidationError` `REQUEST_INVALID`, `FORM_EMPTY_VALUE`; nothing was sent. */
export function buildRequest(operation: Operation, input: CallInput, options: CallOptions, settings: RequestSettings): BuiltRequest {
  const { formOptions: form = settings.form, method, name } = operation
  const query = encodeForm(merged(asMembers(input.query, 'query'), asMembers(options.query, 'query'), 'query'), form)
  const path = settings.base + operation.path.replace(/\{(\w+)\}/g, (_place, field: string) => segment(own(input.path, field), field))
  const content = contentOf(operation, input, options.extraBody, form)
  const headers: Record<string, string> = { ...settings.headers, accept: operation.accept ?? ACCEPT[operation.response ?? 'json'] }
  if (content !== undefined) {
    headers['content-type'] = input.contentType ?? operation.contentType ?? TYPES[operation.body ?? 'json']
    if (input.contentLength !== undefined) headers['content-length'] = String(input.contentLength)
  }
  addHeaders(headers, options.headers ?? {}, settings.pinned)
  const whole = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`
  const common = { method, path: whole, headers, replayable: true }
  if (content === undefined) return common
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE')
    throw new ValidationError('REQUEST_INVALID', `${name} is a ${method}, which has no body; nothing was sent`, { field: 'body' })
  if (typeof content === 'string' || content instanceof Uint8Array) return { ...common, body: content }
  if (typeof content === 'function') return { ...common, stream: () => heard(content()) }
  heard(content)
  return { ...common, stream: () => content, replayable: false }
}

/** Returns a stream whose failure does not end the process if Node notices it before the stream is read; reading it throws the error. */
export function heard<Stream extends StreamBody>(stream: Stream): Stream {
  ;(stream as { on?(event: 'error', ignored: () => void): unknown }).on?.('error', () => undefined)
  return stream
}

/** Returns the chunks of a stream; not every platform can iterate over a `ReadableStream`. */
export function chunksOf(stream: StreamBody): AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in stream ? stream : read(stream)
}

async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function contentOf(operation: Operation, { body, content }: CallInput, extra: CallOptions['extraBody'], form: FormOptions) {
  if (content !== undefined && (extra ?? body) !== undefined)
    throw new ValidationError('REQUEST_INVALID', 'members cannot be added to an encoded body; nothing was sent', {
      field: extra === undefined ? 'body' : 'extraBody',
    })
  if (content !== undefined) return content
  if (body === undefined && extra === undefined) return undefined
  const whole = extra === undefined ? body : merged(asMembers(body), asMembers(extra, 'extraBody'), 'body')
  return operation.body === 'form' ? encodeForm(asMembers(whole), form) : json(whole)
}

/** Members of a body or query. */
export type FormMembers = Readonly<Record<string, unknown>>

/** Merges the members of both. Errors: `REQUEST_INVALID` for a name that is in both. */
function merged(one: FormMembers, other: FormMembers, what: string): FormMembers {
  if (Object.keys(other).length === 0) return one
  const twice = Object.keys(other).find((name) => Object.hasOwn(one, name) && one[name] !== undefined)
  if (twice === undefined) return Object.fromEntries([...Object.entries(one), ...Object.entries(other)])
  throw new ValidationError('REQUEST_INVALID', `"${twice}" is given twice; nothing was sent`, { field: `${what}.${twice}` })
}

/** Returns the members of an object. Errors: `REQUEST_INVALID` for anything else, also for a `Map`, whose content is not in members. */
export function asMembers(value: unknown, what = 'body'): FormMembers {
  if (value === undefined) return {}
  if (typeof value === 'object' && value !== null && !(Symbol.iterator in value)) return value as FormMembers
  throw new ValidationError('REQUEST_INVALID', `the ${what} must be a plain object; nothing was sent`, { field: what })
}

/** Writes a value as JSON. Errors: `REQUEST_INVALID` for values that `JSON.stringify` would leave out or write as `null`. */
function json(value: unknown): string {
  const text = written(value)
  const wrong = text === undefined ? '' : unsayable(value, '')
  if (text !== undefined && wrong === undefined) return text
  const message = `${wrong ? `"${wrong}"` : 'the body'} cannot be written as JSON; nothing was sent`
  throw new ValidationError('REQUEST_INVALID', message, { field: `body${wrong ? `.${wrong}` : ''}` })
}

function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/**
 * Returns the path of the first function, symbol, gap in a list, invalid date, number that is not finite, or collection such as a `Map`,
 * which JSON writes as `{}`. Circular references were found before.
 */
function unsayable(value: unknown, at: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at
  if (typeof value === 'function' || typeof value === 'symbol') return at
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? at : undefined
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  if (Symbol.iterator in value && !Array.isArray(value)) return at
  const gap = Array.isArray(value) ? [...value].indexOf(undefined) : -1
  if (gap >= 0) return at === '' ? String(gap) : `${at}.${gap}`
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string') continue
    const found = unsayable(member, at === '' ? name : `${at}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Headers that frame or route the message, which calls cannot set. */
const OURS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  '__proto__',
])

/**
 * Adds the headers of a call to those of its operation. Errors: `REQUEST_INVALID` for an invalid header name or value, for headers that
 * frame the message, and for the `pinned` ones.
 */
function addHeaders(headers: Record<string, string>, added: Readonly<Record<string, string>>, pinned: ReadonlySet<string>): void {
  for (const [header, value] of Object.entries(added)) {
    const name = header.toLowerCase()
    if (!isToken(name) || typeof value !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(value)) throw refused(name, 'is not a valid header')
    if (OURS.has(name) || pinned.has(name) || name.startsWith('proxy-')) throw refused(name, 'cannot be set by a call')
    headers[name] = value
  }
}

function refused(name: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `the header ${JSON.stringify(name)} ${why}; nothing was sent`, { field: `headers.${name}` })
}

/**
 * Returns a value as one percent-encoded path segment (RFC 3986 §3.3).
 *
 * Errors: `REQUEST_INVALID` for values that some servers would read as another path: an empty one, `.`, `..`, NUL, a backslash, or an
 * escape that hides a slash, a backslash or NUL.
 */
export function segment(value: unknown, name: string): string {
  const text = typeof value === 'number' ? digits(value, name) : typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string') throw refusedParameter(name, 'is missing')
  if (text === '') throw refusedParameter(name, 'is empty')
  if (text === '.' || text === '..') throw refusedParameter(name, 'is a dot segment')
  if (/[\0\\]|%(?:25)*(?:00|2f|5c)/i.test(text)) throw refusedParameter(name, 'has an encoded slash, a backslash or NUL in it')
  if (!text.isWellFormed()) throw refusedParameter(name, 'has an unpaired surrogate in it')
  return percentEncoded(text)
}

function digits(value: number, name: string): string {
  if (Number.isSafeInteger(value) && value >= 0) return String(value)
  throw refusedParameter(name, 'is not a safe integer of 0 or more')
}

function own(values: CallInput['path'], name: string): unknown {
  return values && Object.hasOwn(values, name) ? values[name] : undefined
}

function refusedParameter(name: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `the path parameter "${name}" ${why}; nothing was sent`, { field: name })
}

/**
 * Returns a path of the caller as the path of an operation. Errors: `REQUEST_INVALID` for a full URL, and for a path that would leave the
 * base URL: one that does not begin with a single slash, or contains dot segments, backslashes, spaces, a fragment or escaped slashes.
 */
export function rawPath(path: unknown): string {
  if (typeof path !== 'string') throw new TypeError('a path must be a string')
  const [way = ''] = path.split('?')
  const isWrong =
    !/^\/(?!\/)/.test(path) ||
    /[#\\\u0000-\u0020\u007f-\uffff]/.test(path) ||
    /%(?:25)*(?:00|2f|5c)/i.test(way) ||
    way.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))
  if (!isWrong) return path.replaceAll('{', '%7B').replaceAll('}', '%7D')
  const hint = 'write it relative to the base URL, percent-encoded: /projects/1'
  throw new ValidationError('REQUEST_INVALID', 'the path is not below the base URL; nothing was sent', { field: 'path', hint })
}
