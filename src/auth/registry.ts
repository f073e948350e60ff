/** The strategies of an engine, some of which are loaded when their type is first used. */
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

/** Loads all strategies of a list. */
export async function loadStrategies(strategies: readonly (Strategy | LazyStrategy)[]): Promise<readonly Strategy[]> {
  return Promise.all(strategies.map((strategy) => ('load' in strategy ? strategy.load() : strategy)))
}
