import { type AuthError, isAuthError } from '../errors.ts'
import { KeyedMutex } from '../net/keyed-mutex.ts'
import type { Warning } from './strategy.ts'

/**
 * Stores token sets between requests and, if persistent, between processes. Keys are 64 hex digits without
 * meaning; texts hold secrets. Errors: `CACHE_UNSAFE`, `CACHE_LOCK_TIMEOUT`, `FILE_ACCESS`, `DISK_FULL`, `CREDENTIAL_SOURCE`,
 * depending on the kind of store.
 */
export interface SessionStore {
  /** Returns the text under that key; undefined when it is missing or malformed. */
  read(key: string): Promise<string | undefined>
  /** Replaces the text atomically. */
  write(key: string, text: string): Promise<void>
  /**
   * Checks that a text of up to `length` characters can be stored, and reserves the space until the end of `exclusively`, within which
   * it is called; the present text is unchanged. A refresh token is not sent before this. A store without this method is checked by
   * writing its text again. Errors: why it cannot be stored.
   */
  reserve?(key: string, length: number): Promise<void>
  /** Deletes the text so that it cannot be read again. */
  remove(key: string): Promise<void>
  /**
   * Runs `run` while no other caller, in this process or another, runs for the same key; must not be called from inside `run`. Where
   * processes can be killed, a `run` of more than a minute may overlap with another. Errors: those of `run`, `ABORTED`.
   */
  exclusively<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Checks that a store can replace `text` with a text of up to `length` characters. Errors: why it cannot. */
export async function reserveIn(store: SessionStore, key: string, text: string, length: number): Promise<void> {
  if (store.reserve) await store.reserve(key, length)
  else await store.write(key, text)
}

/** Returns a store in memory, which lasts as long as the process or page and is not shared. Errors: `ABORTED` while waiting. */
export function memoryStore(): SessionStore {
  const texts = new Map<string, string>()
  const mutex = new KeyedMutex()
  return {
    read: async (key) => texts.get(key),
    write: async (key, text) => {
      texts.set(key, text)
    },
    reserve: async () => {},
    remove: async (key) => {
      texts.delete(key)
    },
    exclusively: (key, run, signal) => mutex.run(key, run, signal),
  }
}

/** Codes of a store that cannot be used, as opposed to one that must not be. */
const UNUSABLE = ['FILE_ACCESS', 'DISK_FULL']

/**
 * Returns the store with a fallback to memory for what it cannot write; earlier texts stay there. `warn` is called once with
 * `CACHE_MEMORY_ONLY`. Memory does not replace the store for `reserve`: a token in the store would be used up and could not be replaced.
 *
 * Errors: those of the store, without `DISK_FULL` and `FILE_ACCESS` except from `reserve` and, for the latter, `remove`.
 */
export function withMemoryFallback(store: SessionStore, warn: (warning: Warning) => void = () => {}): SessionStore {
  const memory = memoryStore()
  /** Keys that are used without a lock, and why. */
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
      // A text in memory was never in the store, or is newer than the stored one.
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
