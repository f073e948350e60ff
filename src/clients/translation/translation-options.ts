/** What callers choose about a client of the translation service, and about one call. */
import type { Auth } from '../../auth/auth.ts'
import type { ServiceCredential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import type { ApiClientOptions } from '../api-client-options.ts'
import type { CallOptions } from '../call-options.ts'

/** A key as text, in a `Secret`, or a function that is asked for it at every attempt. */
export type ApiKey = string | Secret | (() => string | Promise<string>)

/**
 * What is checked before anything is sent: `strict` all limits that are known, `document` only those that the interface document states,
 * `off` none. Wrong types are always refused.
 */
export type Validation = 'strict' | 'document' | 'off'

type Inherited =
  | 'transport'
  | 'allowInsecure'
  | 'timeouts'
  | 'maxRetries'
  | 'maxRetryAfter'
  | 'queueLimit'
  | 'limits'
  | 'hooks'
  | 'headers'
  | 'codec'

/** How a client is made: where the service is, and who asks. */
export interface TranslationClientOptions extends Pick<ApiClientOptions, Inherited> {
  /** Default: the host of `plan`. */
  readonly baseUrl?: string
  /** Default: `free` for keys that end in `:fx`, else `pro`. */
  readonly plan?: 'free' | 'pro'
  readonly apiKey?: ApiKey | undefined
  /** Instead of a key: an entry or an engine whose `sendTo` covers the base address; it needs `baseUrl` or `plan`. */
  readonly auth?: Auth | ServiceCredential
  /** Where the key goes; default `Authorization: DeepL-Auth-Key <key>`. An empty prefix sends the key alone. */
  readonly authHeader?: { readonly name: string; readonly prefix?: string }
  /** Under which tag use is counted; 1 to 100 characters of ASCII without blanks. */
  readonly reportingTag?: string
  /** Named in `User-Agent` behind this library. */
  readonly appInfo?: { readonly name: string; readonly version?: string }
  /** Default `strict`. */
  readonly validate?: Validation
  /** Texts of one request; default 50. */
  readonly maxTextsPerRequest?: number
}

/** The last argument of every method. */
export interface TranslationCallOptions extends CallOptions {
  readonly reportingTag?: string
  readonly validate?: Validation
  /** Writes the body as a form, where the service reads one. */
  readonly encoding?: 'json' | 'form'
}
