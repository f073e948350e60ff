import { throwIfAborted, unlessAborted } from './cancellation.ts'

/** Runs one function at a time per key, in the order of the calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs the function after all earlier ones of that key. Errors: those of `run`; the signal's while waiting. */
  async run<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    throwIfAborted(signal)
    const before = this.#last.get(key)
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    // A caller that aborts keeps its position: the next one waits for those before it.
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
