/** A call as a request, before it is authorized. */

import { isToken } from '../../http/headers.ts'
import { percentEncoded, type ReplayableBody } from '../../http/message.ts'
import type { CallInput, CallOptions, StreamBody } from './call-options.ts'
import { ValidationError } from './errors.ts'
import { encodeForm, type FormOptions } from './form.ts'
import type { PreparedOperation } from './operation.ts'

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
export type PathTemplate = (values: Readonly<Record<string, PathValue>>) => string

const PLACE = /\{(\w+)\}/g

/**
 * Reads a path such as `/projects/{id}` once. What is filled in stays one segment, whatever it is.
 *
 * Errors: `REQUEST_INVALID` for a parameter that is missing, or that {@link segment} refuses.
 */
export function pathTemplate(template: string): PathTemplate {
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
