import { throwIfAborted, unlessAborted } from './cancellation.ts'

/** Lets one at a time run for each key, in the order in which they came. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs when all who came before for that key are done. Errors: those of `run`; the signal's while waiting. */
  async run<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    throwIfAborted(signal)
    const before = this.#last.get(key)
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    // Who gives up still keeps the order: the next one waits for those before.
    const last = before ? before.then(() => left) : left
    this.#last.set(key, last)
    void last.then(() => {
      if (this.#last.get(key) === last) this.#last.delete(key)
    })
    try {
      if (before) await unlessAborted(before, signal)
      return await run()
    } finally {
      leave()
    }
  }
}
