/** The interaction with the user during a login; methods that are absent are unsupported. */
export interface Interaction {
  /** Prepares to receive the authorization response (RFC 6749 §4.1.2), at the wished redirect URI where there is a choice. */
  redirect?(signal?: AbortSignal, wish?: RedirectWish): Promise<Redirection>
  /** Shows the verification URL and the user code (RFC 8628 §3.3). */
  device?(prompt: DevicePrompt): void | Promise<void>
  /** Shows the URL that logs the user out at the provider (OpenID Connect RP-Initiated Logout 1.0 §2); it may hold an ID token. */
  end?(url: string): void | Promise<void>
}

/** The redirect URI registered for the client in the credential, for loopback listeners. */
export interface RedirectWish {
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
  close(): Promise<void>
}

/** A login that is waiting for its response. */
export interface OngoingLogin {
  /** The `state` that the response must have. */
  readonly state: string
  /** Everything needed to resume the login (`resumed`): secret, and valid once. */
  readonly record: string
}

/** What a user needs for a login on another device; the texts are safe to show. */
export interface DevicePrompt {
  /** Id of the credential. */
  readonly credential: string
  /** An https URL (http for loopback). */
  readonly verificationUri: string
  readonly userCode: string
  /** The URL that contains the code. */
  readonly verificationUriComplete?: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}
