/**
 * Selects the user's credential for a target, if there is one. References are alternatives: each is checked separately, every
 * rejection keeps its reason, and the error is that of the reference that passed most checks.
 */
import { type AuthError, isAuthError, SelectionError } from '../errors.ts'
import { urlSignature } from '../http/url-signature.ts'
import { isObject } from '../stac/document.ts'
import { isProtected, type MalformedRef, type Target } from '../stac/target.ts'
import type { Explanation } from './auth.ts'
import type { Registry } from './create-engine.ts'
import { type Credential, invalid } from './credential.ts'
import { linkRequestProblem, resourceOf } from './resource.ts'
import { bestOf, type CredentialMatch, RejectedReference, SchemeMatcher } from './scheme-matching.ts'
import type { Strategy, Warning } from './strategy.ts'
import { namedOrigin, type UrlPattern } from './url-pattern.ts'

/** A usable reference; without `match`, no credential is sent. */
export interface Selection {
  /** Undefined for a credential that was selected by URL alone. */
  readonly ref?: string | undefined
  /** Type of the scheme in the document; without a reference, of the credential. */
  readonly type: string
  readonly match?: CredentialMatch
  readonly warnings: readonly Warning[]
}

/** The scheme that a credential is prepared for. */
interface MatchedScheme extends Pick<Selection, 'type' | 'ref'> {
  /** Pointer of the scheme; of the target when the document has no scheme. */
  readonly pointer: string
}

/** The result when no reference can be used. */
export class Unusable {
  readonly #rejected: readonly RejectedReference[]

  constructor(rejected: readonly RejectedReference[]) {
    this.#rejected = rejected
  }

  /** Returns a `SelectionError` with the code of the reference that passed most checks, and the others in `reasons`. */
  async error(): Promise<AuthError> {
    return (await import('./selection-errors.ts')).furthest(this.#rejected)
  }
}

/** Checks the references of targets against the user's credentials; uses no network and reads no secret. */
export class Selector {
  readonly #matcher: SchemeMatcher

  constructor(matcher: SchemeMatcher) {
    this.#matcher = matcher
  }

  /** Returns the usable references of a target for that URL, best first, or why there is none. */
  select(target: Target, url: URL): readonly Selection[] | Unusable {
    const usable: Selection[] = []
    const rejected: RejectedReference[] = []
    for (const ref of target.refs) {
      const outcome = this.consider(target, ref, url)
      if (outcome instanceof RejectedReference) rejected.push(outcome)
      else usable.push(outcome)
    }
    if (usable.length === 0) return new Unusable([...rejected, ...(target.malformedRefs ?? []).map((ref) => this.malformed(target, ref))])
    return usable.sort(byPreference)
  }

  /** Returns the type of the scheme that a reference names, if it has one. */
  typeOf(target: Target, ref: string): string | undefined {
    return this.#matcher.typeOf(target, ref)
  }

  /** Returns the selection for one reference, or why it is rejected. */
  consider(target: Target, ref: string, url: URL): Selection | RejectedReference {
    const found = this.#matcher.scheme(target, ref)
    if (found instanceof RejectedReference) return found
    const { type, isPublic } = found
    if (isPublic) return { ref, type, warnings: [] }
    const match = bestOf(found.matches, url, target)
    if (!match) return this.#matcher.rejection(target, ref, found, url)
    return prepared(target, match, url, { type, ref, pointer: found.pointer })
  }

  /** Returns why a malformed reference is rejected. */
  malformed(target: Target, ref: MalformedRef): RejectedReference {
    return new RejectedReference('reference', async () => (await import('./selection-errors.ts')).malformed(target, ref))
  }
}

/** Returns the selection after its strategy has checked the target, which may refuse it. */
function prepared(target: Target, match: CredentialMatch, url: URL, { type, ref, pointer }: MatchedScheme): Selection | RejectedReference {
  const { strategy, scheme, credential } = match
  try {
    const warnings = strategy.prepare?.({ scheme, pointer, credential, resource: { url: url.href, target } }) ?? []
    return { ref, type, match, warnings }
  } catch (error) {
    if (!isAuthError(error)) throw error
    // Without a scheme, a pointer would name nothing in the document.
    const place = ref === undefined ? { pointer: `${target.pointer}/href` } : { ref }
    const isPlaced = ref === undefined || error instanceof SelectionError
    return new RejectedReference('parameters', isPlaced ? new SelectionError(error.code, error.message, { ...error, ...place }) : error)
  }
}

function byPreference(one: Selection, other: Selection): number {
  const first = one.match?.credential.preference ?? Number.POSITIVE_INFINITY
  const second = other.match?.credential.preference ?? Number.POSITIVE_INFINITY
  // Between two without a preference NaN, which leaves their order as it is.
  return first - second
}

export class CredentialSelector {
  readonly #registry: Registry
  readonly #selector: Selector
  readonly #matcher: SchemeMatcher
  /** Origins that the user wrote in credentials. */
  readonly named: ReadonlySet<string>
  /** A match for each credential, for URLs without references. */
  readonly own: readonly CredentialMatch[]
  readonly #byAddress: ByAddress

  /** The strategies of all credentials must be loaded. With `byAddress` every credential may be used for targets without references. */
  constructor(credentials: readonly Credential[], registry: Registry, typed: readonly string[] = [], byAddress = false) {
    this.#registry = registry
    this.own = credentials.flatMap((credential) => {
      const strategy = registry.get(credential.type)
      return strategy ? [{ credential, strategy, scheme: strategy.schemeOf(credential) }] : []
    })
    this.named = namedOrigins(this.own, typed)
    this.#matcher = new SchemeMatcher(registry, this.own, this.named)
    this.#selector = new Selector(this.#matcher)
    this.#byAddress = new ByAddress(this.own, this.named, byAddress)
  }

  /** Loads what the schemes of a target need. */
  async prepare(target: Target): Promise<void> {
    if (this.#registry.isPartial) await this.#registry.load(target.refs.flatMap((ref) => this.#matcher.typesOf(target, ref)))
  }

  /** True when nothing needs to be loaded for the target. */
  isPrepared(target: Target): boolean {
    return (
      !this.#registry.isPartial ||
      !target.refs.some((ref) => this.#matcher.typesOf(target, ref).some((type) => this.#registry.isPending(type)))
    )
  }

  /** Returns the absolute URL of a target. Errors: `URL_*`, `LINK_REQUEST_FORBIDDEN`. */
  addressOf(target: Target): URL {
    return resourceOf(target, this.named, this.#registry.loaded)
  }

  /**
   * Returns the usable references, best first; for a target without references the credential selected by URL, if the user allows that.
   * None for a URL that carries its own signature: it is requested as it is.
   */
  select(target: Target, url: URL, anonymous?: 'allow'): readonly Selection[] | Unusable {
    if (urlSignature(url.href)) return []
    const outcome = isProtected(target) ? this.#selector.select(target, url) : this.#withoutReferences(target, url)
    return outcome instanceof Unusable && anonymous === 'allow' ? [] : outcome
  }

  /** Returns the strategy of that type, if there is one. */
  async strategyOf(type: string): Promise<Strategy | undefined> {
    await this.#registry.load([type])
    return this.#registry.get(type)
  }

  /** @param now epoch milliseconds */
  async explain(
    target: Target,
    now: number,
    loginRequired: (selection: Selection) => Promise<AuthError | undefined>,
  ): Promise<Explanation> {
    const { explain } = await import('./explain.ts')
    const addressOf = (wanted: Target) => this.addressOf(wanted)
    return explain(target, { selector: this.#selector, byAddress: this.#byAddress, addressOf, loginRequired, now })
  }

  #withoutReferences(target: Target, url: URL): readonly Selection[] | Unusable {
    const outcome = this.#byAddress.select(target, url)
    if (outcome instanceof RejectedReference) return new Unusable([outcome])
    return outcome ? [outcome] : []
  }
}

/** Selects credentials by URL for targets without references. */
export class ByAddress {
  readonly #own: readonly CredentialMatch[]
  readonly #allowed: readonly CredentialMatch[]
  readonly #named: ReadonlySet<string>

  /** With `all` every credential may be used, otherwise those with `"use": "by-address"`. */
  constructor(own: readonly CredentialMatch[], named: ReadonlySet<string>, all: boolean) {
    this.#own = own
    this.#allowed = all ? own : own.filter(({ credential }) => credential.use === 'by-address')
    this.#named = named
  }

  /**
   * Returns the credential for that URL of the target, or why it cannot be used; undefined when no credential is to be sent. Among several
   * that match the URL, a preferred one is used, then the one with the narrowest pattern, then the first, whatever their types.
   */
  select(target: Target, url: URL): Selection | RejectedReference | undefined {
    const match = this.#mayHave(target, url) ? bestOf(this.#allowed, url, target) : undefined
    if (!match) return undefined
    const forbidden = linkRequestProblem(target)
    if (forbidden) return new RejectedReference('reference', forbidden)
    return prepared(target, match, url, { type: match.credential.type, pointer: target.pointer })
  }

  /** Returns the id of the credential that would be selected if the user opted in. */
  possible(target: Target, url: URL): string | undefined {
    return this.#mayHave(target, url) ? bestOf(this.#own, url, target)?.credential.id : undefined
  }

  /** True when the target has no `auth:refs`; an empty or malformed list counts as a statement of the document. */
  #mayHave({ refsOf }: Target, url: URL): boolean {
    return !Object.hasOwn(refsOf.object, 'auth:refs') && (url.protocol !== 'http:' || this.#named.has(url.origin))
  }
}

/**
 * Returns the origins that the user wrote, in patterns or as endpoints: only these may be loopback or private
 * addresses. Errors: `CONFIG_INVALID` for `typed`.
 */
function namedOrigins(own: readonly CredentialMatch[], typed: readonly string[]): ReadonlySet<string> {
  const origins = new Set<string>()
  try {
    for (const url of typed) origins.add(new URL(url).origin)
  } catch {
    throw invalid('/typed', 'must be a list of absolute URLs')
  }
  for (const { credential, strategy } of own) {
    for (const value of Object.values(credential)) {
      if (Array.isArray(value)) for (const pattern of value) if (isUrlPattern(pattern)) add(origins, namedOrigin(pattern))
    }
    for (const endpoint of strategy.endpoints?.(credential) ?? []) {
      origins.add(typeof endpoint === 'string' ? new URL(endpoint).origin : endpoint.origin)
    }
  }
  return origins
}

function isUrlPattern(value: unknown): value is UrlPattern {
  return isObject(value) && 'wildcard' in value
}

function add(origins: Set<string>, origin: string | undefined): void {
  if (origin !== undefined) origins.add(origin)
}
