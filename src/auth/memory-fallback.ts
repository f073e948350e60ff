import { type AuthError, isAuthError } from '../errors.ts'
import { memoryStore } from './memory-store.ts'
import type { SessionStore } from './session-store.ts'
import type { Warning } from './strategy.ts'

/** What says that a store cannot be used, not that it must not be. */
const UNUSABLE = ['FILE_ACCESS', 'DISK_FULL']

/**
 * The same store, and memory for what it cannot keep; what it kept before stays there. `warn` hears once of `CACHE_MEMORY_ONLY`.
 *
 * Errors: those of the store, without `DISK_FULL`, and without `FILE_ACCESS` except from `remove`.
 */
export function withMemoryFallback(store: SessionStore, warn: (warning: Warning) => void = () => {}): SessionStore {
  const memory = memoryStore()
  let warned = false

  function fallBack(error: unknown): void {
    if (!isUnusable(error)) throw error
    if (!warned) warn({ code: 'CACHE_MEMORY_ONLY', message: `tokens are kept in memory only: ${error.message}` })
    warned = true
  }

  return {
    read: async (key) => (await memory.read(key)) ?? store.read(key).catch((error) => fallBack(error) as undefined),
    write: async (key, text) => {
      try {
        await store.write(key, text)
        await memory.remove(key)
      } catch (error) {
        fallBack(error)
        await memory.write(key, text)
      }
    },
    remove: async (key) => {
      await memory.remove(key)
      await store.remove(key)
    },
    exclusively: async (key, run, signal) => {
      let begun = false
      const begin = () => {
        begun = true
        return run()
      }
      try {
        return await store.exclusively(key, begin, signal)
      } catch (error) {
        if (begun) throw error
        fallBack(error)
        return memory.exclusively(key, run, signal)
      }
    },
  }
}

function isUnusable(error: unknown): error is AuthError {
  return isAuthError(error) && UNUSABLE.includes(error.code)
}
