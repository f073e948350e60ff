/** What the calls of one client have in common. */

import type { Auth } from '../../auth/auth.ts'
import type { ServiceCredential } from '../../auth/credential.ts'
import { ConfigurationError } from '../../errors.ts'
import type { Transport } from '../../http/message.ts'
import { Redactor } from '../../text/redactor.ts'
import type { Interceptor } from './call-options.ts'
import type { Codec } from './decode.ts'
import { ValidationError } from './errors.ts'
import { Events, type Hooks } from './events.ts'
import type { FormOptions } from './form.ts'
import type { Method } from './operation.ts'
import type { Paging } from './paging.ts'
import type { ReplayClass } from './replay.ts'
import type { Envelope } from './rest-resource.ts'
import { type ServiceLimits, sharedLimits } from './service-limits.ts'

/** Milliseconds. A transport that is only a function, such as `fetch`, knows no `headers` and `bodyIdle`: `attempt` ends those waits. */
export interface Timeouts {
  /** One attempt with its whole answer; default 30 000. Not for answers that are streams. */
  readonly attempt?: number
  /** From the end of the request to the headers of the answer; default 30 000. */
  readonly headers?: number
  /** Between two pieces of the answer; default 30 000. */
  readonly bodyIdle?: number
  /** A call with all its waits and retries; default 120 000; `false` for none. */
  readonly total?: number | false
}

/** Every choice made. */
export interface Settings {
  readonly origin: string
  /** Path of the base address without a slash at its end. */
  readonly base: string
  readonly form: FormOptions
  readonly pinned: ReadonlySet<string>
  readonly timeouts: Required<Timeouts>
  readonly maxRetries: number
  /** Milliseconds of a server's wish that are waited for. */
  readonly maxRetryAfter: number
  readonly queueLimit: number
  readonly renew: boolean
  /** The advice for a status. */
  readonly hints: Readonly<Record<number, string>>
  readonly codec: Codec | undefined
  readonly parseJson: (text: string) => unknown
  readonly limits: ServiceLimits
  readonly events: Events
  /** Returns what takes the known secrets out of a text. */
  readonly redactor: () => Redactor
  readonly interceptors: readonly Interceptor[]
}

/** The settings of a client with those options, at that base address. */
export function settingsOf(
  options: ApiClientOptions,
  { origin, path }: { readonly origin: string; readonly path: string },
): Settings & { readonly interceptors: Interceptor[] } {
  const { limits = sharedLimits } = options
  return {
    origin,
    base: path,
    form: options.form ?? {},
    pinned: new Set(['authorization', ...(options.pinnedHeaders ?? [])].map((name) => name.toLowerCase())),
    timeouts: timeoutsOf(options.timeouts),
    maxRetries: options.maxRetries ?? 4,
    maxRetryAfter: options.maxRetryAfter ?? 60_000,
    queueLimit: options.queueLimit ?? Number.POSITIVE_INFINITY,
    renew: options.renew ?? true,
    hints: options.hints ?? {},
    codec: options.codec,
    parseJson: options.parseJson ?? JSON.parse,
    limits,
    events: new Events(options.hooks),
    redactor: lazyRedactor(),
    interceptors: [],
  }
}

/** Returns a function that makes a redactor when it is first called: a call that succeeds needs none. */
function lazyRedactor(): () => Redactor {
  let redactor: Redactor | undefined
  return () => {
    redactor ??= new Redactor()
    return redactor
  }
}

/** What is undefined is not chosen. Errors: `CONFIG_INVALID` for what is no number, which would end nothing. */
function timeoutsOf(chosen: Timeouts = {}): Required<Timeouts> {
  const { attempt = 30_000, headers = 30_000, bodyIdle = 30_000, total = 120_000 } = chosen
  const timeouts = { attempt, headers, bodyIdle, total }
  for (const [name, time] of Object.entries(timeouts)) {
    if (Number.isNaN(Number(time))) throw new ConfigurationError('CONFIG_INVALID', `timeouts.${name} is not a number of milliseconds`)
  }
  return timeouts
}

/** What a client of an API is given. */
export interface ApiClientOptions {
  /** `https://host/api/v1`. */
  readonly baseUrl: string
  /** A credential; without `sendTo` it is sent to the origin of the base URL only. */
  readonly credential?: ServiceCredential
  /** An engine instead, with a credential whose `sendTo` matches the base URL. With neither, requests carry no credential. */
  readonly auth?: Auth
  /** Sends one request and follows nothing; default: undici on Node, `fetch` elsewhere, loaded with the first request. */
  readonly transport?: Transport
  /** `loopback` lets the base address be http: on this very machine, for tests. */
  readonly allowInsecure?: 'loopback'
  /** Sent with every request; default `stac-auth`. */
  readonly userAgent?: string
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Names of headers that calls may not set, besides that of the credential, which is `authorization` by default. */
  readonly pinnedHeaders?: readonly string[]
  /** How queries and bodies of forms are written. */
  readonly form?: FormOptions
  readonly timeouts?: Timeouts
  /** Retries after the first attempt; default 4. */
  readonly maxRetries?: number
  /** Milliseconds of a server's wish that are waited for; default 60 000. */
  readonly maxRetryAfter?: number
  /** Calls that may wait for their turn; default: any number. */
  readonly queueLimit?: number
  /** False: a 401 is never answered with a renewed credential. */
  readonly renew?: boolean
  /** The advice for a status, in `hint`. */
  readonly hints?: Readonly<Record<number, string>>
  /** Reads the JSON of successful answers, with numbers that JavaScript cannot hold for example; default `JSON.parse`. */
  readonly parseJson?: (text: string) => unknown
  /** Reads XML. */
  readonly codec?: Codec
  /** Default: one for the process. */
  readonly limits?: ServiceLimits
  readonly hooks?: Hooks
}

/** What can be done with a collection and its items. */
export type Action = 'list' | 'get' | 'create' | 'update' | 'delete'

export interface ServiceProfile {
  /** Methods that the service knows; any other is refused here. */
  readonly verbs: readonly Method[]
  /** The method that changes an item. */
  readonly update: 'PUT' | 'PATCH' | 'POST'
  /** How bodies are written; `xml` needs a codec that can. */
  readonly body: 'form' | 'json' | 'xml'
  readonly accept: string
  readonly form?: FormOptions
  /** Default `auto`. */
  readonly envelope?: Envelope
  /** Default: one page. */
  readonly paging?: Paging
  /** Where the service promises more than HTTP does. */
  readonly replay?: { readonly [action in Action]?: ReplayClass }
  readonly codec?: Codec
}

/** The usual convention: JSON, `PUT` on the address of the item changes it. */
export const JSON_REST: ServiceProfile = {
  verbs: ['GET', 'POST', 'PUT', 'DELETE'],
  update: 'PUT',
  body: 'json',
  accept: 'application/json',
}

/** What repeating an action does, as far as HTTP (RFC 9110 §9.2) and the profile say. */
export function replayOf(profile: ServiceProfile, action: Action): ReplayClass {
  const stated = profile.replay?.[action]
  if (stated) return stated
  if (action === 'list' || action === 'get') return 'safe'
  return action === 'delete' || (action === 'update' && profile.update === 'PUT') ? 'idem' : 'unsafe'
}

/** Errors: `VERB_NOT_ALLOWED` for a method that the service does not know; no credential was read. */
export function checkVerb({ verbs }: ServiceProfile, method: string, what: string): void {
  if ((verbs as readonly string[]).includes(method)) return
  const message = `${what}: this service does not support ${method}, only ${verbs.join(', ')}; nothing was sent`
  throw new ValidationError('VERB_NOT_ALLOWED', message, { field: 'method' })
}
