/** The engine as its users see it: authorized requests and how they are built, explanations, services, logins, the `Auth` interface. */
import type { ErrorCode } from '../errors.ts'
import type { HttpRequest, HttpResponse, Send } from '../http/message.ts'
import type { UrlSignature } from '../http/url-signature.ts'
import type { ObjectLocation } from '../stac/storage.ts'
import type { Target } from '../stac/target.ts'
import type { ObjectKeys, Warning } from './strategy.ts'

/** The authorized request, unsent, and how it was authorized. Its headers and URL may hold secrets. */
export interface AuthorizedRequest extends HttpRequest {
  /** Name in `auth:refs`; absent for a target without references. */
  readonly ref?: string
  /** Type of the scheme in the document. */
  readonly scheme?: string
  /** Id of the credential that was used. */
  readonly credential?: string
  /** ISO 8601 in UTC; absent when unknown. */
  readonly expiresAt?: string
  /** JSON Pointer of the target in its document. */
  readonly pointer?: string
  /** For object stores: the location of the object. */
  readonly location?: ObjectLocation
  /** For object stores, only when `keys` was requested. Handle them with more care than the headers: they can sign any request. */
  readonly keys?: ObjectKeys
  /** The parts that are secret: header names, and whether the URL itself carries a secret. */
  readonly secretIn: { readonly headers: readonly string[]; readonly url: boolean }
}

/** One reference of a target: `code` says why it is rejected; with `credential` and without `code` it would be used. */
export interface RefExplanation {
  /** The name; for a reference that is not a string, its JSON with the code `SCHEME_INVALID`. */
  readonly ref: string
  /** Type of the scheme; absent when the name is not defined, and for a URL with its own signature. */
  readonly scheme?: string
  /** Id of the credential that would be used; with the code `LOGIN_REQUIRED` of the one that must log in first. */
  readonly credential?: string
  /** Why it is rejected. */
  readonly code?: ErrorCode
  /** The reason for people. */
  readonly message?: string
  /** What would make it usable. */
  readonly hint?: string
  /** JSON Pointer of what is wrong in the document. */
  readonly pointer?: string
}

/** Explains how a target without references whose URL is in `sendTo` of a credential is handled. */
export interface ByAddressExplanation {
  /** False where the user has not opted in: `byAddress` of the engine, or `use` of the credential. */
  readonly used: boolean
  /** Id of the credential whose `sendTo` contains the URL; with `code` it cannot be used. */
  readonly credential?: string
  /** Why the credential cannot be used. */
  readonly code?: ErrorCode
  /** The reason for people. */
  readonly message?: string
  /** What would make it usable. */
  readonly hint?: string
  /** JSON Pointer of what is wrong in the document. */
  readonly pointer?: string
}

/** Says why a target can or cannot be requested; computed without network access. */
export interface Explanation {
  /** JSON Pointer of the target in its document. */
  readonly pointer: string
  /** Its `href`, as written. */
  readonly href: string
  /** Its references in the order of the document. */
  readonly refs: readonly RefExplanation[]
  /** For a target without references: the credential selected by its URL. */
  readonly byAddress?: ByAddressExplanation
  /** For a URL that carries its own signature: it is requested as it is, and no credential is sent. */
  readonly signature?: SignatureExplanation
  /** Present when the target itself is refused (its URL, or request fields of a link). */
  readonly code?: ErrorCode
  /** The reason for people. */
  readonly message?: string
  /** What would make it usable. */
  readonly hint?: string
  /** Problems that do not stop the request. */
  readonly warnings: readonly Warning[]
}

/** The signature in the URL of a target. */
export interface SignatureExplanation {
  /** Who defined it: `S3`, `CloudFront`, `Google Cloud Storage` or `Azure Storage`. */
  readonly kind: UrlSignature['kind']
  /** ISO 8601 in UTC; absent when the URL does not say it. */
  readonly expiresAt?: string
  /** True when it is not valid any more. */
  readonly expired: boolean
}

/** Whether a request may be sent without a credential. */
export interface Anonymous {
  /**
   * `allow`: for a URL that may be public. If no credential can be used (none matches, its secret cannot be read, a login is required), the
   * request is made without; when the server refuses that (401, 403), the error says why the credential cannot be used. `refuse`: nothing is
   * sent. Default: that of the engine, which is `refuse`.
   */
  readonly anonymous?: 'allow' | 'refuse'
}

/** Options of `Auth.fetch`: those of the standard `fetch`, and `anonymous`. */
export interface FetchOptions extends RequestInit, Anonymous {}

/** Options of `Auth.authorize`. */
export interface AuthorizeOptions extends Anonymous {
  /** Aborts the call (`ABORTED`). */
  readonly signal?: AbortSignal
  /** `GET` by default; `HEAD` for the response headers only. */
  readonly method?: string
  /** More headers of the request; names in any case. Those of the authorization replace them. */
  readonly headers?: RequestInit['headers']
  /** Seconds, 1 to 604800: for `s3`, returns a presigned URL that is valid for that long instead of headers. */
  readonly presign?: number
  /** True adds the keys themselves to an `s3` request that is not presigned, for programs that sign requests themselves. */
  readonly keys?: boolean
}

/** Options for sending the request of a target. */
export interface TargetSendOptions extends Anonymous {
  /** Aborts the call (`ABORTED`). */
  readonly signal?: AbortSignal
  /** For a target: `GET` by default; `HEAD` for the response headers only, `POST` for an API that prepares the file. */
  readonly method?: 'GET' | 'HEAD' | 'POST'
  /** For a target with `POST`. */
  readonly body?: string
  /** `error` refuses every redirect (`REDIRECT_CROSS_ORIGIN`); default: `follow`. */
  readonly redirect?: 'follow' | 'error'
  /** Called with the id of each credential that a server accepted. */
  readonly onUse?: (credential: string) => void
  /** For a target; a request that is passed in has its own headers. */
  readonly headers?: RequestInit['headers']
}

/** Options for authorizing a request to a service. */
export interface AuthorizedCall {
  readonly signal?: AbortSignal
  /** The refused response to the request that {@link Service.peek} returned: that request is not sent again unless the authorization differs. */
  readonly refused?: { readonly request: HttpRequest; readonly response: HttpResponse }
}

/** The credential for the URLs below one base URL, for API clients. Redirects are not followed; every response is returned unchanged. */
export interface Service {
  /** Id of the credential. */
  readonly credential: string
  /** True when the user wrote the origin in a credential: it may then be a loopback or private address. */
  readonly allowPrivateNetwork: boolean
  /** Returns the authorized request when everything it needs is already known; undefined when something must be fetched or loaded. */
  peek(request: HttpRequest): HttpRequest | undefined
  /** Authorizes the request and sends it, and each handshake step before it, with that function. */
  send(request: HttpRequest, send: Send, call?: AuthorizedCall): Promise<HttpResponse>
}

/** The engine of `createAuth`: authorizes requests for targets with the credentials of the user. */
export interface Auth {
  /**
   * Returns the authorized request, unsent; handshake steps have been sent. `undefined`, as returned by `assetOf` for a
   * missing asset, gives `TARGET_NOT_FOUND`, here and below.
   *
   * Errors: `SelectionError` (nothing was sent), `CredentialError`, `TrustError`, `ProtocolError`, `NetworkError`.
   */
  authorize(target: Target | undefined, options?: AuthorizeOptions): Promise<AuthorizedRequest>
  /**
   * Sends the request and follows redirects; the credential is selected anew for each redirect hop. Returns a standard `Response`; a
   * 401 or 403 for a request with a credential is `AUTH_REJECTED`.
   *
   * For a URL instead of a target, the credential with the narrowest matching `sendTo` pattern is used. Pass the target itself
   * where there is one: catalog text should select a credential by its references only.
   */
  fetch(target: Target | string | URL | Request | undefined, init?: FetchOptions): Promise<Response>
  /**
   * Like `fetch`, with plain objects: creating a standard `Response` takes longer than exchanging a small document.
   * `crawl({ send: auth.send })` requests URLs with it, `download` targets.
   */
  send(request: HttpRequest | Target | undefined, options?: TargetSendOptions): Promise<HttpResponse>
  /** Returns a `fetch` for URLs below a target (Zarr chunks, ranges of a COG), with the same references and rules. */
  fetchFor(target: Target | undefined, options?: Anonymous): typeof globalThis.fetch
  /**
   * Returns the credential with the narrowest `sendTo` pattern that matches that base URL, for the requests of an API client.
   *
   * Errors: `NO_CREDENTIAL`, `URL_*`.
   */
  service(base: string): Promise<Service>
  /** Loads what the credentials need, so that `peek` can answer and invalid credentials are reported now. Errors: `CONFIG_INVALID`. */
  ready(): Promise<void>
  /**
   * Returns the authorized request when everything it needs is already known; undefined when something must be fetched or loaded. For a
   * URL instead of a target, as for `fetch`, the credential with the narrowest matching `sendTo` pattern is used, after `ready()`.
   */
  peek(target: Target | string | undefined): AuthorizedRequest | undefined
  /** Explains which reference and credential would be used, and why others are rejected. Uses no network and reads no secret except tokens in `session`. */
  explain(target: Target | undefined): Promise<Explanation>
  /**
   * Obtains a token for the credential with that id and stores it in `session`, interacting with the user where the credential requires it.
   *
   * Errors: `CONFIG_INVALID` when no credential with a login has that id, `LOGIN_REQUIRED` when the interaction lacks a required method,
   * `LOGIN_DENIED`, `LOGIN_TIMEOUT`, `OAUTH_*`, `OIDC_ID_TOKEN`, errors of the transport.
   */
  login(credential: string, interaction?: Interaction, options?: { readonly signal?: AbortSignal }): Promise<void>
  /**
   * Removes the token of the credential, from `session` as well, and revokes it where the provider supports that (RFC 7009). With `end`
   * the user is also logged out at the provider, where it supports that.
   */
  logout(credential: string, options?: { readonly signal?: AbortSignal } & LogoutChoice): Promise<void>
  /** Returns the state of the tokens of all credentials that have one; uses no network and never returns a token. */
  status(): Promise<readonly CredentialStatus[]>
}

/** The state of the tokens of a credential. */
export interface CredentialStatus {
  /** Id of the credential. */
  readonly credential: string
  /** Its type: `oauth2`, `openIdConnect`, `s3`, …. */
  readonly type: string
  /** Its flow, for types that have several. */
  readonly flow?: string
  /** `none`: there is no token; `expired`: it is not sent any more. */
  readonly state: 'none' | 'valid' | 'expired'
  /** ISO 8601 in UTC; absent when unknown. */
  readonly expiresAt?: string
  /** The scopes that were granted (RFC 6749 §3.3). */
  readonly scopes?: readonly string[]
  /** Who is logged in: `name`, `preferred_username` or `email` of the verified ID token, as the provider has it, on one line. */
  readonly user?: string
  /** True when a new token can be obtained without user interaction. */
  readonly refreshable: boolean
  /** False when tokens of the credential are kept in memory only, whatever `session` is. */
  readonly persistent: boolean
}

/** The interaction with the user during a login; methods that are absent are unsupported. */
export interface Interaction {
  /** Prepares to receive the authorization response (RFC 6749 §4.1.2), at the wished redirect URI where there is a choice. */
  redirect?(signal?: AbortSignal, wish?: RedirectWish): Promise<Redirection>
  /** Shows the verification URL and the user code (RFC 8628 §3.3). */
  device?(prompt: DevicePrompt): void | Promise<void>
  /** Shows the URL that logs the user out at the provider (OpenID Connect RP-Initiated Logout 1.0 §2); it may hold an ID token. */
  end?(url: string): void | Promise<void>
}

/** Options of a logout. */
export interface LogoutChoice extends Pick<Interaction, 'end'> {
  /** False leaves the tokens valid at the provider, for copies of tokens that are revoked elsewhere; default: true. */
  readonly revoke?: boolean
}

/** The redirect URI registered for the client in the credential, for loopback listeners. */
export interface RedirectWish {
  /** Default: `127.0.0.1`. With `localhost` a listener has both loopback addresses, because browsers may use either. */
  readonly host?: '127.0.0.1' | '::1' | 'localhost' | undefined
  /** Default: a free one. */
  readonly port?: number | undefined
  /** Begins with a slash. */
  readonly path?: string | undefined
}

/** A URL to which the browser is redirected after the login. */
export interface Redirection {
  /** The redirect URI, for the authorization request and for the token request. */
  readonly uri: string
  /** True for a page in the browser itself, which can read the URL fragment. */
  readonly seesFragments?: boolean
  /** The response to a login that started before the page was unloaded; the user is not asked again. */
  readonly resumed?: { readonly record: string; readonly callback: URL }
  /**
   * Shows the authorization URL to the user and waits for the redirect; callbacks that `isOurs` does not
   * accept are refused without ending the wait. Errors: `LOGIN_TIMEOUT`, `LOGIN_DENIED`, `ABORTED`.
   */
  answer(url: string, isOurs: (callback: URL) => boolean, login: OngoingLogin): Promise<URL>
  /** Stops listening for the redirect. */
  close(): Promise<void>
}

/** A login that is waiting for its response. */
export interface OngoingLogin {
  /** The `state` that the response must have. */
  readonly state: string
  /** Everything needed to resume the login (`resumed`): secret, and valid once. */
  readonly record: string
}

/** The URL and code for a login on another device; the texts are safe to show. */
export interface DevicePrompt {
  /** Id of the credential. */
  readonly credential: string
  /** An https URL (http for loopback). */
  readonly verificationUri: string
  /** The code that the user enters there. */
  readonly userCode: string
  /** The URL that contains the code. */
  readonly verificationUriComplete?: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}
