/** `createEngine`: checks what can be checked at once, and loads the engine with the first call. */

import type { Transport } from '../http/message.ts'
import type { Clock } from '../net/clock.ts'
import type { Anonymous, Auth } from './auth.ts'
import { type CredentialSource, checkShapes, flatten, invalid } from './credential.ts'
import type { Engine } from './engine.ts'
import { givenTarget } from './resource.ts'
import { Selector } from './select.ts'
import type { EngineMemory, SessionStore } from './session.ts'
import type { LazyStrategy, SessionChange, Strategy, Warning } from './strategy.ts'

/** Options of the engine without strategies, for pages that choose their own. */
export interface EngineOptions extends Anonymous {
  /** The user's credentials; in code they may hold plain strings. */
  readonly credentials: CredentialSource
  /** One per scheme type; strategies that are not listed are never loaded. */
  readonly strategies: readonly (Strategy | LazyStrategy)[]
  /** Sends one request without following redirects; default: undici on Node, `fetch` elsewhere. */
  readonly transport?: Transport
  /** URLs that the user typed: their origins may be loopback or private addresses. */
  readonly typed?: readonly string[]
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

/**
 * Creates an engine like `createAuth`, with only the strategies that the caller names, so that a program includes no others.
 *
 * Errors: `ConfigurationError` `CONFIG_INVALID` with the pointer of the field: immediately for a credential without a supported type or
 * without `sendTo`; for all other fields by `ready()` or the first call.
 *
 * @example
 * import { createEngine } from 'stac-auth'
 * import { apiKey } from 'stac-auth/strategies'
 *
 * createEngine({ credentials, strategies: [apiKey] })
 */
export function createEngine(options: EngineOptions): Auth {
  const strategies = new StrategyTable(options?.strategies)
  const credentials = flatten(options.credentials)
  checkShapes(credentials, strategies)
  let engine: Engine | undefined

  async function loaded(): Promise<Engine> {
    if (engine) return engine
    const types = credentials.credentials.map(({ type }) => type)
    const [{ Engine: Loaded, readCredentials }] = await Promise.all([import('./engine.ts'), strategies.load(types)])
    engine ??= new Loaded(new Selector(readCredentials(credentials, strategies.loaded), strategies, options), strategies, options)
    return engine
  }

  return {
    authorize: async (target, given) => (await loaded()).authorize(target, given ?? {}),
    fetch: async (input, init) => (await loaded()).fetch(input, init ?? {}),
    fetchFor: (target, given) => async (input, init) => (await loaded()).fetchBelow(target, input, { ...given, ...init }),
    send: async (input, given) => (await loaded()).send(input, given ?? {}),
    peek(target) {
      if (typeof target !== 'string') givenTarget(target)
      return engine?.peek(target)
    },
    explain: async (target) => (await loaded()).explain(target),
    service: async (base) => (await loaded()).service(base),
    ready: async () => {
      await loaded()
    },
    login: async (credential, interaction, given) => (await loaded()).login(credential, interaction ?? {}, given ?? {}),
    logout: async (credential, given) => (await loaded()).logout(credential, given ?? {}),
    status: async () => (await loaded()).status(),
  }
}

/** The strategies of an engine by type; some are loaded when a credential or a scheme first has their type. */
export class StrategyTable {
  readonly #loaded = new Map<string, Strategy>()
  readonly #lazy = new Map<string, LazyStrategy>()

  /** Errors: `CONFIG_INVALID`. */
  constructor(strategies: readonly (Strategy | LazyStrategy)[]) {
    if (!Array.isArray(strategies)) throw invalid('/strategies', 'must be a list of strategies')
    strategies.forEach(checkStrategy)
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

/** Errors: `CONFIG_INVALID` for anything else in place of a strategy: its module, or a function that makes a credential. */
function checkStrategy(given: unknown, index: number): void {
  const at = `/strategies/${index}`
  if (typeof given === 'function') {
    const name = given.name === 'basic' || given.name === 'bearer' ? 'http' : given.name
    throw invalid(at, 'is a function that makes a credential, not a strategy', `pass "${name}" of stac-auth/strategies`)
  }
  if (typeof (given as Partial<Strategy> | null)?.type !== 'string')
    throw invalid(at, 'is not a strategy', 'pass the strategy itself, not its module')
}
