/** One small database of IndexedDB for what has to outlive a page, and be the same in all tabs. */

export interface DatabaseOptions {
  /** Name of the database; default `stac-auth`. */
  readonly name?: string
  /** Default: the page's `indexedDB`. */
  readonly factory?: IDBFactory
}

/** What it holds: keys for bound tokens, and token sets. */
export type StoreName = (typeof STORES)[number]

const STORES = ['keys', 'sessions'] as const

/** One transaction; its result counts once all of it is written. Errors: those of the database. */
export async function inTransaction<T>(
  { name = 'stac-auth', factory }: DatabaseOptions,
  storeName: StoreName,
  work: (store: IDBObjectStore, resolve: (value: T) => void) => void,
): Promise<T> {
  const database = await opened(factory ?? indexedDB, name)
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(storeName, 'readwrite')
      let value: T
      transaction.oncomplete = () => resolve(value)
      transaction.onabort = () => reject(transaction.error)
      work(transaction.objectStore(storeName), (found) => {
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
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store)
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
