import { type AuthError, isAuthError } from '../errors.ts'
import { memoryStore } from './memory-store.ts'
import { reserveIn, type SessionStore } from './session-store.ts'
import type { Warning } from './strategy.ts'

/** What says that a store cannot be used, not that it must not be. */
const UNUSABLE = ['FILE_ACCESS', 'DISK_FULL']

/**
 * The same store, and memory for what it cannot keep; what it kept before stays there. `warn` hears once of `CACHE_MEMORY_ONLY`.
 * Memory does not replace the store for `reserve`: what the store has would be spent and could not be replaced there.
 *
 * Errors: those of the store, without `DISK_FULL` and `FILE_ACCESS` except from `reserve` and, for the latter, `remove`.
 */
export function withMemoryFallback(store: SessionStore, warn: (warning: Warning) => void = () => {}): SessionStore {
  const memory = memoryStore()
  /** Why nobody else is kept out of the store meanwhile. */
  const unlocked = new Map<string, AuthError>()
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
    reserve: async (key, length) => {
      // A text that only memory has was never in the store, or is newer than what the store has.
      if ((await memory.read(key)) !== undefined) return
      const reason = unlocked.get(key)
      if (reason) throw reason
      await reserveIn(store, key, (await store.read(key)) ?? '', length)
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
        if (begun || !isUnusable(error)) throw error
        return memory.exclusively(
          key,
          () => {
            unlocked.set(key, error)
            return run().finally(() => unlocked.delete(key))
          },
          signal,
        )
      }
    },
  }
}

function isUnusable(error: unknown): error is AuthError {
  return isAuthError(error) && UNUSABLE.includes(error.code)
}
