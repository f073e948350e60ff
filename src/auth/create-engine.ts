/** `createEngine`: selects credentials itself, and loads the other half of the engine when a request must be sent. */

import { abortedBy } from '../errors.ts'
import type { HttpRequest, Transport } from '../http/message.ts'
import type { Clock } from '../net/clock.ts'
import { isObject } from '../stac/document.ts'
import type { Target } from '../stac/target.ts'
import { type Auth, type AuthorizedRequest, type AuthorizeOptions, authorizedRequest, plainRequest } from './auth.ts'
import { type CredentialSource, checkShapes, flatten, invalid } from './credential.ts'
import { CredentialSelector, type Selection, Unusable } from './credential-selection.ts'
import { below, givenTarget, hrefOf, plainHeaders } from './resource.ts'
import type { Runtime } from './runtime.ts'
import { type CredentialMatch, checkReach } from './scheme-matching.ts'
import type { EngineMemory, Session, SessionStore } from './session.ts'
import type { AuthStep, LazyStrategy, SessionChange, Strategy, Warning } from './strategy.ts'

/** Options of the engine without strategies, for pages that choose their own. */
export interface EngineOptions {
  /** The user's credentials; in code they may hold plain strings. */
  readonly credentials: CredentialSource
  /** One per scheme type; strategies that are not listed are never loaded. */
  readonly strategies: readonly (Strategy | LazyStrategy)[]
  /** Sends one request without following redirects; default: undici on Node, `fetch` elsewhere. */
  readonly transport?: Transport
  /** URLs that the user typed: their origins may be loopback or private addresses. */
  readonly typed?: readonly string[]
  /** `allow`: a target whose references are all rejected is requested without credentials instead of refused. */
  readonly anonymous?: 'allow'
  /**
   * True: targets without references get the credential with the narrowest matching `sendTo` pattern. By default only credentials
   * with `use: 'by-address'` are used for them. Targets with `auth:refs` are not affected.
   */
  readonly byAddress?: boolean
  /**
   * Milliseconds for which tokens and signed URLs must stay valid: others are replaced before they are used. Tokens that the server issues
   * for a shorter time are used as they are.
   */
  readonly minValidity?: number
  /** `error` refuses redirects to another origin. */
  readonly redirects?: 'follow' | 'error'
  /** Called with each warning. */
  readonly onWarning?: (warning: Warning) => void
  /** Called with the credential id and the URL of each response to an authorized request of `fetch`; after a redirect once more. */
  readonly onUse?: (credential: string, url: string) => void
  /** Called when the token of a credential is obtained, refreshed or removed, so that a user interface can follow. */
  readonly onSession?: (change: SessionChange) => void
  /** The time, for tests; default: that of the platform. */
  readonly clock?: Clock
  /** Where tokens are stored; default: in memory, as long as this engine exists. */
  readonly session?: SessionStore
  /** For engines that replace each other: what they keep in memory. */
  readonly memory?: EngineMemory
}

/** Before the first request, no session value exists. */
const NO_SESSION: Pick<Session, 'get'> = { get: () => undefined }

/**
 * Creates an engine like `createAuth`, with only the strategies that the caller names, so that a program includes no others.
 *
 * Errors: `ConfigurationError` `CONFIG_INVALID` with the pointer of the field: immediately for a credential without a supported type or
 * without `sendTo`; for all other fields by `ready()` or the first call.
 *
 * @example
 * import { createEngine } from 'stac-auth/engine'
 * import { apiKey } from 'stac-auth/strategies/api-key'
 *
 * createEngine({ credentials, strategies: [apiKey] })
 */
export function createEngine(options: EngineOptions): Auth {
  const registry = new Registry(options?.strategies)
  const { typed, anonymous, byAddress, onWarning, clock = { now: Date.now } } = options
  const credentials = flatten(options.credentials)
  checkShapes(credentials, registry)
  const isEmpty = credentials.credentials.length === 0 && !credentials.preferred?.length
  let selector = isEmpty ? new CredentialSelector([], registry, typed) : undefined
  let runtime: Runtime | undefined

  /** Returns the selector once the credentials are read and the strategies for them and for the target's schemes are loaded. */
  async function ready(target?: Target): Promise<CredentialSelector> {
    if (!selector) {
      const types = credentials.credentials.map(({ type }) => type)
      const [{ readCredentials }] = await Promise.all([import('./runtime.ts'), registry.load(types)])
      selector ??= new CredentialSelector(readCredentials(credentials, registry.loaded), registry, typed, byAddress)
    }
    if (target && !selector.isPrepared(target)) await selector.prepare(target)
    return selector
  }

  /** Returns the half that sends, with everything that the target needs. */
  async function running(target?: Target): Promise<Runtime> {
    const loadedSelector = await ready(target)
    if (runtime) return runtime
    const { Runtime: Loaded } = await import('./runtime.ts')
    runtime ??= new Loaded(loadedSelector, clock, options)
    return runtime
  }

  function begin(choice: CredentialSelector, target: Target, { method = 'GET', headers }: AuthorizeOptions) {
    const url = choice.addressOf(target)
    const request: HttpRequest = { method, url: hrefOf(url), headers: plainHeaders(headers) }
    return { outcome: choice.select(target, url, anonymous), request }
  }

  /** Returns what is known without waiting. */
  function known(
    request: HttpRequest,
    target: Target,
    selection?: Selection,
    { presign, keys }: AuthorizeOptions = {},
  ): AuthorizedRequest | undefined {
    const match = selection?.match
    if (!match) return request.url.startsWith('http') ? plainRequest(request, target, selection) : undefined
    const { scheme, credential, strategy } = match
    const session = runtime?.session(credential.id) ?? NO_SESSION
    const step = strategy.peek?.(request, { scheme, credential, session, clock, resource: { url: request.url, target, presign, keys } })
    return step && checked(request, step, target, selection, match)
  }

  async function authorize(input: Target | undefined, given?: AuthorizeOptions): Promise<AuthorizedRequest> {
    const target = givenTarget(input)
    const sending = given ?? {}
    if (sending.signal?.aborted) throw abortedBy(sending.signal)
    const { outcome, request } = begin(selector?.isPrepared(target) ? selector : await ready(target), target, sending)
    if (outcome instanceof Unusable) throw await outcome.error()
    const [selection] = outcome
    if (onWarning) for (const warning of selection?.warnings ?? []) onWarning(warning)
    const at = known(request, target, selection, sending)
    if (at) return at
    if (!selection?.match) return (await running()).open(request, target, selection)
    const { step, selection: used } = await (await running()).authorize(request, outcome, target, sending)
    return step && used.match ? checked(request, step, target, used, used.match) : plainRequest(request, target, used)
  }

  function peek(given: Target | string | undefined): AuthorizedRequest | undefined {
    if (typeof given === 'string') return runtime?.peek(given)
    const target = givenTarget(given)
    if (!selector?.isPrepared(target)) return undefined
    const { outcome, request } = begin(selector, target, {})
    return outcome instanceof Unusable ? undefined : known(request, target, outcome[0])
  }

  async function fetchTarget(input: Target | undefined, init: RequestInit | undefined, given?: Request): Promise<Response> {
    const target = givenTarget(input)
    return (await running(target)).fetchTarget(target, init ?? {}, given)
  }

  return {
    authorize,
    peek,
    ready: async () => {
      await running()
    },
    explain: async (given) => {
      const target = givenTarget(given)
      const loadedSelector = await ready(target)
      return loadedSelector.explain(target, clock.now(), async (selection) => (await running()).loginRequired(selection))
    },
    service: async (base) => (await running()).service(base),
    fetch: async (input, init) => {
      if (isAddress(input)) return (await running()).fetchAddress(input, init ?? {})
      return fetchTarget(input, init)
    },
    send: async (given, sending) => {
      if (isRequest(given)) return (runtime ?? (await running())).send(given, sending ?? {})
      const target = givenTarget(given)
      return (await running(target)).sendTarget(target, sending ?? {})
    },
    login: async (credential, interaction, loginOptions) => (await running()).login(credential, interaction ?? {}, loginOptions ?? {}),
    logout: async (credential, logoutOptions) => (await running()).logout(credential, logoutOptions ?? {}),
    status: async () => (await running()).status(),
    fetchFor: (target) => async (input, init) => {
      const given = input instanceof Request ? input : undefined
      return fetchTarget(below(givenTarget(target), given?.url ?? String(input)), init, given)
    },
  }
}

/** True for what a standard `fetch` takes. No document has a function, so its author cannot choose the request. */
function isAddress(input: unknown): input is string | URL | Request {
  return typeof input === 'string' || input instanceof URL || (isObject(input) && typeof input.arrayBuffer === 'function')
}

/** True for a request of the caller. A document, an asset or a link may have members of these names as well, but has one of its own. */
function isRequest(given: HttpRequest | Target | undefined): given is HttpRequest {
  return isObject(given) && 'url' in given && !['href', 'type', 'links'].some((name) => name in given)
}

/** Returns the step if its URL is allowed, which may differ from the target's. Errors: `CREDENTIAL_TARGET_UNTRUSTED`. */
function checked(request: HttpRequest, step: AuthStep, target: Target, selection: Selection, match: CredentialMatch): AuthorizedRequest {
  if (step.request.url !== request.url) checkReach(match, step.request.url)
  return authorizedRequest(request, step, target, selection)
}

export class Registry {
  readonly #loaded = new Map<string, Strategy>()
  readonly #lazy = new Map<string, LazyStrategy>()

  /** Errors: `CONFIG_INVALID`, also for a module in place of its strategy. */
  constructor(strategies: readonly (Strategy | LazyStrategy)[]) {
    if (!Array.isArray(strategies) || !strategies.every((strategy) => typeof strategy?.type === 'string'))
      throw invalid('/strategies', 'must be a list of strategies, not of their modules')
    for (const strategy of strategies) {
      const { type } = strategy
      // The last one of a type counts.
      this.#loaded.delete(type)
      this.#lazy.delete(type)
      if ('load' in strategy) this.#lazy.set(type, strategy)
      else this.#loaded.set(type, strategy)
    }
  }

  /** Returns the strategy of that type when it is loaded. */
  get(type: string): Strategy | undefined {
    return this.#loaded.get(type)
  }

  /** All types, loaded or not. */
  get types(): readonly string[] {
    return [...this.#loaded.keys(), ...this.#lazy.keys()]
  }

  /** True when credentials of that type must have `sendTo`, as far as that is known before loading. */
  needsSendTo(type: string): boolean {
    return this.#lazy.get(type)?.sendTo === 'required'
  }

  /** The loaded strategies. */
  get loaded(): readonly Strategy[] {
    return [...this.#loaded.values()]
  }

  /** True when some strategies are not loaded yet. */
  get isPartial(): boolean {
    return this.#lazy.size > 0
  }

  /** True when that type has a strategy that is not loaded yet. */
  isPending(type: string): boolean {
    return this.#lazy.has(type)
  }

  /** Loads the strategies of those types, if they exist; of two concurrent calls the first to finish decides. */
  async load(types: Iterable<string>): Promise<void> {
    const pending = [...new Set(types)].flatMap((type) => this.#lazy.get(type) ?? [])
    await Promise.all(
      pending.map(async (lazy) => {
        const strategy = await lazy.load()
        if (this.#lazy.delete(lazy.type)) this.#loaded.set(lazy.type, strategy)
      }),
    )
  }
}
