/** The strategies of an engine: some at hand, some loaded when their type first comes up. */
import type { LazyStrategy, Strategy } from './strategy.ts'

export class Registry {
  readonly #loaded = new Map<string, Strategy>()
  readonly #lazy = new Map<string, LazyStrategy>()

  constructor(strategies: readonly (Strategy | LazyStrategy)[]) {
    for (const strategy of strategies) {
      if ('load' in strategy) this.#lazy.set(strategy.type, strategy)
      else this.#loaded.set(strategy.type, strategy)
    }
  }

  /** The strategy of that type when it is loaded. */
  get(type: string): Strategy | undefined {
    return this.#loaded.get(type)
  }

  /** All types, loaded or not. */
  get types(): readonly string[] {
    return [...this.#loaded.keys(), ...this.#lazy.keys()]
  }

  /** True when a credential of that type must have `sendTo`, as far as that is known before anything is loaded. */
  needsSendTo(type: string): boolean {
    return this.#lazy.get(type)?.sendTo === 'required'
  }

  /** Those that are loaded. */
  get loaded(): readonly Strategy[] {
    return [...this.#loaded.values()]
  }

  /** True when something is left to load. */
  get isPartial(): boolean {
    return this.#lazy.size > 0
  }

  /** True when that type has a strategy that is not loaded. */
  isPending(type: string): boolean {
    return this.#lazy.has(type)
  }

  /** Loads the strategies of those types, as far as there are any; of two calls at once the first to end decides. */
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

/** All strategies of a list, loaded. */
export async function loadStrategies(strategies: readonly (Strategy | LazyStrategy)[]): Promise<readonly Strategy[]> {
  return Promise.all(strategies.map((strategy) => ('load' in strategy ? strategy.load() : strategy)))
}
