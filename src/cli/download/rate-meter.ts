/** Milliseconds that count. */
const WINDOW = 10_000

/** How fast an amount has grown lately. */
export class RateMeter {
  #samples: { readonly at: number; readonly amount: number }[] = []

  /** The amount at a time, in milliseconds. */
  add(at: number, amount: number): void {
    this.#samples.push({ at, amount })
    // One sample stays from where the window begins, or from before.
    while ((this.#samples[1]?.at ?? at) <= at - WINDOW) this.#samples.shift()
  }

  /** The amount that was added last. */
  get amount(): number {
    return this.#samples.at(-1)?.amount ?? 0
  }

  /** Per second; 0 while nobody can know. What became less counts as no growth. */
  get rate(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (!first || !last || last.at <= first.at) return 0
    return (Math.max(0, last.amount - first.amount) * 1000) / (last.at - first.at)
  }
}
