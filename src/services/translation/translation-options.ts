/** What callers choose about a client of the translation service, and about one call. */
import type { Auth } from '../../auth/auth.ts'
import type { ServiceCredential } from '../../auth/credential.ts'
import type { Secret } from '../../auth/secret.ts'
import { isAuthError } from '../../errors.ts'
import type { Clock } from '../../net/clock.ts'
import type { CallOptions } from '../client/call-options.ts'
import { described } from '../client/errors.ts'
import type { ApiClientOptions } from '../client/settings.ts'

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
  /** Instead of a key: a credential or an engine whose `sendTo` matches the base URL; it needs `baseUrl` or `plan`. */
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

/** Does the work of an operation; its errors name the operation and the number of requests, none where they say nothing else. */
export async function named<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw described(error, 0, operation)
  }
}

/** The error of a job that continues at the service, with its identifier in `jobId` for later status requests. */
export function namedJob(error: unknown, jobId: string): unknown {
  if (!isAuthError(error) || 'jobId' in error || !Object.isExtensible(error)) return error
  return Object.defineProperty(error, 'jobId', { value: jobId, enumerable: true })
}

/** Options for several steps that share one end, by `totalTimeout` or by `deadline`: the one that comes first. */
export function oneEnd<Options extends TranslationCallOptions>(
  { totalTimeout, deadline, ...options }: Options,
  clock: Clock,
): Omit<Options, 'totalTimeout' | 'deadline'> & { readonly deadline?: Date } {
  if (typeof totalTimeout !== 'number') return { ...options, ...(deadline && { deadline }) }
  const end = clock.now() + totalTimeout
  return { ...options, deadline: new Date(deadline ? Math.min(end, deadline.getTime()) : end) }
}
