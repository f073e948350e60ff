import { withMemoryFallback } from '../auth/memory-fallback.ts'
import type { SessionStore } from '../auth/session-store.ts'
import type { Warning } from '../auth/strategy.ts'
import { IntegrityError } from '../errors.ts'
import { KeyedMutex } from '../net/keyed-mutex.ts'
import { type DatabaseOptions, inTransaction } from './database.ts'
import { withWebLock } from './web-lock.ts'

export interface IndexedDbOptions extends DatabaseOptions {
  /** Hears once when tokens are kept in memory only. */
  readonly onWarning?: (warning: Warning) => void
}

/**
 * A store that all tabs and workers of the origin share, until a logout: one login for all of them, and one renewal, for what one tab
 * has written the next one reads (of `localStorage` no browser promises that). Every script of the origin can read it.
 *
 * Errors: `ABORTED` while waiting; `FILE_ACCESS` when the database does not remove.
 */
export function indexedDbStore({ onWarning, ...database }: IndexedDbOptions = {}): SessionStore {
  const mutex = new KeyedMutex()
  const reserved = new Set<string>()

  async function use<T>(work: (store: IDBObjectStore, resolve: (value: T) => void) => void): Promise<T> {
    try {
      return await inTransaction(database, 'sessions', work)
    } catch {
      throw new IntegrityError('FILE_ACCESS', 'the database of this page cannot be used: it is full or switched off')
    }
  }

  const store: SessionStore = {
    read: (key) =>
      use<string | undefined>((texts, resolve) => {
        const known: IDBRequest<unknown> = texts.get(key)
        known.onsuccess = () => resolve(typeof known.result === 'string' ? known.result : undefined)
      }),
    write: (key, text) =>
      use<void>((texts) => {
        texts.delete(roomOf(key))
        texts.put(text, key)
      }),
    reserve: async (key, length) => {
      await use<void>((texts) => void texts.put('.'.repeat(length), roomOf(key)))
      reserved.add(key)
    },
    remove: (key) => use<void>((texts) => void texts.delete(key)),
    exclusively: (key, run, signal) => {
      const alone = () =>
        run().finally(async () => {
          if (reserved.delete(key)) await use<void>((texts) => void texts.delete(roomOf(key))).catch(() => undefined)
        })
      return mutex.run(key, () => withWebLock(`stac-auth:${database.name ?? ''}:${key}`, alone, signal), signal)
    },
  }
  return withMemoryFallback(store, onWarning)
}

/** Holds the room for a text that is about to be kept. */
function roomOf(key: string): string {
  return `${key}:room`
}
