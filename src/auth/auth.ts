/** What callers use: the products of the engine. */
import type { ErrorCode } from '../errors.ts'
import type { HttpRequest, HttpResponse, Send } from '../http/message.ts'
import type { ObjectLocation } from '../stac/storage.ts'
import type { Target } from '../stac/target.ts'
import type { ObjectKeys } from './flow.ts'
import type { Interaction } from './interaction.ts'
import type { Warning } from './strategy.ts'

/** The authorized request, unsent, and how it came about. Its headers and address may hold secrets. */
export interface AuthorizedRequest extends HttpRequest {
  /** Name in `auth:refs`; absent for a target that asked for nothing. */
  readonly ref?: string
  /** Type of the scheme in the document. */
  readonly scheme?: string
  /** Id of the entry that was used. */
  readonly credential?: string
  /** ISO 8601 in UTC; absent when nobody knows. */
  readonly expiresAt?: string
  readonly pointer?: string
  /** For object stores: where the object lies. */
  readonly location?: ObjectLocation
  /** For object stores, only when `keys` was asked for. They are worth more than all else here: they sign any request. */
  readonly keys?: ObjectKeys
  /** What of it is secret, by structure: header names, and whether the address itself carries material. */
  readonly material: { readonly headers: readonly string[]; readonly url: boolean }
}

/** One reference of a target: with `code` it says why it is not used, with `credential` and no `code` it would be. */
export interface RefExplanation {
  /** The name; for a reference that is not a string, its JSON with the code `SCHEME_INVALID`. */
  readonly ref: string
  /** Type of the scheme; absent when the name is not defined. */
  readonly scheme?: string
  readonly credential?: string
  readonly code?: ErrorCode
  readonly message?: string
  readonly hint?: string
  readonly pointer?: string
}

/** What becomes of a target without references whose URL a credential covers. */
export interface ByAddressExplanation {
  /** False where the user has not opted in: `byAddress` of the engine, or `use` of the credential. */
  readonly used: boolean
  /** Id of the credential that covers the URL; with `code` it cannot be used. */
  readonly credential?: string
  readonly code?: ErrorCode
  readonly message?: string
  readonly hint?: string
  readonly pointer?: string
}

/** Why a target is or is not reachable; made without network. */
export interface Explanation {
  readonly pointer: string
  readonly href: string
  readonly refs: readonly RefExplanation[]
  /** For a target without references: the credential that its URL selects. */
  readonly byAddress?: ByAddressExplanation
  /** Present when the target itself is refused (its address, a link's own request fields). */
  readonly code?: ErrorCode
  readonly message?: string
  readonly hint?: string
  readonly warnings: readonly Warning[]
}

export interface AuthorizeOptions {
  readonly signal?: AbortSignal
  /** `GET` by default; `HEAD` for a look at the headers. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Seconds, 1 to 604800: for `s3` an address that opens by itself for that long, instead of headers. */
  readonly presign?: number
  /** True adds the keys themselves to a request of `s3` that is not presigned, for a program that signs by itself. */
  readonly keys?: boolean
}

/** How the request for a target is sent. */
export interface TargetSendOptions {
  readonly signal?: AbortSignal
  /** For a target; an address comes with its own. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How a request to a service is authorized. */
export interface AuthorizedCall {
  readonly signal?: AbortSignal
  /** What came of the request that {@link Service.peek} gave: it is not sent once more, and another one only if it differs. */
  readonly refused?: { readonly request: HttpRequest; readonly response: HttpResponse }
}

/** The entry for the addresses below one base, for clients of an API. Redirects are not followed, every answer is given as it came. */
export interface Service {
  /** Id of the entry. */
  readonly credential: string
  /** The user wrote the origin itself down: it may be a loopback or private address. */
  readonly allowPrivateNetwork: boolean
  /** The request with its material from what is already known; undefined when something must be fetched or loaded. */
  peek(request: HttpRequest): HttpRequest | undefined
  /** Authorizes the request and sends it, and each leg of a handshake before it, by that function. */
  send(request: HttpRequest, send: Send, call?: AuthorizedCall): Promise<HttpResponse>
}

export interface Auth {
  /**
   * The authorized request: handshakes are done, the request itself is unsent. What `assetOf` did not find
   * (`undefined`) is `TARGET_NOT_FOUND`, here and below.
   *
   * Errors: `SelectionError` (nothing was sent), `CredentialError`, `TrustError`, `ProtocolError`, `NetworkError`.
   */
  authorize(target: Target | undefined, options?: AuthorizeOptions): Promise<AuthorizedRequest>
  /**
   * Sends it and follows redirects, each hop with its own choice of credential. A standard `Response` comes back; a
   * 401 or 403 to a credential is `AUTH_REJECTED`.
   *
   * For an address instead of a target, the entry whose `sendTo` covers it most narrowly is used. Pass the target itself
   * where there is one: text of a catalog should select a credential by its references only.
   */
  fetch(target: Target | string | URL | Request | undefined, init?: RequestInit): Promise<Response>
  /**
   * Like `fetch` in plain data: a standard `Response` costs more than the exchange of a small document. `crawl({ send: auth.send })`
   * asks for addresses with it, `download` for targets.
   */
  send(request: HttpRequest | Target | undefined, options?: TargetSendOptions): Promise<HttpResponse>
  /** A `fetch` for addresses below a target (Zarr chunks, ranges of a COG): the same refs, the same rules. */
  fetchFor(target: Target | undefined): typeof globalThis.fetch
  /**
   * The entry whose `sendTo` covers that base address most narrowly, for the requests of a client of an API.
   *
   * Errors: `NO_CREDENTIAL`, `URL_*`.
   */
  service(base: string): Promise<Service>
  /** Loads what the entries need: `peek` can answer then, and a wrong entry is told now. Errors: `CONFIG_INVALID`. */
  ready(): Promise<void>
  /** The authorized request from what is already known, without waiting; undefined when something must be fetched or loaded. */
  peek(target: Target | undefined): AuthorizedRequest | undefined
  /** Which reference, which entry, why not the others; no network; of secrets only what `session` keeps is looked at. */
  explain(target: Target | undefined): Promise<Explanation>
  /**
   * Obtains a token for the entry of that id and keeps it in `session`, with the person's help where the entry needs one.
   *
   * Errors: `CONFIG_INVALID` for an id that is no such entry, `LOGIN_REQUIRED` when the interaction cannot do what is needed,
   * `LOGIN_DENIED`, `LOGIN_TIMEOUT`, `OAUTH_*`, `OIDC_ID_TOKEN`, those of the transport.
   */
  login(credential: string, interaction?: Interaction, options?: { readonly signal?: AbortSignal }): Promise<void>
  /**
   * Forgets the token of the entry, in `session` as well, and revokes it where the provider can (RFC 7009). With `end` the person's
   * login at the provider ends too, where it says how.
   */
  logout(credential: string, options?: { readonly signal?: AbortSignal } & Pick<Interaction, 'end'>): Promise<void>
  /** What is known about the tokens of the entries that have some; no network, never a token. */
  status(): Promise<readonly CredentialStatus[]>
}

export interface CredentialStatus {
  /** Id of the entry. */
  readonly credential: string
  readonly type: string
  readonly flow?: string
  readonly state: 'none' | 'valid' | 'expired'
  /** ISO 8601 in UTC; absent when nobody knows. */
  readonly expiresAt?: string
  readonly scopes?: readonly string[]
  /** True when a new token can be had without a person. */
  readonly renewable: boolean
  /** False when tokens of the entry end with this engine, whatever `session` is. */
  readonly lasts: boolean
}
