/**
 * Browser storage: tokens in IndexedDB or session storage with the credentials that they belong to, and non-extractable keys for DPoP-bound
 * tokens (RFC 9449).
 */

import { KeyedMutex, type SessionStore, withMemoryFallback } from '../auth/session.ts'
import type { Warning } from '../auth/strategy.ts'
import { generatePrivateKey } from '../crypto/private-key.ts'
import { abortedBy, IntegrityError } from '../errors.ts'
import { needSecureContext } from './page.ts'
import { type Endings, type KeptCredential, type PageStore, readEndings, readKept, type Wallet, withEnding, withWallet } from './wallet.ts'

/** Options of `indexedDbStore`. */
export interface IndexedDbOptions extends DatabaseOptions {
  /** Called once when tokens are kept in memory only. */
  readonly onWarning?: (warning: Warning) => void
}

/**
 * Returns a store shared by all tabs and workers of the origin until a logout: they share one login and one refresh, and with
 * `createLiveAuth` the credentials that users add. IndexedDB is used because only its transactions are visible to other tabs at once.
 * Every script of the origin can read the store.
 *
 * Errors: `ABORTED` while waiting; `FILE_ACCESS` when tokens cannot be removed.
 *
 * @example createAuth({ credentials, session: indexedDbStore() })
 */
export function indexedDbStore({ onWarning, ...database }: IndexedDbOptions = {}): PageStore {
  const mutex = new KeyedMutex()
  const reserved = new Set<string>()

  async function use<T>(work: (store: IDBObjectStore, resolve: (value: T) => void) => void): Promise<T> {
    try {
      return await inTransaction(database, 'sessions', work)
    } catch {
      throw new IntegrityError('FILE_ACCESS', 'the database of this page is unavailable: it is full or disabled')
    }
  }

  const store: SessionStore = {
    shared: true,
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
  return withWallet(withMemoryFallback(store, onWarning), databaseWallet(database))
}

/** Key of the record of the logouts of everything; no id of a credential has a colon. */
const ENDINGS = ':endings'

function databaseWallet(database: DatabaseOptions): Wallet {
  const entries = () =>
    inTransaction<readonly KeptCredential[]>(database, 'credentials', (credentials, resolve) => {
      const all: IDBRequest<unknown[]> = credentials.getAll()
      all.onsuccess = () => resolve(all.result.flatMap((value) => readKept(value) ?? []))
    })
  return {
    keepsSecrets: true,
    entries,
    change: (id, next) =>
      inTransaction<void>(database, 'credentials', (credentials) => {
        const known: IDBRequest<unknown> = credentials.get(id)
        known.onsuccess = () => {
          const entry = next(readKept(known.result))
          if (entry) credentials.put(entry, id)
          else credentials.delete(id)
        }
      }),
    removeOrphans: () =>
      // One transaction: another tab may be storing a credential and its token.
      inTransaction<void>(database, ['credentials', 'sessions'], (credentials, _resolve, texts) => {
        const kept: IDBRequest<unknown[]> = credentials.getAll()
        kept.onsuccess = () => {
          const isOwned = ownersOf(kept.result.flatMap((value) => readKept(value) ?? []))
          const all = texts.getAllKeys()
          all.onsuccess = () => {
            for (const key of all.result) if (!isOwned(String(key))) texts.delete(key)
          }
        }
      }),
    endings: () =>
      inTransaction<Endings>(database, 'credentials', (credentials, resolve) => {
        const known: IDBRequest<unknown> = credentials.get(ENDINGS)
        known.onsuccess = () => resolve(readEndings(known.result))
      }),
    setEnding: (isUnderWay) =>
      inTransaction<void>(database, 'credentials', (credentials) => {
        const known: IDBRequest<unknown> = credentials.get(ENDINGS)
        known.onsuccess = () => credentials.put(withEnding(readEndings(known.result), isUnderWay), ENDINGS)
      }),
  }
}

/** Returns whether a stored text belongs to one of the credentials; the room reserved for a token belongs to the token. */
function ownersOf(entries: readonly KeptCredential[]): (key: string) => boolean {
  const owned = new Set(entries.flatMap(({ sessions }) => sessions))
  return (key) => owned.has(key.replace(/:room$/, ''))
}

/** Returns the key under which space is reserved for a text that is about to be written. */
function roomOf(key: string): string {
  return `${key}:room`
}

type PageStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Options of `sessionStorageStore`. */
export interface SessionStorageOptions {
  /** Default: `sessionStorage` of the page. */
  readonly storage?: PageStorage
  /** Called once when tokens are kept in memory only. */
  readonly onWarning?: (warning: Warning) => void
}

/**
 * Returns a store that lasts as long as the tab, across reloads and redirects, with the credentials that the user added, except those
 * with a secret (`createLiveAuth`). Every script of the origin can read it, so prefer memory
 * where the user can log in again. Web Locks, where the browser has them, serialize access between tabs. Tokens that cannot be stored are
 * kept in memory, with the warning `CACHE_MEMORY_ONLY`.
 *
 * Errors: `ABORTED` while waiting; `FILE_ACCESS` when tokens cannot be removed.
 *
 * @example createAuth({ credentials, session: sessionStorageStore() })
 */
export function sessionStorageStore({ storage, onWarning }: SessionStorageOptions = {}): PageStore {
  const mutex = new KeyedMutex()

  /** Runs work with the storage; reading the property `sessionStorage` throws where storage is disabled. */
  async function use<T>(work: (storage: PageStorage) => T): Promise<T> {
    try {
      return work(storage ?? sessionStorage)
    } catch {
      throw new IntegrityError('FILE_ACCESS', 'the session storage of this page is unavailable: it is full or disabled')
    }
  }

  const store: SessionStore = {
    read: (key) => use((texts) => texts.getItem(nameOf(key)) ?? undefined),
    write: (key, text) =>
      use((texts) => {
        texts.removeItem(sessionRoomOf(key))
        texts.setItem(nameOf(key), text)
      }),
    reserve: (key, length) => use((texts) => texts.setItem(sessionRoomOf(key), '.'.repeat(length))),
    remove: (key) => use((texts) => texts.removeItem(nameOf(key))),
    exclusively: (key, run, signal) => {
      const alone = () => run().finally(() => use((texts) => texts.removeItem(sessionRoomOf(key))).catch(() => undefined))
      return mutex.run(key, () => withWebLock(nameOf(key), alone, signal), signal)
    },
  }
  return withWallet(withMemoryFallback(store, onWarning), storageWallet(use))
}

/** One item has all credentials. */
const CREDENTIALS = 'stac-auth:credentials'

function storageWallet(use: <T>(work: (storage: PageStorage) => T) => Promise<T>): Wallet {
  const kept = (storage: PageStorage): { readonly entries: readonly KeptCredential[]; readonly endings: Endings } => {
    try {
      const { entries, endings } = JSON.parse(storage.getItem(CREDENTIALS) ?? '{}') as Readonly<Record<string, unknown>>
      return { entries: Array.isArray(entries) ? entries.flatMap((value) => readKept(value) ?? []) : [], endings: readEndings(endings) }
    } catch {
      return { entries: [], endings: readEndings(undefined) }
    }
  }
  const keep = (storage: PageStorage, changed: Partial<ReturnType<typeof kept>>) =>
    storage.setItem(CREDENTIALS, JSON.stringify({ ...kept(storage), ...changed }))
  return {
    keepsSecrets: false,
    entries: () => use((storage) => kept(storage).entries),
    change: (id, next) =>
      use((storage) => {
        const { entries } = kept(storage)
        const entry = next(entries.find(({ credential }) => credential.id === id))
        keep(storage, { entries: [...entries.filter(({ credential }) => credential.id !== id), ...(entry ? [entry] : [])] })
      }),
    removeOrphans: () =>
      use((storage) => {
        const isOwned = ownersOf(kept(storage).entries)
        for (const name of Object.keys(storage))
          if (IS_TOKEN.test(name) && !isOwned(name.slice(nameOf('').length))) storage.removeItem(name)
      }),
    endings: () => use((storage) => kept(storage).endings),
    setEnding: (isUnderWay) => use((storage) => keep(storage, { endings: withEnding(kept(storage).endings, isUnderWay) })),
  }
}

/** The name of a token, or of the room for one. */
const IS_TOKEN = /^stac-auth:[0-9a-f]{64}(?::room)?$/

function nameOf(key: string): string {
  return `stac-auth:${key}`
}

/** Returns the key under which space is reserved for a text that is about to be written. */
function sessionRoomOf(key: string): string {
  return `${nameOf(key)}:room`
}

/** Options of `dpopKeyStore`. */
export interface DpopKeyStoreOptions extends DatabaseOptions {
  /** Called once when keys are kept in memory only. */
  readonly onWarning?: (warning: Warning) => void
}

/** Keeps the keys of DPoP proofs (RFC 9449) in a page, where they cannot be exported. */
export interface DpopKeyStore {
  /**
   * Returns the key with that name, for the field `dpopKeyPair` of a credential with `dpop: true`. It is created on first use (P-256,
   * `extractable: false`) and shared by all tabs. Without a database the key lives as long as the page.
   *
   * Errors: `UNSUPPORTED_IN_BROWSER` in pages loaded over plain http.
   */
  pair(name: string): () => Promise<CryptoKeyPair>
  /** Removes the key. Tokens that are bound to it become unusable. */
  forget(name: string): Promise<void>
}

/**
 * Returns a store of keys in IndexedDB, as `CryptoKey` objects whose private part cannot be exported. Works in workers too.
 *
 * @example
 * const keys = dpopKeyStore()
 * const credential = openIdConnect({ issuer, clientId, dpop: true, dpopKeyPair: keys.pair('portal') }, 'https://data.example/')
 */
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

/** Stores the key unless another tab has stored one already: reading and writing are one transaction. */
function keptOrAdded(store: IDBObjectStore, key: string, fresh: CryptoKeyPair, resolve: (pair: CryptoKeyPair) => void): void {
  const known: IDBRequest<CryptoKeyPair | undefined> = store.get(key)
  known.onsuccess = () => {
    if (known.result === undefined) store.put(fresh, key)
    resolve(known.result ?? fresh)
  }
}

/** The name of the IndexedDB database of a store. */
export interface DatabaseOptions {
  /** Name of the database; default `stac-auth`. */
  readonly name?: string
  /** Default: the page's `indexedDB`. */
  readonly factory?: IDBFactory
}

/** Object stores of the database: DPoP keys, token sets, and the credentials of these. */
type StoreName = (typeof STORES)[number]

const STORES = ['keys', 'sessions', 'credentials'] as const

/** Runs one transaction; resolves when it is complete. Errors: those of the database. */
async function inTransaction<T>(
  { name = 'stac-auth', factory }: DatabaseOptions,
  names: StoreName | readonly [StoreName, StoreName],
  work: (store: IDBObjectStore, resolve: (value: T) => void, second: IDBObjectStore) => void,
): Promise<T> {
  const database = await opened(factory ?? indexedDB, name)
  try {
    return await new Promise<T>((resolve, reject) => {
      const [first, second = first] = typeof names === 'string' ? [names] : names
      const transaction = database.transaction([first, second], 'readwrite')
      let value: T
      transaction.oncomplete = () => resolve(value)
      transaction.onabort = () => reject(transaction.error)
      const resolved = (found: T) => {
        value = found
      }
      work(transaction.objectStore(first), resolved, transaction.objectStore(second))
    })
  } finally {
    database.close()
  }
}

function opened(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = factory.open(name, 2)
    request.onupgradeneeded = () => {
      for (const store of STORES) if (!request.result.objectStoreNames.contains(store)) request.result.createObjectStore(store)
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

/**
 * Runs `run` while no other tab holds the lock of that name. Web Locks exist in secure contexts only, and are refused where storage is
 * disabled; such pages share nothing with other tabs. Errors: those of `run`, `ABORTED`.
 */
async function withWebLock<T>(name: string, run: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
