import { abortedBy } from '../../src/errors.ts'

/** A clock whose time passes only while everybody waits: hours of pacing in no time, and always the same. */
export class VirtualClock {
  #now: number
  readonly #sleepers = new Map<() => void, number>()
  #isTicking = false

  constructor(start = 0) {
    this.#now = start
  }

  now = (): number => this.#now

  wait = (duration: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const wake = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const abort = () => {
        this.#sleepers.delete(wake)
        reject(signal && abortedBy(signal))
      }
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort)
      this.#sleepers.set(wake, this.#now + duration)
      void this.#tick()
    })

  /** Whoever sleeps shortest wakes first, once nobody has anything left to do. */
  async #tick(): Promise<void> {
    if (this.#isTicking) return
    this.#isTicking = true
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      const [first] = [...this.#sleepers].sort(([, one], [, other]) => one - other)
      if (!first) break
      const [wake, time] = first
      this.#sleepers.delete(wake)
      this.#now = Math.max(this.#now, time)
      wake()
    }
    this.#isTicking = false
  }
}
