/**
 * Matches one reference: checks that its scheme exists and is well formed with valid names and URLs, and finds the credentials with
 * the same identity. Results do not depend on the target's URL and are cached per scheme object.
 */
import { type AuthError, SelectionError, TrustError } from '../errors.ts'
import { addressOf, isAddressProblem } from '../http/url.ts'
import { isObject, own, ownString, pointer } from '../stac/document.ts'
import { type AuthScheme, isPublicType, modernScheme } from '../stac/scheme.ts'
import { type FoundScheme, findScheme, readRefs, type SchemeMap, schemeMaps, type Target } from '../stac/target.ts'
import type { Registry } from './create-engine.ts'
import { type Credential, inputIdOf } from './credential.ts'
import type { Identity, IdentityMember, SchemeIdentity, Strategy } from './strategy.ts'
import { covers, matchesAny, narrowness } from './url-pattern.ts'

/** The checks of a reference in order. */
const STAGES = ['reference', 'scheme', 'names', 'addresses', 'match', 'sendTo', 'parameters'] as const

/** A rejected reference: the check that failed, and the error, which may have to be loaded first. */
export class RejectedReference {
  readonly stage: number
  readonly error: () => AuthError | Promise<AuthError>

  constructor(stage: (typeof STAGES)[number], error: AuthError | (() => Promise<AuthError>)) {
    this.stage = STAGES.indexOf(stage)
    this.error = typeof error === 'function' ? error : () => error
  }
}

/** A valid scheme, and the credentials that match it. */
export interface SchemeMatch {
  /** As written in the document. */
  readonly type: string
  readonly isPublic: boolean
  readonly pointer: string
  /** Base URL of its relative URLs. */
  readonly base: string | undefined
  readonly scheme: AuthScheme
  readonly strategy: Strategy | undefined
  readonly identity: SchemeIdentity
  readonly matches: readonly CredentialMatch[]
  /** A credential with the same identity and a different chain. */
  readonly otherChain?: Credential
}

/** A credential with its canonical tuple. */
export interface Known {
  readonly credential: Credential
  readonly strategy: Strategy
  readonly identity: Identity
}

/** By scheme and credential id: whether they match. */
type Answered = Map<object, Map<string, boolean>>

export class SchemeMatcher {
  readonly #strategies: Registry
  readonly #known: readonly Known[]
  readonly #named: ReadonlySet<string>
  readonly #kept = new WeakMap<object, SchemeMatch>()

  /** @param ownMatches the user's credentials, each with the scheme it stands for */
  constructor(strategies: Registry, ownMatches: readonly CredentialMatch[], named: ReadonlySet<string>) {
    this.#strategies = strategies
    this.#named = named
    this.#known = ownMatches.map(({ credential, strategy, scheme }) => {
      return { credential, strategy, identity: strategy.identityOf?.(credential) ?? strategy.identity(scheme)[0] ?? [] }
    })
  }

  /** Returns the type in the document, for explanations. */
  typeOf(target: Target, ref: string): string | undefined {
    return ownString(findScheme(mapsFor(target), ref)?.value, 'type')
  }

  /** Returns the types whose strategies may be needed for a reference; none when its result is cached. */
  typesOf(target: Target, ref: string): readonly string[] {
    const found = findScheme(mapsFor(target), ref)
    if (!isObject(found?.value) || this.#kept.has(found.value)) return []
    const { value, siblings } = found
    const chained = chainRefs(value).map((name) => own(siblings, name))
    return [value, modernScheme(value), ...chained].flatMap((scheme) => ownString(scheme, 'type') ?? [])
  }

  /** Returns the match for the scheme that the reference names. */
  scheme(target: Target, ref: string): SchemeMatch | RejectedReference {
    const maps = mapsFor(target)
    const found = findScheme(maps, ref)
    if (!found) return new RejectedReference('reference', async () => (await import('./selection-errors.ts')).notFound(target, ref, maps))
    if (!isObject(found.value)) {
      return new RejectedReference(
        'scheme',
        new SelectionError('SCHEME_INVALID', `scheme "${ref}" is not an object`, { pointer: found.pointer, ref }),
      )
    }
    const kept = this.#kept.get(found.value)
    if (kept?.pointer === found.pointer && kept.base === found.url) return kept
    const match = this.#examine(found, ref)
    if (!(match instanceof RejectedReference)) this.#kept.set(found.value, match)
    return match
  }

  /** Returns why none of the user's credentials can be used for a valid scheme. */
  rejection(target: Target, ref: string, match: SchemeMatch, url: URL): RejectedReference {
    const matches = match.matches.some(({ strategy }) => strategy === match.strategy)
    const same = this.#known.filter(({ strategy }) => strategy === match.strategy)
    const error = async () => (await import('./selection-errors.ts')).noMatch({ target, ref, match, url, same })
    return new RejectedReference(matches ? 'sendTo' : 'match', error)
  }

  #examine(found: FoundScheme, ref: string): SchemeMatch | RejectedReference {
    const { pointer: at } = found
    const type = ownString(found.value, 'type')
    if (!type)
      return new RejectedReference('scheme', new SelectionError('SCHEME_INVALID', `scheme "${ref}" has no type`, { pointer: at, ref }))
    const value = modernScheme(found.value as Record<string, unknown>) as AuthScheme
    const base = { type, pointer: at, base: found.url, scheme: value, isPublic: false, identity: [], matches: [] }
    const strategy = this.#strategies.get(type) ?? this.#strategies.get(value.type)
    if (!strategy) {
      if (isPublicType(type)) return { ...base, isPublic: true, strategy }
      return new RejectedReference('scheme', async () => (await import('./selection-errors.ts')).unsupported(ref, type, `${at}/type`))
    }
    const shape = strategy.problem?.(value, at) ?? chainProblem(found, ref)
    if (shape) return new RejectedReference(/NAME/.test(shape.code) ? 'names' : 'scheme', withRef(shape, ref))
    const identity = this.#canonical(strategy.identity(value), found, ref)
    if (identity instanceof RejectedReference) return identity
    const all = this.#matches(strategy, value, identity)
    const matches = all.filter(({ credential }) => this.#agrees(found, credential))
    const otherChain = all.find((match) => !matches.includes(match))?.credential
    return { ...base, strategy, identity, matches, ...(otherChain && { otherChain }) }
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
    const match = this.#choicesFor(found, ref).find(({ credential }) => credential.id === id)
    const result = match !== undefined && this.#agrees(found, match.credential, answered)
    known.set(id, result)
    return result
  }

  #choicesFor(found: FoundScheme, ref: string): readonly CredentialMatch[] {
    const value = modernScheme(found.value as Record<string, unknown>) as AuthScheme
    const strategy = this.#strategies.get(String(value.type))
    if (!strategy || strategy.problem?.(value, found.pointer)) return []
    const identity = this.#canonical(strategy.identity(value), found, ref)
    return identity instanceof RejectedReference ? [] : this.#matches(strategy, value, identity)
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
        const url = addressOf(member.value, { base: member.url === 'relative' ? base : undefined, secure: true, named: this.#named })
        if (isAddressProblem(url)) {
          const fields = { pointer: at + member.pointer, ref }
          return new RejectedReference(
            'addresses',
            new SelectionError(url.code, `${member.name} of scheme "${ref}" ${url.message}`, fields),
          )
        }
        url.hash = ''
        members.push({ ...member, value: url.href })
      }
      canonical.push(members)
    }
    return canonical
  }

  #matches(strategy: Strategy, scheme: AuthScheme, identity: SchemeIdentity): CredentialMatch[] {
    const matches: CredentialMatch[] = []
    for (const known of this.#known) {
      if (known.strategy === strategy && identity.some((tuple) => sameIdentity(tuple, known.identity))) {
        matches.push({ credential: known.credential, strategy, scheme })
      } else if (known.strategy !== strategy && answersAnother(known, strategy, scheme)) {
        matches.push({ credential: known.credential, strategy: known.strategy, scheme: known.strategy.schemeOf(known.credential) })
      }
    }
    return matches
  }
}

/** True for a finished token where the strategy accepts one, and for a credential that obtains what the scheme sends. */
function answersAnother({ credential, strategy: answering }: Known, strategy: Strategy, scheme: AuthScheme): boolean {
  return (strategy.acceptsToken && answering.isToken?.(credential)) || answering.answers?.(credential, scheme) === true
}

function mapsFor({ object, pointer: at, kind, scope }: Target): readonly SchemeMap[] {
  return schemeMaps(scope, { object, pointer: at, describesItems: kind === 'item_asset' })
}

function withRef(error: AuthError, ref: string): AuthError {
  return new SelectionError(error.code, error.message, { ...error, ref })
}

/** A credential, its strategy and the scheme it is used for. */
export interface CredentialMatch {
  readonly credential: Credential
  readonly strategy: Strategy
  readonly scheme: AuthScheme
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
    hint: `if you trust that host: stac-auth credentials trust ${id} ${url.origin}/; in code, "sendTo" of "${id}"`,
  })
}

/**
 * Returns the best of the matches that allow the URL: a preferred credential, then one that suits the target, then the one with the
 * narrowest pattern, then the first.
 */
export function bestOf(matches: readonly CredentialMatch[], url: URL, target?: Target): CredentialMatch | undefined {
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
