/** Keys for bound tokens (RFC 9449) that outlive a reload and that no script can read out. */
import type { Warning } from '../auth/strategy.ts'
import { generatePrivateKey } from '../crypto/private-key.ts'

export interface DpopKeyStoreOptions {
  /** Name of the database; default `stac-auth`. */
  readonly name?: string
  /** Default: the page's `indexedDB`. */
  readonly factory?: IDBFactory
  /** Hears once when keys last as long as the page only. */
  readonly onWarning?: (warning: Warning) => void
}

export interface DpopKeyStore {
  /**
   * For the field `dpopKeyPair` of an entry with `dpop: true`: gives the key of that name, made when it is first asked for (P-256,
   * `extractable: false`), the same one in all tabs. Where the browser has no database it is a key for this page.
   */
  pair(name: string): () => Promise<CryptoKeyPair>
  /** Removes the key: tokens that are bound to it are worth nothing then. */
  forget(name: string): Promise<void>
}

const STORE = 'keys'

/** Keeps keys in IndexedDB, as keys: their private halves cannot be written down anywhere. Works in workers too. */
export function dpopKeyStore({ name = 'stac-auth', factory, onWarning = () => {} }: DpopKeyStoreOptions = {}): DpopKeyStore {
  const pairs = new Map<string, Promise<CryptoKeyPair>>()
  let warned = false

  async function obtain(key: string): Promise<CryptoKeyPair> {
    const fresh = (await generatePrivateKey()).pair
    try {
      return await using(factory ?? indexedDB, name, (store, resolve) => keptOrAdded(store, key, fresh, resolve))
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
      await using<void>(factory ?? indexedDB, name, (store, resolve) => {
        store.delete(key)
        resolve()
      }).catch(() => {})
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

/** One transaction; its result counts once all of it is written. */
async function using<T>(factory: IDBFactory, name: string, work: (store: IDBObjectStore, resolve: (value: T) => void) => void): Promise<T> {
  const database = await opened(factory, name)
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite')
      let value: T
      transaction.oncomplete = () => resolve(value)
      transaction.onabort = () => reject(transaction.error)
      work(transaction.objectStore(STORE), (found) => {
        value = found
      })
    })
  } finally {
    database.close()
  }
}

function opened(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = factory.open(name, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
