/** Retries that may be paid at once, and what a first attempt that succeeded adds. */
interface Terms {
  readonly most: number
  readonly earned: number
}

/** Keeps retries to a part of the traffic, a tenth unless told otherwise: an outage is not answered with more load. */
export class RetryBudget {
  readonly #terms: Terms
  #tokens: number

  constructor(terms: Terms = { most: 10, earned: 0.1 }) {
    this.#terms = terms
    this.#tokens = terms.most
  }

  /** A first attempt succeeded. */
  earn(): void {
    const { most, earned } = this.#terms
    if (this.#tokens < most) this.#tokens = Math.min(most, this.#tokens + earned)
  }

  /** Pays for a retry, half where the server asked for it; false when there is not enough left. */
  spend(hinted: boolean): boolean {
    const cost = hinted ? 0.5 : 1
    // Tenths do not add up exactly.
    if (this.#tokens < cost - 1e-9) return false
    this.#tokens -= cost
    return true
  }
}
