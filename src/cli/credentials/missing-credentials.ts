/** Finds the schemes of a document without a usable credential, and the URLs their credentials need. */

import { type Command, Option } from 'commander'
import type { Auth, RefExplanation } from '../../auth/auth.ts'
import type { Credential } from '../../auth/credential.ts'
import { isUnusable, patternFor, type Requirement, requirementOf } from '../../auth/requirement.ts'
import { below } from '../../auth/resource.ts'
import { loadStrategies, type Strategy } from '../../auth/strategy.ts'
import { type ErrorCode, isAuthError } from '../../errors.ts'
import { isPublicHost } from '../../http/url.ts'
import { isProtected, readRefs, type Target, targetsOf } from '../../stac/target.ts'
import { defaultStrategies } from '../../strategies/index.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { inOptionGroup } from '../options.ts'
import type { ReadDocument } from '../read-document.ts'

/** A URL pattern, and what is requested there. */
export interface Place {
  readonly pattern: string
  /** The number of its targets by kind. */
  readonly counts: Readonly<Record<string, number>>
  /** Names of schemes whose token or signing requests go there. */
  readonly calls?: readonly string[]
}

/** A scheme without a usable credential; `target` is its first target. */
export interface MissingCredential extends Requirement {
  /** `NO_CREDENTIAL` if there is no credential, else the reason why the best match is rejected. */
  readonly code: ErrorCode
  /** That reason in words, unless the code is `NO_CREDENTIAL`. */
  readonly reason?: string
  /** Id of an existing credential of that kind that may not be sent to the targets. */
  readonly unsent?: string
  /** The schemes in `auth:refs` of the scheme. */
  readonly chain?: Chain
  readonly places: readonly Place[]
  /** Number of hosts beyond the limit of the prompt. */
  readonly more: number
  /** Pointers of its targets. */
  readonly targets: readonly string[]
}

/** The schemes that authorize the token or signing requests of another one. */
export interface Chain {
  /** The field of the credential that names the other one. */
  readonly field: string
  readonly names: readonly string[]
  /** Id of an existing credential that can be used. */
  readonly credential?: string
  /** Pointers of the schemes without a credential, any of which will do. */
  readonly pointers: readonly string[]
}

/** A scheme with a credential; `target` is the first target for which it is used. */
export interface AnsweredScheme extends Requirement {
  readonly credential: string
  /** True if the credential must log in first. */
  readonly loginRequired: boolean
  /** Pointers of its targets. */
  readonly targets: readonly string[]
}

/** A target that no credential can answer: its document or URL is at fault. */
export interface UnusableTarget extends Pick<RefExplanation, 'message' | 'hint'> {
  readonly code: ErrorCode
  readonly pointer: string
}

/** The credentials that a document needs. */
export interface Needs {
  /** Valid schemes without a credential, in the order of the document; a scheme comes after those in its `auth:refs`. */
  readonly wanted: readonly MissingCredential[]
  /** Schemes with a credential. */
  readonly answered: readonly AnsweredScheme[]
  readonly unusable: readonly UnusableTarget[]
  /** Ids of existing credentials that match. */
  readonly entries: ReadonlySet<string>
  /** The first target without a usable reference. */
  readonly refused?: Target
}

const MAX_PLACES = 12

/** Error codes of a valid scheme that only lacks a credential. */
const LACKS_CREDENTIAL: readonly ErrorCode[] = [
  'NO_CREDENTIAL',
  'CREDENTIAL_ENDPOINT_UNTRUSTED',
  'SCHEME_MISMATCH',
  'CREDENTIAL_TARGET_UNTRUSTED',
]

/** Explains every asset and link with references, without network access. */
export async function needsOf(read: ReadDocument, auth: Auth): Promise<Needs> {
  const survey = new Survey(auth, await loadStrategies(defaultStrategies))
  for (const target of protectedTargets(read)) await survey.look(target)
  return survey.needs()
}

function* protectedTargets({ document, url }: ReadDocument): Generator<Target> {
  for (const target of targetsOf(document, url === undefined ? {} : { url })) {
    if (target.kind !== 'item_asset' && isProtected(target) && isRequested(target)) yield target
  }
}

/** Relations of links that lead to data or to further documents; a link to a license, for example, is about the document. */
const REQUESTED = [
  'self root parent collection item items child children data search next prev previous first last conformance queryables',
  'aggregate aggregations order alternate derived_from enclosure preview thumbnail overview store tiles tilejson tilesets-map',
  'tilesets-vector tilesets-coverage wms wmts wfs wcs xyz 3d-tiles pmtiles',
].flatMap((names) => names.split(' '))

/** True for assets and such links; a relation may also be a URI that ends with its name. */
function isRequested({ kind, object }: Target): boolean {
  const [name = ''] = /[^/#]*$/.exec(String(object.rel)) ?? []
  return kind !== 'link' || REQUESTED.includes(name.toLowerCase())
}

/** Returns the loopback and private origins of the targets and schemes of a document, for a question that asks for consent. */
export async function privateOriginsOf(read: ReadDocument): Promise<readonly string[]> {
  const strategies = await loadStrategies(defaultStrategies)
  const origins = new Set<string>()
  const schemes = new Set<string>()
  for (const target of protectedTargets(read)) {
    const hrefs = [target.href]
    const names = [...target.refs]
    // The list grows while it is read: by the schemes in `auth:refs` of schemes.
    for (const name of names) {
      const need = requirement(target, name, strategies)
      if (!need || schemes.has(need.pointer)) continue
      schemes.add(need.pointer)
      hrefs.push(...endpointsOf(need))
      names.push(...readRefs(need.scheme, '').refs)
    }
    for (const href of hrefs) {
      const url = canParseUrl(href, target.scope.url) ? new URL(href, target.scope.url) : undefined
      if (url && /^https?:$/.test(url.protocol) && !isPublicHost(url.hostname)) origins.add(`${url.origin}/`)
    }
  }
  return [...origins]
}

function endpointsOf({ strategy, scheme, pointer }: Requirement): readonly string[] {
  if (strategy.problem?.(scheme, pointer)) return []
  return strategy.identity(scheme).flatMap((tuple) => tuple.filter(({ url }) => url !== undefined).map(({ value }) => value))
}

/** Returns the requirement; undefined also for a URL that cannot be parsed. */
function requirement(target: Target, ref: string, strategies: readonly Strategy[]): Requirement | undefined {
  return canParseUrl(target.href, target.scope.url) ? requirementOf(target, ref, strategies) : undefined
}

/** The length of a chain of schemes, as the engine limits it. */
const MAX_DEPTH = 8

/** A scheme that sends token or signing requests. */
type Call = Pick<Requirement, 'name' | 'pointer'>

interface SchemeTargets {
  readonly wanted: Omit<MissingCredential, 'places' | 'more' | 'targets'>
  /** The targets, and for token and signing requests the scheme that sends them. */
  readonly targets: { readonly target: Target; readonly call: Call | undefined }[]
}

class Survey {
  readonly #auth: Auth
  readonly #strategies: readonly Strategy[]
  readonly #found = new Map<string, SchemeTargets>()
  readonly #answered = new Map<string, { readonly scheme: Omit<AnsweredScheme, 'targets'>; readonly targets: string[] }>()
  readonly #unusable: UnusableTarget[] = []
  readonly #entries = new Set<string>()
  #refused: Target | undefined

  constructor(auth: Auth, strategies: readonly Strategy[]) {
    this.#auth = auth
    this.#strategies = strategies
  }

  needs(): Needs {
    const wanted = [...this.#found.values()].map((found) => ({ ...found.wanted, ...placesOf(found) }))
    const answered = [...this.#answered.values()].map(({ scheme, targets }) => ({ ...scheme, targets }))
    const refused = this.#refused
    return { wanted, answered, unusable: this.#unusable, entries: this.#entries, ...(refused && { refused }) }
  }

  /**
   * Explains a target. `calls` are the schemes whose token or signing requests it stands for. Returns the id of the credential
   * that answers it, or the pointers of the schemes without a credential.
   */
  async look(target: Target, calls: readonly Call[] = []): Promise<Pick<Chain, 'credential' | 'pointers'>> {
    const { refs } = await this.#auth.explain(target)
    const usable = refs.find(({ code }) => code === undefined)
    if (usable) return this.#use(target, usable.ref, usable.credential, false)
    const waiting = refs.find(({ code }) => code === 'LOGIN_REQUIRED')
    if (waiting) return this.#use(target, waiting.ref, waiting.credential, true)
    if (calls.length === 0) this.#refused ??= target
    const pointers: string[] = []
    for (const { ref, code, message } of refs) {
      const need = code !== undefined && LACKS_CREDENTIAL.includes(code) ? requirement(target, ref, this.#strategies) : undefined
      if (!need || code === undefined || isUnusable(need.scheme.type, need.url)) continue
      await this.#addMissing({ ...need, code, ...(message !== undefined && { reason: message }) }, calls)
      pointers.push(need.pointer)
    }
    const [first] = refs
    if (pointers.length === 0 && first?.code !== undefined) {
      const { code, message, hint } = first
      this.#unusable.push({ pointer: target.pointer, code, ...(message !== undefined && { message }), ...(hint !== undefined && { hint }) })
    }
    return { pointers }
  }

  #use(target: Target, ref: string, credential: string | undefined, loginRequired: boolean): Pick<Chain, 'credential' | 'pointers'> {
    if (credential === undefined) return { pointers: [] }
    this.#entries.add(credential)
    const need = requirement(target, ref, this.#strategies)
    if (need) {
      const key = `${need.pointer} ${credential}`
      const known = this.#answered.get(key) ?? { scheme: { ...need, credential, loginRequired }, targets: [] }
      known.targets.push(target.pointer)
      this.#answered.set(key, known)
    }
    return { credential, pointers: [] }
  }

  async #addMissing(need: Requirement & Pick<MissingCredential, 'code' | 'reason'>, calls: readonly Call[]): Promise<void> {
    const { pointer, target, name, code } = need
    let known = this.#found.get(pointer)
    if (!known) {
      const unsent = code === 'CREDENTIAL_TARGET_UNTRUSTED' ? await this.#selected(target, name) : undefined
      const chain = await this.#chainOf(need, calls)
      known = { wanted: { ...need, ...(unsent !== undefined && { unsent }), ...(chain && { chain }) }, targets: [] }
      this.#found.set(pointer, known)
    }
    known.targets.push({ target, call: calls.at(-1) })
  }

  /** Looks at the request that the schemes in `auth:refs` of a scheme authorize, before the scheme itself. */
  async #chainOf({ name, scheme, strategy, target, url, pointer }: Requirement, calls: readonly Call[]): Promise<Chain | undefined> {
    const names = readRefs(scheme, '').refs
    const form = strategy.describe(scheme, { url, target })
    const [field] = Object.entries(form.fields).find(([, { kind }]) => kind === 'id') ?? []
    const endpoint = strategy.endpoints?.(form.credential as unknown as Credential).find((each) => typeof each === 'string')
    if (names.length === 0 || field === undefined || typeof endpoint !== 'string' || calls.length >= MAX_DEPTH) return undefined
    const { malformedRefs: _, ...call } = below(target, new URL(endpoint, target.scope.url).href)
    return { field, names, ...(await this.look({ ...call, refs: names }, [...calls, { name, pointer }])) }
  }

  /** Returns the id of the credential in the error for a reference; `authorize` throws it without sending anything. */
  async #selected(target: Target, ref: string): Promise<string | undefined> {
    try {
      await this.#auth.authorize({ ...target, refs: [ref] })
      return undefined
    } catch (error) {
      if (isAuthError(error) && error.credential !== undefined) return error.credential
      throw error
    }
  }
}

/** Returns the URL patterns of targets in the order of their first use. */
function placesOf({ targets }: SchemeTargets): Pick<MissingCredential, 'places' | 'more' | 'targets'> {
  const found = new Map<string, { readonly counts: Record<string, number>; readonly calls: Set<string> }>()
  for (const { target, call } of targets) {
    const pattern = patternFor(new URL(target.href, target.scope.url))
    if (pattern === undefined) continue
    const known = found.get(pattern) ?? { counts: {}, calls: new Set() }
    if (call === undefined) known.counts[target.kind] = (known.counts[target.kind] ?? 0) + 1
    else known.calls.add(call.name)
    found.set(pattern, known)
  }
  const places = [...found].map(([pattern, { counts, calls }]) => ({ pattern, counts, ...(calls.size > 0 && { calls: [...calls] }) }))
  const pointers = targets.map(({ target, call }) => (call ?? target).pointer)
  return { places: places.slice(0, MAX_PLACES), more: Math.max(0, places.length - MAX_PLACES), targets: pointers }
}

/** What the user says about new credentials. */
export interface NewCredentialOptions {
  readonly id?: string
  readonly scope?: readonly string[]
  /** Port of the redirect URI. */
  readonly port?: number
  readonly redirectHost?: string
}

/** Adds `--id` and `--scope`. */
export function withNewCredentialOptions(command: Command): Command {
  return inOptionGroup(command, 'New credentials:', (group) =>
    group
      .option('--id <id>', 'set the id of a new credential')
      .option('--scope <scope>', 'request this scope with a new credential (repeatable)', (scope, scopes: readonly string[] = []) => [
        ...scopes,
        scope,
      ])
      .addOption(redirectHostOption()),
  )
}

/** The option for providers at which only another spelling of this machine is registered. */
export function redirectHostOption(): Option {
  return new Option('--redirect-host <host>', 'set the host of the redirect URI of a new credential (default: 127.0.0.1)').choices([
    '127.0.0.1',
    '::1',
    'localhost',
  ])
}
