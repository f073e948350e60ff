import type { Auth } from '../../auth/auth.ts'
import type { ServiceCredential } from '../../auth/credential.ts'
import type { SecretInput } from '../../auth/secret.ts'
import type { ApiClientOptions, ServiceProfile } from '../client/settings.ts'

/** A token and the User-Agent that it works with: what `auth.login()` gives. */
export interface BoundToken {
  readonly token: SecretInput
  readonly userAgent: string
}

/** The field of a token, and the word before it; without a word the token stands alone. */
export interface AuthHeader {
  readonly name: string
  readonly prefix?: string
}

/** What may be different from what the service is known to do. */
export type ProfileOptions = Partial<Pick<ServiceProfile, 'form' | 'envelope' | 'paging' | 'replay'>>

/** What every client of an API may choose. */
type Common = Pick<
  ApiClientOptions,
  'baseUrl' | 'transport' | 'allowInsecure' | 'timeouts' | 'maxRetries' | 'maxRetryAfter' | 'queueLimit' | 'limits' | 'hooks' | 'parseJson'
>

/** How the service is reached and by whom. */
export interface TimeTrackingOptions extends Common {
  /** `https://host/api/v1`; there is none by default. */
  readonly baseUrl: string
  /** The API token, a function that gives it, or a token with its User-Agent. */
  readonly token?: SecretInput | BoundToken
  /** Instead of a token: a credential, or an engine with a credential whose `sendTo` matches the base URL. */
  readonly auth?: ServiceCredential | Auth
  /** Where the token goes; default `{ name: 'Authorization', prefix: 'Bearer' }`. `x-api-token` is a field of that name. */
  readonly authHeader?: AuthHeader | 'x-api-token'
  /** Of all requests, letter by letter the one that made the token. Default `stac-auth-time-tracking`. Needed for `auth.login()`. */
  readonly userAgent?: string
  /** The last segment of the base address; default `v1`; false checks nothing. */
  readonly versionSegment?: string | false
  readonly profile?: ProfileOptions
}
