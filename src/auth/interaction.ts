/** How a login reaches the person at the screen; what is absent cannot be done here. */
export interface Interaction {
  /** Makes ready to receive the answer of an authorization server (RFC 6749 §4.1.2), where there is a choice at the place that is wished. */
  redirect?(signal?: AbortSignal, wish?: RedirectWish): Promise<Redirection>
  /** Shows where to go and what to type there (RFC 8628 §3.3). */
  device?(prompt: DevicePrompt): void | Promise<void>
  /** Shows the address at which the provider ends its own login (OpenID Connect RP-Initiated Logout 1.0 §2); it may hold an ID token. */
  end?(url: string): void | Promise<void>
}

/** What a credential says about the redirect URI that its client is registered with, for listeners on loopback. */
export interface RedirectWish {
  /** Default: a free one. */
  readonly port?: number | undefined
  /** Begins with a slash. */
  readonly path?: string | undefined
}

/** A place where a browser is sent after the login. */
export interface Redirection {
  /** The redirect URI, for the authorization request and for the token request. */
  readonly uri: string
  /** True for a page of the browser itself, which sees what comes behind the `#`. */
  readonly seesFragments?: boolean
  /** The answer to a login that was begun before the page went away; nobody is asked then. */
  readonly resumed?: { readonly record: string; readonly callback: URL }
  /**
   * Shows the address of the authorization request to the person and waits for the browser to come back; what `isOurs` does not
   * know is refused, and the wait goes on. Errors: `LOGIN_TIMEOUT`, `LOGIN_DENIED`, `ABORTED`.
   */
  answer(url: string, isOurs: (callback: URL) => boolean, login: OngoingLogin): Promise<URL>
  close(): Promise<void>
}

/** A login whose answer is waited for. */
export interface OngoingLogin {
  /** The `state` that its answer has. */
  readonly state: string
  /** All that it takes to go on with the answer later (`resumed`): secret, and good once. */
  readonly record: string
}

/** What a person needs for a login on another device; the texts are safe to show. */
export interface DevicePrompt {
  /** Id of the entry. */
  readonly credential: string
  /** An https address (http for loopback). */
  readonly verificationUri: string
  readonly userCode: string
  /** The address with the code in it. */
  readonly verificationUriComplete?: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}
