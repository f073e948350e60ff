const MOST = 10
const EARNED = 0.1

/** Keeps retries to a tenth of the traffic: an outage is not answered with more load. */
export class RetryBudget {
  #tokens = MOST

  /** A first attempt succeeded. */
  earn(): void {
    if (this.#tokens < MOST) this.#tokens = Math.min(MOST, this.#tokens + EARNED)
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
