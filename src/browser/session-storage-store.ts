import { withMemoryFallback } from '../auth/memory-fallback.ts'
import type { SessionStore } from '../auth/session-store.ts'
import type { Warning } from '../auth/strategy.ts'
import { IntegrityError } from '../errors.ts'
import { KeyedMutex } from '../net/keyed-mutex.ts'
import { withWebLock } from './web-lock.ts'

export interface SessionStorageOptions {
  /** Default: the page's `sessionStorage`. */
  readonly storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Hears once when tokens are kept in memory only. */
  readonly onWarning?: (warning: Warning) => void
}

/**
 * A store that lasts as long as the tab, through reloads and redirects; every script of the page's origin can read it, so memory
 * is the better choice where a login may be repeated. Turns are taken with the other tabs where the browser has Web Locks. What
 * the storage does not take is memory, with the warning `CACHE_MEMORY_ONLY`.
 *
 * Errors: `ABORTED` while waiting; `FILE_ACCESS` when the storage does not remove.
 */
export function sessionStorageStore({ storage, onWarning }: SessionStorageOptions = {}): SessionStore {
  const mutex = new KeyedMutex()

  /** Even to name the page's storage can throw. */
  async function use<T>(work: (storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) => T): Promise<T> {
    try {
      return work(storage ?? sessionStorage)
    } catch {
      throw new IntegrityError('FILE_ACCESS', 'the session storage of this page cannot be used: it is full or switched off')
    }
  }

  const store: SessionStore = {
    read: (key) => use((texts) => texts.getItem(nameOf(key)) ?? undefined),
    write: (key, text) =>
      use((texts) => {
        texts.removeItem(roomOf(key))
        texts.setItem(nameOf(key), text)
      }),
    reserve: (key, length) => use((texts) => texts.setItem(roomOf(key), '.'.repeat(length))),
    remove: (key) => use((texts) => texts.removeItem(nameOf(key))),
    exclusively: (key, run, signal) => {
      const alone = () => run().finally(() => use((texts) => texts.removeItem(roomOf(key))).catch(() => undefined))
      return mutex.run(key, () => withWebLock(nameOf(key), alone, signal), signal)
    },
  }
  return withMemoryFallback(store, onWarning)
}

function nameOf(key: string): string {
  return `stac-auth:${key}`
}

/** Holds the room for a text that is about to be kept. */
function roomOf(key: string): string {
  return `${nameOf(key)}:room`
}
