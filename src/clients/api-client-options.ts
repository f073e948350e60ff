import type { Auth } from '../auth/auth.ts'
import type { ServiceCredential } from '../auth/credential.ts'
import type { Transport } from '../http/message.ts'
import type { Codec } from './decode.ts'
import type { Hooks } from './events.ts'
import type { FormOptions } from './form.ts'
import type { ServiceLimits } from './service-limits.ts'
import type { Timeouts } from './settings.ts'

/** What a client of an API is given. */
export interface ApiClientOptions {
  /** `https://host/api/v1`. */
  readonly baseUrl: string
  /** An entry; without `sendTo` it may go to the origin of the base address only. */
  readonly credential?: ServiceCredential
  /** An engine instead, with an entry whose `sendTo` covers the base address. With neither, requests carry no credential. */
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
  /** What to tell the user about a status, in `hint`. */
  readonly hints?: Readonly<Record<number, string>>
  /** Reads the JSON of successful answers, with numbers that JavaScript cannot hold for example; default `JSON.parse`. */
  readonly parseJson?: (text: string) => unknown
  /** Reads XML. */
  readonly codec?: Codec
  /** Default: one for the process. */
  readonly limits?: ServiceLimits
  readonly hooks?: Hooks
}
