/**
 * An engine whose credentials the user adds, changes and removes while it runs, in all tabs of a page at once.
 * Users of the engine, such as a map hook or a client of a service, always use the current credentials.
 */
import type { Anonymous, Auth, AuthorizedCall, Service } from '../auth/auth.ts'
import type { AuthOptions } from '../auth/create-auth.ts'
import type { CredentialInput } from '../auth/credential.ts'
import { below } from '../auth/resource.ts'
import type { AuthError } from '../errors.ts'
import type { Target } from '../stac/target.ts'
import { CurrentCredentials } from './live-credentials.ts'
import type { TabMessage } from './tabs.ts'

/** Options of `createLiveAuth`. */
export interface LiveAuthOptions extends AuthOptions {
  /**
   * Name of the channel that connects the tabs and workers of the origin; default: `stac-auth`. Credential ids must mean the same in all
   * tabs with the same name. `false`: this tab is not connected to others.
   */
  readonly tabs?: string | false
  /**
   * Credentials of the page's author without their secrets, with an `id` and `sendTo`: when a server refuses a URL in `sendTo`, the user is
   * asked for the secret (`needs`, `<stac-auth>`). Of several, the one that suits the `auth:refs`, and is the first in `preferred` of
   * `credentials`, which may contain ids of offers.
   */
  readonly offers?: readonly OfferedCredential[]
}

/** A credential without its secrets. */
export interface OfferedCredential {
  /** Its id. */
  readonly id: string
  /** Type of its strategy. */
  readonly type: string
  /** The allowed URLs. */
  readonly sendTo: string | readonly string[]
  readonly [field: string]: unknown
}

/** An engine with credentials that change while it runs. */
export interface LiveAuth extends Auth {
  /** Its credentials, which can be changed. */
  readonly credentials: LiveCredentials
}

/** A credential without its secrets. */
export interface CredentialSummary {
  /** Its id. */
  readonly id: string
  /** Type of its strategy. */
  readonly type: string
  /** The allowed URLs. */
  readonly sendTo: readonly string[]
  /** True where the user added it, in this page or an earlier one; absent for those of the page. */
  readonly added?: true
  /** True where it is there again after a reload. */
  readonly kept?: true
  /** Further fields that are not secret: `scheme`, `flow`, `in`, `name`, `issuer`, `clientId`, endpoints, … */
  readonly [field: string]: unknown
}

/** A change of the credentials, as passed to listeners. */
export interface LiveChange {
  /**
   * `login`, `refreshed` and `logout` are about tokens of the credential; `needed`: a request lacks it, see `needs`; `met`: a request for the
   * same URL succeeded; the others are about the credential itself. `ended`: all were logged out.
   */
  readonly kind: TabMessage['kind'] | 'needed' | 'met'
  /** Id of the credential; empty for `ended`. */
  readonly credential: string
  /** The tab in which it happened. */
  readonly tab: 'this' | 'other'
}

/** A credential that the last request for one of its URLs lacked. */
export interface CredentialNeed {
  /** Id of the credential, or of one in `offers`. */
  readonly credential: string
  /** Why: `LOGIN_REQUIRED`, `AUTH_REJECTED`, `CREDENTIAL_SOURCE`, or `NO_CREDENTIAL` for an offered one. */
  readonly error: AuthError
}

/** Options of `LiveCredentials.add`. */
export interface AddOptions {
  /**
   * True keeps the secret in the store of the page as well. Ask the user first: every script of the origin, and everybody who uses this
   * browser, can use it. For `indexedDbStore` only.
   */
  readonly keep?: boolean
}

/** The credentials of a running engine, which can be added, widened and removed. */
export interface LiveCredentials {
  /** Returns the current credentials without their secrets. */
  list(): readonly CredentialSummary[]
  /**
   * Adds a credential, or replaces the one with that id, and returns its id. Call it only for input of the user, never for the content of a
   * document. With `indexedDbStore` or `sessionStorageStore` it is there again after a reload, unless it has a secret that is not kept.
   *
   * Errors: `CONFIG_INVALID` with the pointer of the field; then nothing has changed.
   */
  add(credential: CredentialInput, options?: AddOptions): Promise<string>
  /**
   * Replaces fields of a credential, such as a secret that was refused. Other tabs get a secret that is kept; without `keep` they lose the
   * credential.
   *
   * Errors: `CONFIG_INVALID` with the pointer of the field; then nothing has changed.
   */
  change(id: string, fields: Readonly<Record<string, unknown>>, options?: AddOptions): Promise<void>
  /** True where `add` can keep secrets. */
  readonly keepsSecrets: boolean
  /**
   * Adds a URL pattern to `sendTo` of a credential. Call it only after the user agreed to send the credential there.
   *
   * Errors: `CONFIG_INVALID`; then nothing has changed.
   */
  allow(id: string, pattern: string): Promise<void>
  /**
   * Removes a credential in all tabs, with its tokens, which are revoked where the provider supports that. Running requests no longer send
   * it.
   *
   * Errors: those of the revocation, after the credential was removed.
   */
  remove(id: string): Promise<void>
  /**
   * Ends every session in the store, those of other pages of the origin included, in all tabs and workers, and revokes the tokens where
   * providers support that. Credentials with a secret that the user added are removed. Requests that wait for a token end with
   * `LOGIN_REQUIRED`. A logout that is interrupted is finished when a page of the origin starts.
   *
   * Errors: the first one, after all sessions were ended as far as possible.
   */
  logoutAll(options?: { readonly signal?: AbortSignal }): Promise<void>
  /** Returns what requests lacked, until it is there. */
  needs(): readonly CredentialNeed[]
  /** Returns the credential of `offers` with that id. */
  offer(id: string): OfferedCredential | undefined
  /** Sends requests without a credential where none can be used, as the option `anonymous` does. */
  allowAnonymous(): void
  /**
   * Allows the origin of a URL that the user typed to be a loopback or private address.
   *
   * Errors: `CONFIG_INVALID`.
   */
  typed(url: string): void
  /** Calls the listener for each change in this tab or another one; returns a function that removes the listener. */
  subscribe(listener: (change: LiveChange) => void): () => void
  /** Ends the connection to other tabs. */
  close(): void
}

/**
 * Creates an engine like `createAuth` whose credentials can change while it runs. Tokens are kept when another credential changes. All tabs
 * of the origin with the same channel are notified of each change, login, refresh and logout: after a logout or removal in one tab, no
 * other tab sends that token or credential again.
 *
 * With `indexedDbStore` or `sessionStorageStore`, credentials that the user adds are there again after a reload, with their logins, in all tabs
 * that share the store. Secrets stay in memory unless `add` was told to keep them; they are never sent through the channel. A stored token
 * without a credential is removed.
 *
 * Errors: those of `createAuth`.
 *
 * @example
 * const auth = createLiveAuth({ credentials: [], session: indexedDbStore() })
 * await auth.credentials.add(openIdConnect({ issuer, clientId }, 'https://data.example/'))
 * auth.credentials.subscribe(({ kind, credential }) => console.log(credential, kind))
 */
export function createLiveAuth(options: LiveAuthOptions): LiveAuth {
  const credentials = new CurrentCredentials(options)
  return { credentials, ...withCurrent(credentials) }
}

/** What a request is for. */
type Input = Target | string | URL | Request | { readonly url: string } | undefined

/** Returns an engine that forwards each call to the current engine, once the kept credentials are there, and notes what requests lack. */
function withCurrent(credentials: CurrentCredentials): Auth {
  async function noted<Result extends object>(input: Input, work: (auth: Auth) => Promise<Result>): Promise<Result> {
    await credentials.restored
    try {
      const result = await work(credentials.auth)
      if ('status' in result && (result.status === 401 || result.status === 403)) await credentials.lacking.noteRefusal(givenIn(input))
      return result
    } catch (error) {
      await credentials.lacking.noteFailure(error, givenIn(input))
      throw error
    }
  }
  const current = async () => {
    await credentials.restored
    return credentials.auth
  }
  return {
    // A question that refuses anonymous requests is no request.
    authorize: async (target, how) =>
      how?.anonymous === 'refuse' ? (await current()).authorize(target, how) : noted(target, (auth) => auth.authorize(target, how)),
    fetch: (target, init) => noted(target, (auth) => auth.fetch(target, init)),
    send: (request, how) => noted(request, (auth) => auth.send(request, how)),
    fetchFor: (target, given?: Anonymous) => (input, init) =>
      noted(target ? below(target, addressIn(input)) : input, (auth) => auth.fetchFor(target, given)(input, init)),
    service: async (base) => liveService(credentials, base, await (await current()).service(base)),
    ready: async () => (await current()).ready(),
    peek: (target) => (credentials.isRestored ? credentials.auth.peek(target) : undefined),
    explain: async (target) => (await current()).explain(target),
    login: (credential, interaction, how) => credentials.login(credential, interaction, how),
    logout: async (credential, how) => (await current()).logout(credential, how).finally(() => credentials.forget(credential)),
    status: async () => (await current()).status(),
  }
}

/** Returns the target, or the URL of another input. */
function givenIn(input: Input): Target | string | undefined {
  return input === undefined || (typeof input === 'object' && 'refs' in input) ? input : addressIn(input)
}

function addressIn(input: string | URL | { readonly url: string }): string {
  return typeof input === 'object' && 'url' in input ? input.url : String(input)
}

/** Returns the service of a base URL, always with the current credential. */
function liveService(credentials: CurrentCredentials, base: string, first: Service): Service {
  let known = { auth: credentials.auth, service: first }
  const now = async () => {
    const { auth } = credentials
    if (auth !== known.auth) known = { auth, service: await auth.service(base) }
    return known.service
  }
  return {
    get credential() {
      return known.service.credential
    },
    get allowPrivateNetwork() {
      return known.service.allowPrivateNetwork
    },
    peek: (request) => (known.auth === credentials.auth ? known.service.peek(request) : undefined),
    send: async (request, send, call?: AuthorizedCall) => (await now()).send(request, send, call),
  }
}
