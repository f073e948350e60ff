/** What a scheme type must be able to do, and what it is given to do it. */
import type { AuthError } from '../errors.ts'
import type { Connection, HttpRequest, Send } from '../http/message.ts'
import type { AuthScheme } from '../stac/scheme.ts'
import type { Target } from '../stac/target.ts'
import type { Credential, CredentialForm, EntryForm } from './credential.ts'
import type { AuthFlow, Leg } from './flow.ts'
import type { Session } from './session.ts'

/** One member of a canonical tuple. */
export interface IdentityMember {
  /** Field name: `tokenUrl`, `in`, `scheme`, … */
  readonly name: string
  readonly value: string
  /** Pointer of the field, relative to the scheme. */
  readonly pointer: string
  /** `absolute` or `relative` allowed; URLs are compared as WHATWG href without fragment, before all other members. */
  readonly url?: 'absolute' | 'relative'
}

/** A canonical tuple: what a scheme is, apart from its name. */
export type Identity = readonly IdentityMember[]

/** The tuples of a scheme, one per flow; an entry must equal one of them. */
export type SchemeIdentity = readonly Identity[]

/** Something worth telling that stops nothing. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly pointer?: string
}

/** Milliseconds since the epoch. */
export interface Clock {
  now(): number
}

/** A token and what is known about it. `expiresAt` in epoch milliseconds. */
export interface Token {
  readonly value: string
  readonly tokenType: 'Bearer' | 'DPoP' | 'N_A'
  readonly expiresAt?: number
  readonly scopes?: readonly string[]
}

/** The thing to be reached: its address after resolution, and the target it came from. */
export interface Resource {
  readonly url: string
  readonly target?: Target
  /** Seconds: the caller wants the authorization in the address, for that long, where the scheme can do it. */
  readonly presign?: number
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
  /** The same, authorized by the entry that this entry names in `with`. */
  readonly sendWith?: Send
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
  readonly forms: readonly EntryForm[]
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
  /** Last changes to an entry on reading: defaults, rules across fields. Errors: `CONFIG_INVALID`. */
  refine?(entry: C): C
  /** What a user must supply; `resource` is what for, where that is known. */
  describe(scheme: S, resource?: Resource): CredentialForm
  /** What rules an address out for this type, as the document writes it; told before the general checks of addresses. */
  addressProblem?(href: string): AuthError | undefined
  /** True when the entry may be used for that target at that address; default: its `sendTo` covers it. */
  covers?(credential: C, url: string, target?: Target): boolean
  /** True when a leg with material may go to that address; default: as `covers`. */
  reaches?(credential: C, url: string): boolean
  /** Addresses of the entry that may receive its secret (token endpoint, signing API). */
  endpoints?(credential: C): readonly string[]
  /** Last checks before the choice (signing parameters, runtime); gives warnings, throws what refuses the reference. */
  prepare?(preparation: Preparation<S, C>): readonly Warning[]
  /** The authorized request from what is already known, without waiting; undefined when something must be fetched. */
  peek?(request: HttpRequest, context: PeekContext<S, C>): Leg | undefined
  /** The legs of one request. */
  authorize(request: HttpRequest, context: AuthContext<S, C>): AuthFlow
  /** The token itself, as input of a chained scheme. */
  token?(context: AuthContext<S, C>): Promise<Token>
}

/** A strategy that is loaded when an entry or a scheme first has its type. */
export interface LazyStrategy {
  readonly type: string
  load(): Promise<Strategy>
}
