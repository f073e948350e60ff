import { abortedBy } from '../errors.ts'

/** Runs while no other tab runs under that name; browsers have locks in secure contexts only. Errors: those of `run`, `ABORTED`. */
export async function withWebLock<T>(name: string, run: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const locks: LockManager | undefined = globalThis.navigator?.locks
  if (!locks) return run()
  let begun = false
  const begin = () => {
    begun = true
    return run()
  }
  try {
    return await locks.request(name, signal ? { signal } : {}, begin)
  } catch (error) {
    if (!begun && signal?.aborted) throw abortedBy(signal)
    throw error
  }
}
