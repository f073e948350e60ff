/**
 * Selects the user's credential for a target. The references of a target are alternatives: each is checked by itself, and each that cannot
 * be used keeps its reason, from which `refusals.ts` makes errors and explanations. Uses no network and reads no secret.
 */
import { type AuthError, isAuthError, SelectionError, TrustError } from '../errors.ts'
import { addressOf, isAddressProblem, trustHint } from '../http/url.ts'
import { type UrlSignature, urlSignature } from '../http/url-signature.ts'
import { isObject, own, ownString, pointer } from '../stac/document.ts'
import { type AuthScheme, isPublicType, modernScheme } from '../stac/scheme.ts'
import {
  type FoundScheme,
  findScheme,
  isProtected,
  type MalformedRef,
  readRefs,
  type SchemeMap,
  schemeMaps,
  type Target,
} from '../stac/target.ts'
import type { EngineOptions, StrategyTable } from './create-engine.ts'
import { type Credential, inputIdOf, invalid } from './credential.ts'
import { linkRequestProblem, resourceOf } from './resource.ts'
import type { Identity, IdentityMember, SchemeIdentity, Strategy, Warning } from './strategy.ts'
import { covers, matchesAny, namedOrigin, narrowness, type UrlPattern } from './url-pattern.ts'

/** A credential, its strategy and the scheme it is used for. */
export interface CredentialMatch {
  readonly credential: Credential
  readonly strategy: Strategy
  readonly scheme: AuthScheme
}

/** A credential of the user with the scheme it stands for, and its canonical tuple. */
export interface OwnCredential extends CredentialMatch {
  readonly identity: Identity
}

/** A usable reference; without `match`, no credential is sent. */
export interface UsableReference {
  /** Undefined for a credential that was selected by URL alone. */
  readonly ref?: string | undefined
  /** Type of the scheme in the document; without a reference, of the credential. */
  readonly type: string
  readonly match?: CredentialMatch
  readonly warnings: readonly Warning[]
}

/** The checks of a reference in order. */
export const STAGES = ['reference', 'scheme', 'names', 'addresses', 'match', 'sendTo', 'parameters'] as const

/** A reference that cannot be used: the check that failed, and why. */
export interface RejectedReference {
  /** Undefined for one that is not a string, and for a credential that was selected by URL alone. */
  readonly ref?: string | undefined
  /** Type of the scheme, where the document has one. */
  readonly type?: string | undefined
  readonly stage: (typeof STAGES)[number]
  readonly reason: Reason
}

/** Why a reference is rejected, as data: most rejections are followed by a usable reference, and need no text. */
export type Reason =
  | { readonly kind: 'error'; readonly error: AuthError }
  | { readonly kind: 'malformed'; readonly value: MalformedRef }
  | { readonly kind: 'not defined'; readonly maps: readonly SchemeMap[] }
  | { readonly kind: 'unsupported'; readonly type: string; readonly pointer: string }
  | { readonly kind: 'no credential'; readonly scheme: MatchedScheme; readonly known: readonly OwnCredential[] }

/** What is selected for a URL: the usable references, and why the others are not. */
export interface Selection {
  readonly url: URL
  readonly target?: Target | undefined
  /** Set for a URL that carries its own signature: it is requested as it is, without a credential. */
  readonly signature?: UrlSignature
  /** The usable references, best first; the credential selected by URL for what has no references. */
  readonly usable: readonly UsableReference[]
  readonly rejected: readonly RejectedReference[]
  /** For a target without references: the credential that would be used if the user opted in. */
  readonly notOptedIn?: Credential
}

/** A valid scheme, and the credentials that match it. */
export interface MatchedScheme {
  readonly scheme: AuthScheme
  readonly pointer: string
  /** Undefined for a scheme that requires no credential. */
  readonly strategy: Strategy | undefined
  readonly identity: SchemeIdentity
  readonly matches: readonly CredentialMatch[]
  /** A credential with the same identity and a different chain. */
  readonly otherChain?: Credential | undefined
}

/** By scheme and credential id: whether they match. */
type Answered = Map<object, Map<string, boolean>>

export class Selector {
  readonly #strategies: StrategyTable
  /** The credentials that may be used for targets without references. */
  readonly #byUrl: readonly OwnCredential[]
  /** The user's credentials. */
  readonly own: readonly OwnCredential[]
  /** Origins that the user wrote in credentials. */
  readonly named: ReadonlySet<string>

  /** The strategies of all credentials must be loaded. Errors: `CONFIG_INVALID` for `typed`. */
  constructor(credentials: readonly Credential[], strategies: StrategyTable, options: Pick<EngineOptions, 'typed' | 'byAddress'> = {}) {
    this.#strategies = strategies
    this.own = credentials.flatMap((credential) => {
      const strategy = strategies.get(credential.type)
      return strategy ? [ownCredential(credential, strategy)] : []
    })
    this.#byUrl = options.byAddress ? this.own : this.own.filter(({ credential }) => credential.use === 'by-address')
    this.named = namedOrigins(this.own, options.typed ?? [])
  }

  /** Returns the credential with that id. */
  credential(id: string): OwnCredential | undefined {
    return this.own.find(({ credential }) => credential.id === id)
  }

  /** Returns the types of strategies that must be loaded before `select`: of the schemes, and of those in their chains. */
  pendingTypes(target: Target): readonly string[] {
    const types: string[] = []
    const addPending = (scheme: unknown) => {
      const type = isObject(scheme) ? ownString(modernScheme(scheme), 'type') : undefined
      if (type !== undefined && this.#strategies.isPending(type)) types.push(type)
    }
    for (const ref of target.refs) {
      const found = findScheme(mapsFor(target), ref)
      if (!isObject(found?.value)) continue
      addPending(found.value)
      for (const name of chainRefs(found.value)) addPending(own(found.siblings, name))
    }
    return types
  }

  /** Returns the absolute URL of a target. Errors: `URL_*`, `LINK_REQUEST_FORBIDDEN`. */
  addressOf(target: Target): URL {
    return resourceOf(target, this.named, this.#strategies.loaded)
  }

  /** Selects for a target at that URL, which may be that of a redirect hop or of a part of it. */
  select(target: Target, url: URL): Selection {
    const signature = urlSignature(url.href)
    if (signature) return { url, target, signature, usable: [], rejected: [] }
    return isProtected(target) ? this.#byReferences(target, url) : this.#withoutReferences(target, url)
  }

  /** Selects for a URL without a target: the credential with the narrowest pattern that matches. */
  selectUrl(url: URL): Selection {
    const match = urlSignature(url.href) ? undefined : bestOf(this.own, url)
    return { url, usable: match ? [{ type: match.credential.type, match, warnings: [] }] : [], rejected: [] }
  }

  #byReferences(target: Target, url: URL): Selection {
    const usable: UsableReference[] = []
    const rejected: RejectedReference[] = []
    for (const ref of target.refs) {
      const outcome = this.#consider(target, ref, url)
      if ('reason' in outcome) rejected.push(outcome)
      else usable.push(outcome)
    }
    for (const value of target.malformedRefs ?? []) rejected.push({ stage: 'reference', reason: { kind: 'malformed', value } })
    return { url, target, usable: usable.sort(byPreference), rejected }
  }

  /**
   * Selects by URL, if the user allows that: a preferred credential, then the one with the narrowest pattern, then the first, whatever their
   * types. An empty or malformed `auth:refs` counts as a statement of the document.
   */
  #withoutReferences(target: Target, url: URL): Selection {
    const none = { url, target, usable: [], rejected: [] }
    if (Object.hasOwn(target.refsOf.object, 'auth:refs') || (url.protocol === 'http:' && !this.named.has(url.origin))) return none
    const match = bestOf(this.#byUrl, url, target)
    if (!match) {
      const other = bestOf(this.own, url, target)
      return other ? { ...none, notOptedIn: other.credential } : none
    }
    const forbidden = linkRequestProblem(target)
    if (forbidden) return { ...none, rejected: [{ stage: 'reference', reason: { kind: 'error', error: forbidden } }] }
    const outcome = prepared(target, match, url, { type: match.credential.type, pointer: target.pointer })
    return 'reason' in outcome ? { ...none, rejected: [outcome] } : { ...none, usable: [outcome] }
  }

  /** Checks one reference. */
  #consider(target: Target, ref: string, url: URL): UsableReference | RejectedReference {
    const maps = mapsFor(target)
    const found = findScheme(maps, ref)
    if (!found) return { ref, stage: 'reference', reason: { kind: 'not defined', maps } }
    const type = ownString(found.value, 'type')
    const scheme = this.#examine(found, ref, type)
    if ('reason' in scheme) return { ...scheme, type }
    const written = type ?? scheme.scheme.type
    if (!scheme.strategy) return { ref, type: written, warnings: [] }
    const match = bestOf(scheme.matches, url, target)
    if (match) return prepared(target, match, url, { type: written, ref, pointer: scheme.pointer })
    const isMatched = scheme.matches.some(({ strategy }) => strategy === scheme.strategy)
    const known = this.own.filter(({ strategy }) => strategy === scheme.strategy)
    return { ref, type, stage: isMatched ? 'sendTo' : 'match', reason: { kind: 'no credential', scheme, known } }
  }

  /** Checks a scheme, and finds the credentials that match it. */
  #examine(found: FoundScheme, ref: string, type: string | undefined): MatchedScheme | RejectedReference {
    const { pointer: at } = found
    const malformed = (what: string) => rejection('scheme', new SelectionError('SCHEME_INVALID', what, { pointer: at, ref }), ref)
    if (!isObject(found.value)) return malformed(`scheme "${ref}" is not an object`)
    if (!type) return malformed(`scheme "${ref}" has no type`)
    const scheme = modernScheme(found.value) as AuthScheme
    const strategy = this.#strategies.get(type) ?? this.#strategies.get(scheme.type)
    if (!strategy) {
      if (isPublicType(type)) return { scheme, pointer: at, strategy, identity: [], matches: [] }
      return { ref, stage: 'scheme', reason: { kind: 'unsupported', type, pointer: `${at}/type` } }
    }
    const shape = strategy.problem?.(scheme, at) ?? chainProblem(found, ref)
    if (shape)
      return rejection(/NAME/.test(shape.code) ? 'names' : 'scheme', new SelectionError(shape.code, shape.message, { ...shape, ref }), ref)
    const identity = this.#canonical(strategy.identity(scheme), found, ref)
    if ('reason' in identity) return identity
    const all = this.#matches(strategy, scheme, identity)
    const matches = all.filter(({ credential }) => this.#agrees(found, credential))
    return { scheme, pointer: at, strategy, identity, matches, otherChain: all.find((match) => !matches.includes(match))?.credential }
  }

  /** True when the references of a scheme agree with the credential's chain, which alone decides (extension 1.2.0). */
  #agrees(found: FoundScheme, credential: Credential, answered: Answered = new Map()): boolean {
    const refs = chainRefs(found.value)
    const via = inputIdOf(credential)
    if (via === undefined || refs.length === 0) return true
    return refs.some((ref) => this.#answers({ ...found, value: own(found.siblings, ref) }, ref, via, answered))
  }

  /**
   * True when the credential with that id matches that scheme. Each pair is checked once: chains of credentials are finite, those of
   * catalogs may branch without limit.
   */
  #answers(found: FoundScheme, ref: string, id: string, answered: Answered): boolean {
    if (!isObject(found.value)) return false
    const known = answered.get(found.value) ?? new Map<string, boolean>()
    answered.set(found.value, known)
    const before = known.get(id)
    if (before !== undefined) return before
    const match = this.#credentialsFor(found, ref).find(({ credential }) => credential.id === id)
    const result = match !== undefined && this.#agrees(found, match.credential, answered)
    known.set(id, result)
    return result
  }

  #credentialsFor(found: FoundScheme, ref: string): readonly CredentialMatch[] {
    const value = modernScheme(found.value as Record<string, unknown>) as AuthScheme
    const strategy = this.#strategies.get(String(value.type))
    if (!strategy || strategy.problem?.(value, found.pointer)) return []
    const identity = this.#canonical(strategy.identity(value), found, ref)
    return 'reason' in identity ? [] : this.#matches(strategy, value, identity)
  }

  /** Returns the tuples with their URLs as WHATWG href without fragment. */
  #canonical(identity: SchemeIdentity, { pointer: at, url: base }: FoundScheme, ref: string): SchemeIdentity | RejectedReference {
    const canonical: Identity[] = []
    for (const tuple of identity) {
      const members = []
      for (const member of tuple) {
        if (!member.url) {
          members.push(member)
          continue
        }
        const url = addressOf(member.value, { base: member.url === 'relative' ? base : undefined, secure: true, named: this.named })
        if (isAddressProblem(url)) {
          const fields = { pointer: at + member.pointer, ref }
          return rejection('addresses', new SelectionError(url.code, `${member.name} of scheme "${ref}" ${url.message}`, fields), ref)
        }
        url.hash = ''
        members.push({ ...member, value: url.href })
      }
      canonical.push(members)
    }
    return canonical
  }

  #matches(strategy: Strategy, scheme: AuthScheme, identity: SchemeIdentity): readonly CredentialMatch[] {
    return this.own.flatMap((known): CredentialMatch[] => {
      if (known.strategy !== strategy) return answersAnother(known, strategy, scheme) ? [known] : []
      const isSame = identity.some((tuple) => sameIdentity(tuple, known.identity))
      return isSame ? [{ credential: known.credential, strategy, scheme }] : []
    })
  }
}

function ownCredential(credential: Credential, strategy: Strategy): OwnCredential {
  const scheme = strategy.schemeOf(credential)
  return { credential, strategy, scheme, identity: strategy.identityOf?.(credential) ?? strategy.identity(scheme)[0] ?? [] }
}

function rejection(stage: RejectedReference['stage'], error: AuthError, ref?: string): RejectedReference {
  return { ref, stage, reason: { kind: 'error', error } }
}

/** True for a finished token where the strategy accepts one, and for a credential that obtains what the scheme sends. */
function answersAnother({ credential, strategy: answering }: OwnCredential, strategy: Strategy, scheme: AuthScheme): boolean {
  return (strategy.acceptsToken && answering.isToken?.(credential)) || answering.answers?.(credential, scheme) === true
}

function mapsFor({ object, pointer: at, kind, scope }: Target): readonly SchemeMap[] {
  return schemeMaps(scope, { object, pointer: at, describesItems: kind === 'item_asset' })
}

/** True when the user allows that credential for that URL, or for that target at it. */
export function coversTarget({ strategy, credential }: CredentialMatch, url: URL, target?: Target): boolean {
  return strategy.covers ? strategy.covers(credential, url.href, target) : matchesAny(credential.sendTo, url)
}

/** True when a request with the credential may go to that URL. */
function mayReach(match: CredentialMatch, url: URL): boolean {
  const { strategy, credential } = match
  return strategy.reaches ? strategy.reaches(credential, url.href) : coversTarget(match, url)
}

/** Errors: `CREDENTIAL_TARGET_UNTRUSTED` for a URL that the credential may not be sent to. */
export function checkReach(match: CredentialMatch, address: string): void {
  const url = new URL(address)
  if (mayReach(match, url)) return
  const { id } = match.credential
  throw new TrustError('CREDENTIAL_TARGET_UNTRUSTED', `"${id}" may not be sent to ${url.origin}. Nothing was sent`, {
    credential: id,
    url: address,
    hint: trustHint(`${url.origin}/`, id),
  })
}

/**
 * Returns the best of the matches that allow the URL: a preferred credential, then one that suits the target, then the one with the
 * narrowest pattern, then the first.
 */
function bestOf(matches: readonly CredentialMatch[], url: URL, target?: Target): CredentialMatch | undefined {
  let best: CredentialMatch | undefined
  for (const match of matches) {
    if (coversTarget(match, url, target) && (!best || comesBefore(match, best, url, target))) best = match
  }
  return best
}

function comesBefore(one: CredentialMatch, other: CredentialMatch, url: URL, target: Target | undefined): boolean {
  const { preference } = one.credential
  if (preference !== other.credential.preference) return preference < other.credential.preference
  const isSuited = suits(one, target)
  return isSuited === suits(other, target) ? widthOf(one.credential, url) > widthOf(other.credential, url) : isSuited
}

function suits({ strategy, credential }: CredentialMatch, target: Target | undefined): boolean {
  return target !== undefined && strategy.suits?.(credential, target) === true
}

/** Returns the narrowness of the narrowest pattern that matches the URL. */
function widthOf({ sendTo }: Credential, url: URL): number {
  let best = 0
  for (const pattern of sendTo) if (covers(pattern, url)) best = Math.max(best, narrowness(pattern))
  return best
}

/** The scheme that a credential is prepared for. */
interface PreparedFor extends Pick<UsableReference, 'type' | 'ref'> {
  /** Pointer of the scheme; of the target when the document has no scheme. */
  readonly pointer: string
}

/** Returns the selection after its strategy has checked the target, which may refuse it. */
function prepared(
  target: Target,
  match: CredentialMatch,
  url: URL,
  { type, ref, pointer: at }: PreparedFor,
): UsableReference | RejectedReference {
  const { strategy, scheme, credential } = match
  try {
    const warnings = strategy.prepare?.({ scheme, pointer: at, credential, resource: { url: url.href, target } }) ?? []
    return { ref, type, match, warnings }
  } catch (error) {
    if (!isAuthError(error)) throw error
    // Without a scheme, a pointer would name nothing in the document.
    const place = ref === undefined ? { pointer: `${target.pointer}/href` } : { ref }
    const isPlaced = ref === undefined || error instanceof SelectionError
    return {
      ...rejection('parameters', isPlaced ? new SelectionError(error.code, error.message, { ...error, ...place }) : error, ref),
      type,
    }
  }
}

function byPreference(one: UsableReference, other: UsableReference): number {
  const first = one.match?.credential.preference ?? Number.POSITIVE_INFINITY
  const second = other.match?.credential.preference ?? Number.POSITIVE_INFINITY
  // Between two without a preference NaN, which leaves their order as it is.
  return first - second
}

const MAX_DEPTH = 8

interface Problem {
  readonly code: 'SCHEME_CYCLE' | 'SCHEME_NOT_FOUND' | 'SCHEME_INVALID'
  readonly message: string
  readonly pointer: string
}

/** Returns the names in a scheme's own `auth:refs`, at most a hundred. */
function chainRefs(scheme: unknown): readonly string[] {
  return readRefs(scheme, '').refs
}

/**
 * Returns the problem of the chain below a scheme, or undefined when at least one alternative is valid. Alternatives that
 * lead into a cycle or to a missing name are ignored.
 *
 * Codes: `SCHEME_CYCLE`, `SCHEME_NOT_FOUND`, `SCHEME_INVALID` (longer than 8, or not a list of names).
 */
function chainProblem({ value, pointer: at, siblings }: FoundScheme, name: string): SelectionError | undefined {
  const base = at.slice(0, at.lastIndexOf('/'))
  /** Schemes without a valid chain: each is visited once, however many paths lead to it. */
  const dead = new Map<string, Problem>()
  const problem = walk(value, name, [])
  return problem && new SelectionError(problem.code, problem.message, { pointer: problem.pointer })

  function walk(scheme: unknown, current: string, path: readonly string[]): Problem | undefined {
    const { refs, malformedRefs = [] } = readRefs(scheme, pointer(base, current))
    const trail = [...path, current]
    let first: Problem | undefined
    for (const ref of refs) {
      const fault = follow(ref, placeOf(scheme, ref, pointer(base, current, 'auth:refs')), trail)
      if (!fault) return undefined
      first ??= fault
    }
    const [malformed] = malformedRefs
    if (malformed)
      first ??= { code: 'SCHEME_INVALID', message: 'the chain contains a reference that is not a string', pointer: malformed.pointer }
    return first
  }

  function follow(ref: string, place: string, trail: readonly string[]): Problem | undefined {
    if (!Object.hasOwn(siblings, ref) || !isObject(siblings[ref])) {
      return { code: 'SCHEME_NOT_FOUND', message: `the chain names "${ref}", which is not in auth:schemes`, pointer: place }
    }
    if (trail.includes(ref)) {
      return { code: 'SCHEME_CYCLE', message: `schemes refer to each other: ${[...trail, ref].join(' → ')}`, pointer: place }
    }
    if (trail.length >= MAX_DEPTH) {
      return { code: 'SCHEME_INVALID', message: `the chain of schemes is longer than ${MAX_DEPTH}`, pointer: place }
    }
    const fault = dead.get(ref) ?? walk(siblings[ref], ref, trail)
    if (fault) dead.set(ref, fault)
    return fault
  }
}

function placeOf(scheme: unknown, ref: string, at: string): string {
  const refs = own(scheme, 'auth:refs')
  return Array.isArray(refs) ? pointer(at, refs.indexOf(ref)) : at
}

/** True when the credential has every member of the scheme's tuple with the same value. */
export function sameIdentity(scheme: Identity, entry: Identity): boolean {
  return scheme.every((member) => agrees(member, entry))
}

/** True when the tuple has that member with that value. */
export function agrees(member: IdentityMember, entry: Identity): boolean {
  const isSame = ({ value, url }: IdentityMember) => (url === 'below' ? member.value.startsWith(value) : member.value === value)
  return entry.some((mine) => mine.name === member.name && isSame(mine))
}

/**
 * Returns the origins that the user wrote, in patterns or as endpoints: only these may be loopback or private
 * addresses. Errors: `CONFIG_INVALID` for `typed`.
 */
function namedOrigins(credentials: readonly CredentialMatch[], typed: readonly string[]): ReadonlySet<string> {
  const origins = new Set<string>()
  try {
    for (const url of typed) origins.add(new URL(url).origin)
  } catch {
    throw invalid('/typed', 'must be a list of absolute URLs')
  }
  for (const { credential, strategy } of credentials) {
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
