/** A collection of a REST service and its items, by the conventions of a profile; the profile, and readers of fields. */

import { ProtocolError } from '../../errors.ts'
import type { ApiClient } from './api-client.ts'
import { described, foreign, requireOptions, ValidationError } from './errors.ts'
import { losesDigits, textOf } from './exact-numbers.ts'
import type { FormOptions } from './form.ts'
import { cursorAfter, firstQuery, nextPlace, type PageCursor, type Paged, type PagedOptions, type Paging, paged } from './paging.ts'
import { type CallInput, type CallOptions, type Method, type Operation, rawPath, segment } from './request.ts'
import type { ApiResponse, Codec } from './response.ts'
import type { ReplayClass } from './retries.ts'

/** A record with known fields and any others that the service sends. */
export type Resource<T> = T & Readonly<Record<string, unknown>>

/** Options of `RestResource`. */
export interface ResourceOptions {
  /** Sends the requests. */
  readonly client: ApiClient
  /** The conventions of the service. */
  readonly profile: ServiceProfile
  /** Path of the collection below the base URL, without the first slash: `users`, `admin/users`. */
  readonly path: string
  /**
   * Converts known fields of records, by name: `{ active: Boolean }`. `undefined` means that the value does not fit. `text` is a number as
   * the service wrote it, if JavaScript writes it differently: `12.30`, `9007199254740993`.
   */
  readonly fields?: Readonly<Record<string, (value: unknown, text?: string) => unknown>>
  /** Checks an id and returns it; throws for an invalid one. Default: any text or number that is one segment of a path. */
  readonly id?: (id: unknown) => string | number | bigint
}

/**
 * A collection of a service and its items, by the conventions of a profile. Methods return the record or the list without its envelope,
 * `undefined` for an empty response.
 *
 * Errors: those of {@link ApiClient}; `VERB_NOT_ALLOWED` for a method that the profile excludes, before anything is sent.
 *
 * @example
 * const users = new RestResource<User>({ client, profile: JSON_REST, path: 'users' })
 * await users.update(7, { name: 'Ada' })
 */
export class RestResource<T extends object = object, Create extends object = object, Update extends object = object> {
  readonly #options: ResourceOptions
  readonly #name: string
  readonly #operations: Readonly<Record<Action, Operation>>

  constructor(options: ResourceOptions) {
    requireOptions(options, 'RestResource')
    checkPath(options.path)
    this.#options = options
    this.#name = options.path.slice(options.path.lastIndexOf('/') + 1)
    this.#operations = operationsOf(options)
  }

  /**
   * Returns the first page, which is the whole list if the profile has no `paging`; then `decodeIssues` of the list reports a response that
   * refers to another page.
   *
   * @example const active = await users.list({ query: { active: true } })
   */
  async list(options: CallOptions = {}): Promise<Decoded<Decoded<Resource<T>>[]>> {
    return this.#call('list', {}, options, (answer) => {
      const unread = this.#unread(answer)
      const decodeIssues = unread === undefined ? [] : [{ field: '', message: unread }]
      return Object.defineProperty(this.#records(answer), 'decodeIssues', { value: decodeIssues }) as never
    })
  }

  /** Returns one item. Errors: `HTTP_404` if there is none. */
  async get(id: string | number | bigint, options: CallOptions = {}): Promise<Decoded<Resource<T>>> {
    return this.#call('get', { id }, options, (answer) => this.#record(answer) as Decoded<Resource<T>>)
  }

  /** Creates an item and returns the response, usually the item. */
  async create(data: Create, options: CallOptions = {}): Promise<Decoded<Resource<T>> | undefined> {
    return this.#call('create', { data }, options, (answer) => this.#record(answer))
  }

  /** Changes an item with the method of the profile and returns the response, usually the item. */
  async update(id: string | number | bigint, data: Update, options: CallOptions = {}): Promise<Decoded<Resource<T>> | undefined> {
    return this.#call('update', { id, data }, options, (answer) => this.#record(answer))
  }

  /** Deletes an item and returns the response, usually nothing. A retry that finds it deleted is a success. */
  async delete(id: string | number | bigint, options: CallOptions = {}): Promise<unknown> {
    const { envelope } = this.#options.profile
    return this.#call('delete', { id }, options, (answer) => unwrapped(answer.data, envelope))
  }

  /**
   * Returns all items, page by page according to `paging` of the profile. `pageSize` is sent if the profile names its parameter.
   *
   * @example for await (const user of users.iterate({ limit: 100 })) console.log(user.id)
   */
  iterate(options: CallOptions & PagedOptions & { readonly pageSize?: number } = {}): Paged<Decoded<Resource<T>>> {
    const { paging = { style: 'none' } } = this.#options.profile
    const { limit, maxPages, signal, pageSize, ...call } = options
    return paged<ApiResponse, Decoded<Resource<T>>, PageCursor>(
      {
        name: this.#operations.list.name,
        fetch: (cursor, ending) => this.#page(cursor ?? { query: firstQuery(paging, pageSize) }, { ...call, signal: ending }),
        items: (answer) => this.#records(answer),
        next: (answer, _cursor, read) => {
          const unread = this.#unread(answer)
          if (unread !== undefined) this.#options.client.emit('warning', { code: 'PAGE_UNREAD', message: `${this.#name}: ${unread}` })
          return cursorAfter(paging, { ...read, answer, pageSize })
        },
      },
      { limit, maxPages, signal },
    )
  }

  /**
   * Sends a request to any path below the collection and returns the whole response. `GET` and `HEAD` are retried as `safe`, others as
   * `unsafe`.
   */
  async request<Data = unknown>(
    method: Operation['method'],
    path: string,
    input: CallInput = {},
    options: CallOptions = {},
  ): Promise<ApiResponse<Data>> {
    const { client, profile } = this.#options
    const name = `${this.#name}.request`
    const replay = method === 'GET' || method === 'HEAD' ? 'safe' : 'unsafe'
    const { body, ...rest } = input
    try {
      checkVerb(profile, method, name)
      const below = `/${this.#options.path}${path === '' ? '' : rawPath(path)}`
      const written = body === undefined ? input : { ...rest, ...this.#written(body) }
      return await client.send<Data>({ ...common(profile), name, method, path: below, replay }, written, options)
    } catch (error) {
      throw described(error, 0, name)
    }
  }

  /** Returns a collection below one of the items: `users.sub(7, 'tasks')` is `users/7/tasks`. */
  sub<S extends object = object, C extends object = object, U extends object = object>(
    id: string | number | bigint,
    path: string,
  ): RestResource<S, C, U> {
    const { client, profile, path: own, id: check } = this.#options
    return new RestResource<S, C, U>({ client, profile, path: `${own}/${segment(check ? check(id) : id, 'id')}/${path}` })
  }

  /** Makes the input of an action, sends it and reads the response; the errors of all three have its name. */
  async #call<Read>(
    action: Action,
    given: { readonly id?: unknown; readonly data?: unknown; readonly query?: CallInput['query'] },
    options: CallOptions,
    read: (answer: ApiResponse) => Read,
  ): Promise<Read> {
    const { client, profile, id: checked = (id) => id as number } = this.#options
    const operation = this.#operations[action]
    let attempts = 0
    try {
      checkVerb(profile, operation.method, operation.name)
      const path: CallInput['path'] = 'id' in given ? { id: checked(given.id) } : {}
      const answer = await client.send(operation, { path, query: given.query, ...('data' in given && this.#written(given.data)) }, options)
      attempts = answer.attempts
      return read(answer)
    } catch (error) {
      throw described(error, attempts, operation.name)
    }
  }

  #unread(answer: ApiResponse): string | undefined {
    const { paging } = this.#options.profile
    return !paging || paging.style === 'none' ? unreadPage(answer) : undefined
  }

  async #page(cursor: PageCursor, options: CallOptions): Promise<ApiResponse> {
    if ('query' in cursor) return this.#call('list', cursor, options, (answer) => answer)
    const { client } = this.#options
    const { list } = this.#operations
    const path = rawPath(client.pathOf(cursor.url, list.path))
    return client.send({ ...list, path }, {}, { ...options, query: undefined })
  }

  #records({ data }: ApiResponse): Decoded<Resource<T>>[] {
    const { client, profile } = this.#options
    const list = listIn(data, profile.envelope, this.#name, client.baseUrl + this.#operations.list.path)
    return list.map((record) => this.#decoded(record))
  }

  #record({ data }: ApiResponse): Decoded<Resource<T>> | undefined {
    return data === undefined ? undefined : this.#decoded(unwrapped(data, this.#options.profile.envelope))
  }

  /** Decodes a record; any other value stays unchanged. */
  #decoded(record: unknown): Decoded<Resource<T>> {
    const isRecord = typeof record === 'object' && record !== null && !Array.isArray(record)
    return (isRecord ? decodeRecord(record, this.#options.fields ?? {}) : record) as Decoded<Resource<T>>
  }

  #written(data: unknown): CallInput {
    const { body, codec } = this.#options.profile
    if (body !== 'xml') return { body: data }
    if (!codec?.stringify)
      throw new ValidationError('REQUEST_INVALID', 'this service requires XML, but no codec for XML is set', { field: 'body' })
    try {
      return { content: codec.stringify(data), contentType: 'application/xml' }
    } catch (error) {
      throw foreign(error, this.#name)
    }
  }
}

/** Checks the path of a collection. Errors: `REQUEST_INVALID` for an empty one, and for one with an empty segment or a query. */
export function checkPath(path: unknown): void {
  if (typeof path !== 'string') throw new TypeError('a path must be a string')
  const message = `${JSON.stringify(path)} is not the path of a collection`
  if (/^$|[?#{}]|^\/|\/$|\/\//.test(path)) throw new ValidationError('REQUEST_INVALID', message, { field: 'path' })
}

function operationsOf({ profile, path }: ResourceOptions): Readonly<Record<Action, Operation>> {
  const [collection, item] = [`/${path}`, `/${path}/{id}`]
  const name = path.slice(path.lastIndexOf('/') + 1)
  const operation = (action: Action, method: Operation['method'], at: string): Operation => ({
    ...common(profile),
    name: `${name}.${action}`,
    method,
    path: at,
    replay: replayOf(profile, action),
  })
  return {
    list: operation('list', 'GET', collection),
    get: operation('get', 'GET', item),
    create: operation('create', 'POST', collection),
    update: operation('update', profile.update, item),
    delete: operation('delete', 'DELETE', item),
  }
}

function common({ accept, body, form }: ServiceProfile): Pick<Operation, 'accept' | 'body' | 'formOptions'> {
  return { accept, ...(body !== 'xml' && { body }), ...(form && { formOptions: form }) }
}

/** Returns the issue of a list that seems to have another page although no paging is configured. The link is not followed. */
function unreadPage(answer: ApiResponse): string | undefined {
  const place = nextPlace(answer)
  return place && `${place} names a next page, which was not read: configure in the profile how lists are paged`
}

/** Converts each known field; `undefined` is a value that does not fit. */
export type FieldReaders = NonNullable<ResourceOptions['fields']>

/**
 * A record whose known fields are converted. `decodeIssues` has the fields whose values did not fit and stay unchanged; it is not
 * enumerable, so it is not sent back with the record.
 */
export type Decoded<T> = T & { readonly decodeIssues: readonly { readonly field: string; readonly message: string }[] }

/** Returns a copy of a record with its known fields converted. Other, null and missing fields stay unchanged. Never throws. */
export function decodeRecord<T extends object>(record: T, readers: FieldReaders): Decoded<T> {
  const issues: { field: string; message: string }[] = []
  const entries = Object.entries(record).map(([field, value]) => {
    const read = Object.hasOwn(readers, field) ? readers[field] : undefined
    const text = textOf(record, field)
    if (!read && text !== undefined && losesDigits(text)) issues.push({ field, message: `a number cannot have all digits of ${text}` })
    if (!read || value === null || value === undefined) return [field, value] as const
    const decoded = read(value, text)
    if (decoded === undefined) issues.push({ field, message: `has an unexpected value of type ${typeof value}` })
    return [field, decoded === undefined ? value : decoded] as const
  })
  return Object.defineProperty(Object.fromEntries(entries), 'decodeIssues', { value: issues, enumerable: false }) as Decoded<T>
}

type Envelope = NonNullable<ServiceProfile['envelope']>

const COMPANIONS = new Set(['data', 'meta', 'links', 'paging', 'pagination', 'next', 'total'])

/** Returns the record or list inside of its envelope; a body without an envelope stays unchanged. */
export function unwrapped(body: unknown, envelope: Envelope = 'auto'): unknown {
  if (envelope === false || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const name = envelope === 'auto' ? 'data' : envelope.member
  if (!Object.hasOwn(body, name)) return body
  if (envelope === 'auto' && !Object.keys(body).every((key) => COMPANIONS.has(key))) return body
  return (body as Record<string, unknown>)[name]
}

/**
 * Returns the list in a response: the response itself, or the list under the resource's name, `items`, `results` or `value` (OData), also
 * inside `_embedded` (HAL).
 *
 * Errors: `RESPONSE_INVALID` with the names of the members.
 */
function listIn(body: unknown, envelope: Envelope | undefined, name: string, url: string): readonly unknown[] {
  const inner = unwrapped(unwrapped(body, envelope), envelope === undefined || envelope === 'auto' ? { member: '_embedded' } : false)
  if (Array.isArray(inner)) return inner
  const members = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {}
  for (const candidate of [name, 'items', 'results', 'value']) {
    const list = Object.hasOwn(members, candidate) ? members[candidate] : undefined
    if (Array.isArray(list)) return list
  }
  const found = Object.keys(members)
  const what = found.length > 0 ? `an object with ${found.slice(0, 20).join(', ')}` : inner === null ? 'null' : typeof inner
  throw new ProtocolError('RESPONSE_INVALID', `${url}: expected a list of ${name}, received ${what}`, { url })
}

/** An action on a collection or one of its items. */
type Action = keyof NonNullable<ServiceProfile['replay']>

/** The conventions of a REST service: its methods, bodies, envelopes and pages. */
export interface ServiceProfile {
  /** Methods that the service supports; any other is `VERB_NOT_ALLOWED`, before anything is sent. */
  readonly verbs: readonly Method[]
  /** The method that changes an item. */
  readonly update: 'PUT' | 'PATCH' | 'POST'
  /** Encoding of bodies; `xml` needs a `codec` with `stringify`. */
  readonly body: 'form' | 'json' | 'xml'
  /** The `Accept` header: `application/json`. */
  readonly accept: string
  /** Encoding of forms and queries; default: `form` of the client. */
  readonly form?: FormOptions
  /**
   * The member of a response that holds the record or list; false: the response itself. Default `auto`: `data`, if nothing is beside it but
   * members such as `meta`, `links` and `total`.
   */
  readonly envelope?: 'auto' | false | { readonly member: string }
  /** How the service refers to the next page; default: lists have one page. */
  readonly paging?: Paging
  /** The effect of sending an action twice, where the service promises more than HTTP (RFC 9110 §9.2). */
  readonly replay?: { readonly [action in 'list' | 'get' | 'create' | 'update' | 'delete']?: ReplayClass }
  /** Writes bodies in XML; to parse responses in XML, set the `codec` of the client. */
  readonly codec?: Codec
}

/**
 * The profile of most services: JSON in both directions, and `PUT` to the URL of an item changes it.
 *
 * @example const profile: ServiceProfile = { ...JSON_REST, update: 'PATCH', paging: { style: 'link' } }
 */
export const JSON_REST: ServiceProfile = {
  verbs: ['GET', 'POST', 'PUT', 'DELETE'],
  update: 'PUT',
  body: 'json',
  accept: 'application/json',
}

/** Returns the effect of repeating an action, according to HTTP (RFC 9110 §9.2) and the profile. */
function replayOf(profile: ServiceProfile, action: Action): ReplayClass {
  const stated = profile.replay?.[action]
  if (stated) return stated
  if (action === 'list' || action === 'get') return 'safe'
  return action === 'delete' || (action === 'update' && profile.update === 'PUT') ? 'idem' : 'unsafe'
}

/** Checks a method. Errors: `VERB_NOT_ALLOWED` for a method that the service does not support; nothing was sent. */
export function checkVerb({ verbs }: ServiceProfile, method: string, what: string): void {
  if ((verbs as readonly string[]).includes(method)) return
  const message = `${what}: this service does not support ${method}, only ${verbs.join(', ')}; nothing was sent`
  throw new ValidationError('VERB_NOT_ALLOWED', message, { field: 'method' })
}

/** A date and time with its zone, as `asInstant` reads it. */
export interface Instant {
  /** ISO 8601 with the zone that the service wrote: `2026-01-02T03:04:05+01:00`. */
  readonly iso: string
  /** Milliseconds since the epoch. */
  readonly epochMs: number
}

/**
 * Reads a boolean: true or false, 1 or 0, as text or not. Returns `undefined` for anything else.
 *
 * @example asBool('1') // true
 */
export function asBool(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === '1' || value === 'true') return true
  return value === false || value === 0 || value === '0' || value === 'false' ? false : undefined
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/

/**
 * Reads a decimal number as text, so that no digit is lost; numbers are written without an exponent. Returns `undefined` for anything else.
 *
 * @example asDecimal('12.30') // '12.30'
 */
export function asDecimal(value: unknown, text?: string): string | undefined {
  if (text !== undefined && DECIMAL.test(text)) return text
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? plainDigits(value) : undefined
  return typeof value === 'string' && DECIMAL.test(value) ? value : undefined
}

/**
 * Reads an integer: a `number` if it is exact, else a `bigint`. Returns `undefined` for anything else.
 *
 * @example asInt('9007199254740993') // 9007199254740993n
 */
export function asInt(value: unknown, text?: string): number | bigint | undefined {
  if (text !== undefined) return asInt(text) ?? asInt(value)
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  if (typeof value !== 'string' || !/^-?\d{1,40}$/.test(value)) return undefined
  const exact = Number(value)
  return Number.isSafeInteger(exact) ? exact : BigInt(value)
}

const INSTANT = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$/

/**
 * Reads a date and time with its zone (`Z`, `+hh:mm` or `+hhmm`). Returns `undefined` for anything else, also without a zone.
 *
 * @example asInstant('2026-01-02T03:04:05+0100')?.epochMs // 1767319445000
 */
export function asInstant(value: unknown): Instant | undefined {
  const [, time, fraction = '', zone = ''] = (typeof value === 'string' && INSTANT.exec(value)) || []
  if (time === undefined) return undefined
  const iso = `${time.replace(' ', 'T')}${fraction}${zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2')}`
  const epochMs = Date.parse(iso)
  return Number.isNaN(epochMs) ? undefined : { iso, epochMs }
}

/**
 * Reads a duration `HH:MM:SS`, also of more than 24 hours, in milliseconds. Returns `undefined` for anything else.
 *
 * @example asDuration('01:30:00') // 5400000
 */
export function asDuration(value: unknown): number | undefined {
  const [, sign, hours, minutes, seconds] = (typeof value === 'string' && /^(-?)(\d{1,9}):([0-5]\d):([0-5]\d)$/.exec(value)) || []
  if (hours === undefined) return undefined
  const whole = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -whole : whole
}

/** Writes a number without an exponent. */
function plainDigits(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(100).replace(/0+$/, '')
}
