import { type AuthError, isAuthError } from '../errors.ts'
import { KeyedMutex } from '../net/keyed-mutex.ts'
import type { Warning } from './strategy.ts'

/**
 * Where token sets are kept between requests, and, if the store is of that kind, between processes. Keys are 64 hex digits and
 * say nothing; texts hold secrets. Errors: `CACHE_UNSAFE`, `CACHE_LOCK_TIMEOUT`, `FILE_ACCESS`, `DISK_FULL`, `CREDENTIAL_SOURCE`,
 * as far as the kind can have them.
 */
export interface SessionStore {
  /** The text under that key; undefined when there is none, or none that can be believed. */
  read(key: string): Promise<string | undefined>
  /** Keeps the text in place of an older one, wholly or not at all. */
  write(key: string, text: string): Promise<void>
  /**
   * Proves that a text of up to so many characters can be kept, and holds the room for it until the end of `exclusively`, within which
   * it is called; the text that is there stays. A refresh token is not sent before this. A store without this method is proved by writing
   * its text once more. Errors: why it cannot be kept.
   */
  reserve?(key: string, length: number): Promise<void>
  /** Removes the text so that it cannot be read again. */
  remove(key: string): Promise<void>
  /**
   * Runs while nobody else, in this process or another, runs for the same key; not to be called from inside `run`. What
   * `run` takes for more than a minute may meet another's, where processes can be killed. Errors: those of `run`, `ABORTED`.
   */
  exclusively<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Proves that a store can keep a text of up to so many characters in place of `text`. Errors: why it cannot. */
export async function reserveIn(store: SessionStore, key: string, text: string, length: number): Promise<void> {
  if (store.reserve) await store.reserve(key, length)
  else await store.write(key, text)
}

/** A store that lasts as long as the process or the page, and is shared with nobody. Errors: `ABORTED` while waiting. */
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
