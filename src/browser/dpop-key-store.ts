/** Keys for bound tokens (RFC 9449) that outlive a reload and that no script can read out. */
import type { Warning } from '../auth/strategy.ts'
import { generatePrivateKey } from '../crypto/private-key.ts'
import { type DatabaseOptions, inTransaction } from './database.ts'
import { needSecureContext } from './secure-context.ts'

export interface DpopKeyStoreOptions extends DatabaseOptions {
  /** Hears once when keys last as long as the page only. */
  readonly onWarning?: (warning: Warning) => void
}

export interface DpopKeyStore {
  /**
   * For the field `dpopKeyPair` of an entry with `dpop: true`: gives the key of that name, made when it is first asked for (P-256,
   * `extractable: false`), the same one in all tabs. Where the browser has no database it is a key for this page.
   * Errors: `UNSUPPORTED_IN_BROWSER` in pages that came by plain http.
   */
  pair(name: string): () => Promise<CryptoKeyPair>
  /** Removes the key: tokens that are bound to it are worth nothing then. */
  forget(name: string): Promise<void>
}

/** Keeps keys in IndexedDB, as keys: their private halves cannot be written down anywhere. Works in workers too. */
export function dpopKeyStore({ onWarning = () => {}, ...database }: DpopKeyStoreOptions = {}): DpopKeyStore {
  const pairs = new Map<string, Promise<CryptoKeyPair>>()
  let warned = false

  async function obtain(key: string): Promise<CryptoKeyPair> {
    needSecureContext('a key of its own')
    const fresh = (await generatePrivateKey()).pair
    try {
      return await inTransaction(database, 'keys', (store, resolve) => keptOrAdded(store, key, fresh, resolve))
    } catch {
      if (!warned) onWarning({ code: 'CACHE_MEMORY_ONLY', message: 'keys are kept in memory only: this page has no database' })
      warned = true
      return fresh
    }
  }

  return {
    pair: (key) => () => {
      const pair = pairs.get(key) ?? obtain(key)
      pairs.set(key, pair)
      return pair
    },
    async forget(key) {
      pairs.delete(key)
      await inTransaction<void>(database, 'keys', (store) => void store.delete(key)).catch(() => {})
    },
  }
}

/** Of two tabs that make a key at once, the first to write decides: looking and writing are one transaction. */
function keptOrAdded(store: IDBObjectStore, key: string, fresh: CryptoKeyPair, resolve: (pair: CryptoKeyPair) => void): void {
  const known: IDBRequest<CryptoKeyPair | undefined> = store.get(key)
  known.onsuccess = () => {
    if (known.result === undefined) store.put(fresh, key)
    resolve(known.result ?? fresh)
  }
}
