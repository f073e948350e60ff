/** What an operation is, what callers say about one call of it, and the request that follows from both, before it is authorized. */

import type { ServiceCredential } from '../../auth/credential.ts'
import type { ErrorCode } from '../../errors.ts'
import { isToken } from '../../http/headers.ts'
import { type HttpRequest, percentEncoded, type ReplayableBody } from '../../http/message.ts'
import { ValidationError } from './errors.ts'
import { encodeForm, type FormOptions } from './form.ts'
import type { ReplayClass } from './retries.ts'

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
  /** False: a request is not repeated with refreshed tokens after a 401. */
  readonly refresh?: boolean
}

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

/** The parts of a request that every attempt shares. */
export interface RequestBuilder {
  readonly method: string
  /** Path and query below the origin. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: ReplayableBody
  /** The body anew for each attempt, or the only one there is. */
  readonly stream?: () => StreamBody
  /** False: `stream` gives the same, used-up body each time. */
  readonly replayable: boolean
}

/** What drafts of one client have in common. */
interface DraftRules {
  /** Path of the base address, without a slash at its end. */
  readonly base: string
  readonly form: FormOptions
  readonly pinned: ReadonlySet<string>
}

/**
 * Writes the request of a call. Errors: `ValidationError` `REQUEST_INVALID`, `FORM_EMPTY_VALUE`; nothing was sent.
 */
export function draftOf(prepared: PreparedOperation, input: CallInput, options: CallOptions, rules: DraftRules): RequestBuilder {
  const { operation } = prepared
  const { formOptions: form = rules.form } = operation
  const path = withQuery(rules.base + prepared.path(input.path ?? {}), queryOf(input.query, options.query, form))
  const content = contentOf(prepared, input, options.extraBody, form)
  const given = content === undefined ? prepared.headers : prepared.bodyHeaders
  const headers = withCallHeaders(content === undefined ? given : described(given, input), options.headers, rules.pinned)
  const common = { method: operation.method, path, headers, replayable: true }
  if (content === undefined) return common
  if (operation.method === 'GET' || operation.method === 'HEAD' || operation.method === 'DELETE')
    throw new ValidationError('REQUEST_INVALID', `${operation.name} is a ${operation.method}, which has no body; nothing was sent`, {
      field: 'body',
    })
  if (typeof content === 'string' || content instanceof Uint8Array) return { ...common, body: content }
  return typeof content === 'function' ? { ...common, stream: content } : { ...common, stream: () => content, replayable: false }
}

/** With what is known of a body that is given as it is. */
function described(headers: PreparedOperation['headers'], { contentType, contentLength }: CallInput): PreparedOperation['headers'] {
  if (contentType === undefined && contentLength === undefined) return headers
  return {
    ...headers,
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(contentLength !== undefined && { 'content-length': String(contentLength) }),
  }
}

function queryOf(query: CallInput['query'], added: CallInput['query'], form: FormOptions): string {
  if (!query && !added) return ''
  return encodeForm(merged(query, added, 'query'), form)
}

/** A path that a caller wrote may have a query of its own. */
function withQuery(path: string, query: string): string {
  if (query === '') return path
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

function contentOf({ operation }: PreparedOperation, { body, content }: CallInput, extra: CallOptions['extraBody'], form: FormOptions) {
  if (content !== undefined && (extra ?? body) !== undefined)
    throw new ValidationError('REQUEST_INVALID', 'members cannot be added to an encoded body; nothing was sent', {
      field: extra === undefined ? 'body' : 'extraBody',
    })
  if (content !== undefined) return content
  if (body === undefined && extra === undefined) return undefined
  const whole = extra === undefined ? body : merged(asMembers(body), extra, 'body')
  return operation.body === 'form' ? encodeForm(asMembers(whole), form) : json(whole)
}

/** Both, where no name is in both. */
function merged(one: CallInput['query'], other: CallInput['query'], what: string): Readonly<Record<string, unknown>> {
  if (!one || !other) return one ?? other ?? {}
  const twice = Object.keys(other).find((name) => Object.hasOwn(one, name) && one[name] !== undefined)
  if (twice === undefined) return Object.fromEntries([...Object.entries(one), ...Object.entries(other)])
  throw new ValidationError('REQUEST_INVALID', `"${twice}" is given twice; nothing was sent`, { field: `${what}.${twice}` })
}

function asMembers(body: unknown): Readonly<Record<string, unknown>> {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Readonly<Record<string, unknown>>
  throw new ValidationError('REQUEST_INVALID', 'the body must be an object; nothing was sent', { field: 'body' })
}

/** What JSON cannot say is refused instead of left out or called null. */
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

/** The path of the first function, symbol, gap in a list, invalid date or number that is not finite; circles were found before. */
function unsayable(value: unknown, at: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at
  if (typeof value === 'function' || typeof value === 'symbol') return at
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? at : undefined
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  const gap = Array.isArray(value) ? [...value].indexOf(undefined) : -1
  if (gap >= 0) return at === '' ? String(gap) : `${at}.${gap}`
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string') continue
    const found = unsayable(member, at === '' ? name : `${at}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Who frames the message, and routes it. */
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
 * The headers of a call on top of those of its operation. Errors: `REQUEST_INVALID` for a name or value that HTTP does not allow, for
 * those that frame the message, and for the `pinned` ones.
 *
 * @param pinned names in lower case that a call may not change: that of the credential, and more if the service requires it
 */
function withCallHeaders(
  headers: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>> | undefined,
  pinned: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  if (!added) return headers
  const all: Record<string, string> = { ...headers }
  for (const [written, value] of Object.entries(added)) {
    const name = written.toLowerCase()
    if (!isToken(name) || typeof value !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(value)) throw refused(name, 'is not a valid header')
    if (OURS.has(name) || pinned.has(name) || name.startsWith('proxy-')) throw refused(name, 'cannot be set by a call')
    all[name] = value
  }
  return all
}

function refused(name: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `the header ${JSON.stringify(name)} ${why}; nothing was sent`, { field: `headers.${name}` })
}

/** What may stand in the place of a path parameter. */
export type PathValue = string | number | bigint

/** Fills the places of a path. */
type PathTemplate = (values: Readonly<Record<string, PathValue>>) => string

const PLACE = /\{(\w+)\}/g

/**
 * Reads a path such as `/projects/{id}` once. What is filled in stays one segment, whatever it is.
 *
 * Errors: `REQUEST_INVALID` for a parameter that is missing, or that {@link segment} refuses.
 */
function pathTemplate(template: string): PathTemplate {
  const literals = template.split(PLACE).filter((_part, index) => index % 2 === 0)
  const names = [...template.matchAll(PLACE)].map(([, name = '']) => name)
  const [only = ''] = literals
  if (names.length === 0) return () => only
  return (values) => names.reduce((path, name, index) => path + segment(own(values, name), name) + literals[index + 1], only)
}

/**
 * A value as one percent-encoded path segment (RFC 3986 §3.3).
 *
 * Errors: `REQUEST_INVALID` for what some server would read as another path: nothing, `.`, `..`, NUL, a backslash, or an escape that
 * hides a slash, a backslash or NUL.
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

function own(values: Readonly<Record<string, PathValue>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

function refusedParameter(name: string, why: string): ValidationError {
  return new ValidationError('REQUEST_INVALID', `the path parameter "${name}" ${why}; nothing was sent`, { field: name })
}

/**
 * A path that a caller wrote, as the path of an operation. Errors: `REQUEST_INVALID` for an address, and for a path that would leave the base:
 * one that does not begin with a single slash, or has steps, backslashes, blanks, a fragment or hidden slashes in it.
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
