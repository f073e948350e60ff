/** What a scheme type must be able to do, and what it is given to do it. */

import type { PrivateKey } from '../crypto/private-key.ts'
import type { AuthError, ErrorCode } from '../errors.ts'
import type { Connection, HttpRequest, Send } from '../http/message.ts'
import type { Clock } from '../net/clock.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import type { Target } from '../stac/target.ts'
import type { Credential, CredentialFields, CredentialForm } from './credential.ts'
import type { AuthFlow, AuthStep } from './flow.ts'
import type { Interaction } from './interaction.ts'
import type { Session } from './session.ts'
import type { SessionStore } from './token-store.ts'

/** One member of a canonical tuple. */
export interface IdentityMember {
  /** Field name: `tokenUrl`, `in`, `scheme`, … */
  readonly name: string
  readonly value: string
  /** Pointer of the field, relative to the scheme. */
  readonly pointer: string
  /**
   * `absolute` or `relative` allowed; URLs are compared as WHATWG href without fragment, before all other members. In the tuple of an
   * entry, `below` stands for every address that begins so.
   */
  readonly url?: 'absolute' | 'relative' | 'below'
}

/** A canonical tuple: what a scheme is, apart from its name. */
export type Identity = readonly IdentityMember[]

/** The tuples of a scheme, one per flow; an entry must equal one of them. */
export type SchemeIdentity = readonly Identity[]

/** Something worth telling that stops nothing. */
export interface Warning {
  readonly code: ErrorCode
  readonly message: string
  readonly pointer?: string
}

/** A token and what is known about it. `expiresAt` in epoch milliseconds. */
export interface Token {
  readonly value: string
  readonly tokenType: 'Bearer' | 'DPoP' | 'N_A'
  readonly expiresAt?: number
  readonly scopes?: readonly string[]
  /** The ID token that came along (OpenID Connect Core 1.0 §2), checked. */
  readonly idToken?: string
  /** The key that a `DPoP` token is bound to. */
  readonly key?: PrivateKey
}

/** What is known about the token of an entry, without the token. */
export interface TokenState {
  readonly state: 'none' | 'valid' | 'expired'
  /** Epoch milliseconds; absent when nobody knows. */
  readonly expiresAt?: number
  readonly scopes?: readonly string[]
  /** True when a new one can be had without a person. */
  readonly renewable: boolean
  /** False when it ends with the engine. */
  readonly lasts: boolean
}

/** What became of the token of an entry. */
export interface SessionChange {
  /** Id of the entry. */
  readonly credential: string
  /** `started`: there is one; `renewed`: another one in its place; `ended`: there is none any more. */
  readonly change: 'started' | 'renewed' | 'ended'
}

/** The entry that an entry names in `with` or `subject`: what it yields is this one's input. */
export interface Input {
  /** Its token, for that address only. Errors: `CREDENTIAL_TARGET_UNTRUSTED`, `CONFIG_INVALID`, those of its grant. */
  token(url: string): Promise<Token>
  /** Sends a side request authorized by it. */
  readonly send: Send
  /** Its scheme type. */
  readonly type: string
}

/** The thing to be reached: its address after resolution, and the target it came from. */
export interface Resource {
  readonly url: string
  readonly target?: Target
  /** Seconds: the caller wants the authorization in the address, for that long, where the scheme can do it. */
  readonly presign?: number
  /** The caller signs by itself and wants the keys for it, where the scheme has some. */
  readonly keys?: boolean
}

/** What a strategy is given for one request. */
export interface AuthContext<S extends AuthScheme = AuthScheme, C extends Credential = Credential> {
  readonly scheme: S
  readonly credential: C
  readonly resource: Resource
  /** Values shared by all requests of this credential. */
  readonly session: Session
  /** For token endpoints and signing APIs of the entry (`endpoints`), and nothing else; never redirected. */
  readonly send: Send
  readonly input?: Input
  /** For what must last: beyond the process where the caller's store does, and in any case as long as the engine. */
  readonly stores: { readonly lasting: SessionStore; readonly passing: SessionStore }
  /**
   * A connection for legs whose authorization belongs to it; whoever opens it closes it. Errors: `SCHEME_UNSUPPORTED` when
   * the transport cannot, or the request is not going to be sent; `CREDENTIAL_TARGET_UNTRUSTED`.
   */
  readonly connect: (url: string) => Promise<Connection>
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  readonly signal?: AbortSignal
  /** Tells the caller something that stops nothing. */
  readonly warn: (warning: Warning) => void
  /** Tells the caller what became of the entry's token. */
  readonly changed: (change: SessionChange['change']) => void
}

/** What a strategy is given for a look at what is known already. */
export interface PeekContext<S extends AuthScheme = AuthScheme, C extends Credential = Credential>
  extends Pick<AuthContext<S, C>, 'scheme' | 'credential' | 'resource' | 'clock'> {
  readonly session: Pick<Session, 'get'>
}

/** What a strategy needs to look at before it may be chosen; no network. */
export interface Preparation<S extends AuthScheme = AuthScheme, C extends Credential = Credential> {
  readonly scheme: S
  /** Pointer of the scheme. */
  readonly pointer: string
  readonly credential: C
  readonly resource: Resource
}

/**
 * One scheme type. Strategies are stateless; what must last goes into `context.session`.
 *
 * Method syntax is deliberate: lists of strategies of different schemes type-check by it.
 */
export interface Strategy<S extends AuthScheme = AuthScheme, C extends Credential = Credential> {
  readonly type: S['type']
  /** Shapes of the entries of this type. */
  readonly forms: readonly CredentialFields[]
  /** A finished bearer token (entry `http` `bearer`) answers this type too, inside that entry's `sendTo`. */
  readonly acceptsToken?: boolean
  /** True when the entry is a finished token; see `acceptsToken`. */
  isToken?(credential: C): boolean
  /** The first thing wrong with a scheme's shape, then with its names; `at` is the scheme's pointer. */
  problem?(scheme: unknown, at: string): AuthError | undefined
  /** The canonical tuples of a well-formed scheme. */
  identity(scheme: S): SchemeIdentity
  /** The scheme that an entry stands for: its tuple is what schemes of catalogs are compared with. */
  schemeOf(credential: C): S
  /** The tuple of an entry, where it is more than that of its scheme. */
  identityOf?(credential: C): Identity
  /** Last changes to an entry on reading: defaults, rules across fields. Errors: `CONFIG_INVALID`. */
  refine?(entry: C): C
  /** What a user must supply; `resource` is what for, where that is known. */
  describe(scheme: S, resource?: Resource): CredentialForm
  /** What rules an address out for this type, as the document writes it; told before the general checks of addresses. */
  addressProblem?(href: string): AuthError | undefined
  /** True when the entry may be used for that target at that address; default: its `sendTo` covers it. */
  covers?(credential: C, url: string, target?: Target): boolean
  /** True when the document speaks of the very service of the entry: it goes before others that cover the target as well. */
  suits?(credential: C, target: Target): boolean
  /** True when a leg with material may go to that address; default: as `covers`. */
  reaches?(credential: C, url: string): boolean
  /**
   * Addresses of the entry that may receive its secret (token endpoint, signing API); an origin where the endpoints are found out.
   * What the entry named in `with` or `subject` yields goes to the first.
   */
  endpoints?(credential: C): readonly (string | Origin)[]
  /** Last checks before the choice (signing parameters, runtime); gives warnings, throws what refuses the reference. */
  prepare?(preparation: Preparation<S, C>): readonly Warning[]
  /** The authorized request from what is already known, without waiting; undefined when something must be fetched. */
  peek?(request: HttpRequest, context: PeekContext<S, C>): AuthStep | undefined
  /** The legs of one request. */
  authorize(request: HttpRequest, context: AuthContext<S, C>): AuthFlow
  /**
   * The legs of a request without material, to an address that has this type as its scheme (`s3:`); `entry` is one of the user's that
   * covers it and may know the place better than the document.
   */
  open?(request: HttpRequest, resource: Resource, entry?: C): AuthFlow
  /** The token itself, as input of a chained scheme. */
  token?(context: AuthContext<S, C>): Promise<Token>
  /** Why a person is needed first, as far as that is known here; asks no server. */
  loginRequired?(context: AuthContext<S, C>): Promise<AuthError | undefined>
  /** Obtains a token anew, with the person's help where the entry needs one, and keeps it. */
  login?(context: AuthContext<S, C>, interaction: Interaction): Promise<void>
  /** Forgets the token everywhere; with `end`, at the provider's own pages too. */
  logout?(context: AuthContext<S, C>, interaction?: Pick<Interaction, 'end'>): Promise<void>
  /** What is known about the token, or about keys that end; undefined for an entry that has none of these. Asks no server. */
  tokenState?(context: AuthContext<S, C>): Promise<TokenState | undefined>
}

/** Every address of an origin, and the document there that names the endpoints. */
export interface Origin {
  readonly origin: string
  readonly publishedAt: string
}

/** A strategy that is loaded when an entry or a scheme first has its type. */
export interface LazyStrategy {
  readonly type: string
  /** `required`: every credential of this type has `sendTo`, so that its absence is found before anything is loaded. */
  readonly sendTo?: 'required'
  load(): Promise<Strategy>
}
