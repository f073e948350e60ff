/** The user's credentials: their types before and after reading, secrets, and the helpers that create credentials. */
import { ConfigurationError } from '../errors.ts'
import { isObject } from '../stac/document.ts'
import { nearMiss } from '../text/suggest.ts'
import type { StrategyTable } from './create-engine.ts'
import type {
  ApiKeyCredential,
  CredentialInput,
  OAuth2AuthorizationCodeCredential,
  OAuth2ClientCredentialsCredential,
  OAuth2ImplicitCredential,
  OAuth2PasswordCredential,
  OAuth2TokenExchangeCredential,
  OpenIdConnectAuthorizationCodeCredential,
  OpenIdConnectClientCredentialsCredential,
  OpenIdConnectPasswordCredential,
  S3Credential,
  SignedUrlCredential,
} from './credential-input.ts'
import type { UrlPattern } from './url-pattern.ts'

export type { CredentialInput } from './credential-input.ts'

/** The value of a secret in code: text, or a function that is called for each use. */
export type SecretInput = string | (() => string | Promise<string>)

/** Passes secrets between two copies of this library in a program; no document and no file can contain it. */
const HANDED_ON = Symbol.for('stac-auth.secret')

/**
 * Holds a secret so that logs, errors and JSON cannot show it by accident.
 *
 * @example const password = new Secret(() => vault.read('archive/password'))
 */
export class Secret {
  /** True when it was given as text: reading it is immediate. */
  declare readonly isText: boolean
  /** True when the user is asked for it. */
  declare readonly isAsked: boolean
  /** Returns the value to another copy of the library. A member, not a private name: proxies of user interfaces (Vue's `reactive`) have it too. */
  declare readonly [HANDED_ON]: () => string | Promise<string>

  /** Reads the secret again, for one from a source that programs outside may change. */
  declare readonly reader?: SecretReader

  constructor(input: SecretInput | SecretReader, isAsked = false) {
    this.isAsked = isAsked
    this.isText = typeof input === 'string'
    const reader = typeof input === 'object' ? input : undefined
    if (reader) this.reader = reader
    this[HANDED_ON] = reader ? () => reader.read() : typeof input === 'function' ? input : () => input as string
  }

  /** Returns the secret, also one created by another copy of the library; undefined for anything else. */
  static from(value: unknown): Secret | undefined {
    if (value instanceof Secret) return value
    if (typeof value !== 'object' || value === null || !(HANDED_ON in value)) return undefined
    const other = value as Secret
    return new Secret(() => other[HANDED_ON](), other.isAsked)
  }

  /** Returns the value, or a promise when it is not known yet. Errors: those of its source (`CREDENTIAL_SOURCE`). */
  reveal(): string | Promise<string> {
    return this[HANDED_ON]()
  }

  /** Returns `[secret]`. */
  toString(): string {
    return '[secret]'
  }

  /** Returns `[secret]`. */
  toJSON(): string {
    return '[secret]'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}

/** A source of a secret that is read once, and again on request. */
export interface SecretReader {
  /** Returns the secret, read on the first call. Concurrent calls share one read; a failed read can be repeated. Errors: `CREDENTIAL_SOURCE`. */
  read(): Promise<string>
  /** Number of different values that were read so far. */
  readonly reading: number
  /** Reads the source again unless there is a newer value than that one already; true when there is one. A failed read is none. */
  isNewer(than: number): Promise<boolean>
}

/** Where a secret is stored, for credentials in a file; exactly one key. */
export type SecretSource =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[] }
  | { readonly keyring: string }
  | { readonly netrc: string }
  | { readonly prompt: string }

/** A secret as a program gives it: text, a function that is called for each use, or its source. */
export type SecretValue = SecretInput | Secret | SecretSource

/** URL patterns; a single one may be a string. */
export type UrlPatterns = string | readonly string[]

/** Fields that every credential may have. */
export type CredentialBase = {
  /** Label for messages, `[A-Za-z0-9._-]{1,64}`; default: the type and a number. Never compared with scheme names. */
  readonly id?: string
  /** `by-address`: also used for targets without references whose URL is in `sendTo`. */
  readonly use?: 'by-address'
  /** Id of the provider that it was made from, `[a-z0-9-]{1,64}`; it has no effect on where anything is sent. */
  readonly provider?: string
}

/** A credential before it is read, with fields of unknown types, as in JSON. */
export interface CredentialObject extends CredentialBase {
  /** Type of the schemes that it answers. */
  readonly type: string
  /** The allowed URLs. */
  readonly sendTo?: UrlPatterns
  readonly [field: string]: unknown
}

declare const UNCHECKED: unique symbol

/** A credential whose fields are checked when it is read, not when the program is compiled. Made by {@link uncheckedCredential}. */
export type UncheckedCredential = CredentialBase & {
  readonly type: string
  readonly sendTo?: UrlPatterns
  readonly [UNCHECKED]: true
}

/** Several credentials and the order in which alternatives are preferred (ids). */
export interface CredentialSet<C = CredentialInput> {
  /** The credentials. */
  readonly credentials: readonly C[]
  /** Ids, the most preferred first: decides between alternatives in `auth:refs` that are all usable. */
  readonly preferred?: readonly string[]
}

/** Credentials in any depth of lists and sets. */
export type SourceOf<C> = C | CredentialSet<C> | readonly SourceOf<C>[]

/** The credentials of `createAuth`: one, a set, or lists of these in any depth. */
export type CredentialSource = SourceOf<CredentialInput>

/** A credential after reading: patterns parsed, secrets wrapped, all fields of its type checked. */
export interface Credential {
  /** Its id: given, or made of its type and position. */
  readonly id: string
  /** Type of its strategy. */
  readonly type: string
  /** The allowed URLs. */
  readonly sendTo: readonly UrlPattern[]
  /** Index in `preferred`; Infinity when it is not preferred. */
  readonly preference: number
  /** `by-address`: may be used for targets without references. */
  readonly use?: 'by-address'
  /** Id of the provider that it was made from. */
  readonly provider?: string
  readonly [field: string]: unknown
}

/**
 * Returns the id of the credential whose token a credential needs: `with`, and `subject` of a token exchange (RFC 8693). Other types have text
 * of that name.
 */
export function inputIdOf({ with: via, subject, flow }: Pick<Credential, string>): string | undefined {
  const id = via ?? (flow === 'tokenExchange' ? subject : undefined)
  return typeof id === 'string' ? id : undefined
}

/** Field kinds of a credential. `issuer` is a URL kept exactly as written, because it is compared as text; `secret` takes a source (in code also text or a function), `text-or-secret` text as well; `members` are those of a JSON object to send, `places` of an answer's fields by name; `function` is for code only. */
export type FieldKind =
  | 'text'
  | 'secret'
  | 'text-or-secret'
  | 'url'
  | 'issuer'
  | 'boolean'
  | 'number'
  | 'texts'
  | 'patterns'
  | 'signed-url-patterns'
  | 'id'
  | 'parameters'
  | 'members'
  | 'places'
  | 'placement'
  | 'function'

/** One field of a credential. */
export interface Field {
  /** The kind of its value: text, a secret, URLs, …. */
  readonly kind: FieldKind
  /** Text for prompts, form labels and table cells. */
  readonly label: string
  /** True when a credential without it is refused. */
  readonly required?: boolean
  /** The values allowed, for `text`; the names allowed, for `places`. */
  readonly values?: readonly string[]
  /** True for multi-line text, such as keys in PEM. */
  readonly lines?: true
  /** True for one-time codes: the source of the secret is read for every use. */
  readonly oneTime?: true
}

/** One form of the credentials of a type, selected by the values of `when` (`undefined`: the field is absent); the first that matches is used. */
export interface CredentialFields {
  /** The values that select this form, by field. */
  readonly when?: { readonly [field: string]: readonly (string | boolean | undefined)[] }
  /** The fields by name. */
  readonly fields: { readonly [name: string]: Field }
}

/** The fields that a user must supply for a scheme: for prompts, web forms and the credential printed in errors. */
export interface CredentialForm {
  /** The credential as far as the scheme determines it; `id`, `sendTo` and the fields below complete it. */
  readonly credential: { readonly type: string; readonly [field: string]: unknown }
  /** The fields to fill in; the kind says which are secret. */
  readonly fields: { readonly [name: string]: Field }
  /** Where the secret is sent in each request, when that is neither in `credential` nor the header `authorization`. */
  readonly carriedIn?: 'url' | 'signature'
  /** The URL of the login page, or of the document that names it. */
  readonly loginAt?: string
  /** Support in browsers; default: full. `if exposed`: only when servers expose the challenge to scripts. */
  readonly inPages?: 'if exposed' | 'never'
}

/** The fields of a credential without what its helper adds. */
type FieldsOf<C, Added extends string = 'type' | 'sendTo'> = C extends unknown ? Omit<C, Added> : never

/** A credential of the client of one service: without `sendTo` it goes to the origin of the service only. */
export type ServiceCredential = CredentialInput | FieldsOf<Exclude<CredentialInput, UncheckedCredential>, 'sendTo'>

/**
 * Returns a credential for a finished token that may go to one origin; it answers `http` bearer, `oauth2` and `openIdConnect`.
 *
 * @example createAuth({ credentials: [bearer(token, 'https://data.example/')] })
 */
export function bearer(token: SecretValue, sendTo: UrlPatterns): CredentialInput {
  return { type: 'http', scheme: 'bearer', token, sendTo }
}

/**
 * Returns a credential for HTTP Basic authentication (RFC 7617).
 *
 * @example createAuth({ credentials: [basic('ada', password, 'https://data.example/')] })
 */
export function basic(username: SecretValue, password: SecretValue, sendTo: UrlPatterns): CredentialInput {
  return { type: 'http', scheme: 'basic', username, password, sendTo }
}

/**
 * Returns a credential for an API key in a header, a query parameter or a cookie.
 *
 * @example createAuth({ credentials: [apiKey(key, { in: 'header', name: 'x-api-key' }, 'https://data.example/')] })
 */
export function apiKey(
  value: SecretValue,
  place: FieldsOf<ApiKeyCredential, 'type' | 'sendTo' | 'value'>,
  sendTo: UrlPatterns,
): CredentialInput {
  return { ...place, type: 'apiKey', value, sendTo }
}

/**
 * Returns a credential for S3: a pair of keys, a profile, or a service that gives temporary keys.
 *
 * @example createAuth({ credentials: [s3({ accessKeyId, secretAccessKey, region: 'eu-central-1' }, 's3://bucket/')] })
 */
export function s3(fields: FieldsOf<S3Credential>, sendTo: UrlPatterns): CredentialInput {
  return { ...fields, type: 's3', sendTo }
}

/**
 * Returns a credential for OAuth 2.0; `flow` decides which fields it needs.
 *
 * @example createAuth({ credentials: [oauth2({ flow: 'clientCredentials', tokenUrl, clientId, clientSecret }, 'https://data.example/')] })
 */
export function oauth2(
  fields: FieldsOf<
    | OAuth2AuthorizationCodeCredential
    | OAuth2ClientCredentialsCredential
    | OAuth2ImplicitCredential
    | OAuth2PasswordCredential
    | OAuth2TokenExchangeCredential
  >,
  sendTo: UrlPatterns,
): CredentialInput {
  return { ...fields, type: 'oauth2', sendTo }
}

/**
 * Returns a credential for OpenID Connect; without `flow` a person logs in.
 *
 * @example createAuth({ credentials: [openIdConnect({ issuer: 'https://login.example/', clientId: 'app' }, 'https://data.example/')] })
 */
export function openIdConnect(
  fields: FieldsOf<OpenIdConnectAuthorizationCodeCredential | OpenIdConnectClientCredentialsCredential | OpenIdConnectPasswordCredential>,
  sendTo: UrlPatterns,
): CredentialInput {
  return { ...fields, type: 'openIdConnect', sendTo }
}

/**
 * Returns a credential for a signing API; `signedUrlHosts` says where the signed URLs may point.
 *
 * @example createAuth({ credentials: [signedUrl({ authorizationApi, method: 'GET', signedUrlHosts: 'https://data.example/' })] })
 */
export function signedUrl(fields: FieldsOf<SignedUrlCredential, 'type'>): CredentialInput {
  return { ...fields, type: 'signedUrl' }
}

/**
 * Returns a credential whose fields the compiler does not check: one that was read from JSON, or of a strategy of your own.
 *
 * @example createAuth({ credentials: [uncheckedCredential(JSON.parse(text))], strategies: [...defaultStrategies, mine] })
 */
export function uncheckedCredential(credential: CredentialObject): UncheckedCredential {
  return credential as CredentialObject & UncheckedCredential
}

/** Returns the credentials of all sources as one set. Errors: `CONFIG_INVALID`. */
export function flatten(source: SourceOf<CredentialObject>): CredentialSet<CredentialObject> {
  if (Array.isArray(source)) {
    const sets = (source as readonly SourceOf<CredentialObject>[]).map(flatten)
    return { credentials: sets.flatMap((set) => set.credentials), preferred: sets.flatMap((set) => set.preferred ?? []) }
  }
  if (!isObject(source) || typeof source.then === 'function') {
    const kind = source === null ? 'null' : isObject(source) ? 'a promise' : typeof source
    throw new ConfigurationError('CONFIG_INVALID', `credentials must be objects, sets or lists of these, not ${kind}`)
  }
  // A credential may have a field of that name: the ready-made value of `http`.
  if (!('credentials' in source) || 'type' in source) return { credentials: [source as CredentialObject] }
  const { credentials, preferred = [] } = source
  if (!Array.isArray(credentials)) throw invalid('/credentials', 'must be a list')
  if (!isTexts(preferred)) throw invalid('/preferred', 'must be a list of ids')
  return { credentials, preferred }
}

/**
 * Checks what can be checked before a strategy is loaded: that each credential has a supported type and `sendTo`.
 *
 * Errors: `CONFIG_INVALID` with the pointer of the field.
 */
export function checkShapes({ credentials }: CredentialSet<CredentialObject>, strategies: StrategyTable): void {
  credentials.forEach((input: unknown, index) => {
    const at = `/credentials/${index}`
    if (!isObject(input)) throw new ConfigurationError('CONFIG_INVALID', `credentials[${index}] must be an object`, { pointer: at })
    const type = String(input.type)
    const { types } = strategies
    if (!types.includes(type)) {
      const meant = nearMiss(type, types)
      throw invalid(`${at}/type`, `must be one of ${types.join(', ')}`, meant && `did you mean "${meant}"?`)
    }
    if (input.sendTo === undefined && strategies.needsSendTo(type)) throw missingSendTo(at)
  })
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Returns the error for a credential without allowed URLs. */
export function missingSendTo(at: string): ConfigurationError {
  const hint = 'for example "sendTo": ["https://data.example/"]'
  return invalid(`${at}/sendTo`, 'is missing: list the URLs to which this credential may be sent', hint)
}

/** Returns a `CONFIG_INVALID` error with the name and pointer of the invalid field. */
export function invalid(at: string, what: string, hint?: string): ConfigurationError {
  const field = at.slice(1).replace(/^(credentials)\/(\d+)\/(.+)/, '$3 of $1[$2]')
  return new ConfigurationError('CONFIG_INVALID', `${field} ${what}`, { pointer: at, ...(hint && { hint }) })
}
