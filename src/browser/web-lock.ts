import { abortedBy } from '../errors.ts'

/**
 * Runs while no other tab runs under that name. Browsers have locks in secure contexts only, and refuse them to pages that may keep
 * nothing: those have nothing in common with other tabs. Errors: those of `run`, `ABORTED`.
 */
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
    if (begun) throw error
    if (signal?.aborted) throw abortedBy(signal)
    return run()
  }
}
