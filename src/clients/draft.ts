/** A call as a request, before it is authorized. */
import type { ReplayableBody } from '../http/message.ts'
import { withCallHeaders } from './call-headers.ts'
import type { CallInput, CallOptions, StreamBody } from './call-options.ts'
import { ValidationError } from './errors.ts'
import { encodeForm, type FormOptions } from './form.ts'
import type { PreparedOperation } from './operation.ts'

/** The parts of a request that every attempt shares. */
export interface Draft {
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
export interface DraftRules {
  /** Path of the base address, without a slash at its end. */
  readonly base: string
  readonly form: FormOptions
  readonly pinned: ReadonlySet<string>
}

/**
 * Writes the request of a call. Errors: `ValidationError` `REQUEST_INVALID`, `FORM_EMPTY_VALUE`; nothing was sent.
 */
export function draftOf(prepared: PreparedOperation, input: CallInput, options: CallOptions, rules: DraftRules): Draft {
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
    throw new ValidationError('REQUEST_INVALID', 'nothing can be added to a body that is ready; nothing was sent', {
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
  throw new ValidationError('REQUEST_INVALID', 'the body must be an object here; nothing was sent', { field: 'body' })
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
