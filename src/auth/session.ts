/**
 * Values shared by many requests: tokens, signed URLs. In a session, one request per key is in flight, and a value is dropped only if it is
 * still current; a token store keeps tokens for later programs.
 */
import { AbortedError, type AuthError, CredentialError, isAuthError } from '../errors.ts'
import { throwIfAborted, unlessAborted } from '../net/cancellation.ts'
import type { Clock } from '../net/clock.ts'
import type { Credential } from './credential.ts'
import { refreshTime, reserveIn, type Warning } from './strategy.ts'

/** A value and its expiry in epoch milliseconds (absent: unknown, used until refused). */
export interface CacheEntry<T = unknown> {
  /** The value. */
  readonly value: T
  /** Epoch milliseconds; absent when unknown. */
  readonly expiresAt?: number
  /** When to obtain a new one; default: 10 % of its lifetime before it expires, at most 5 minutes. */
  readonly refreshAt?: number
}

/** The session of one credential. Keys contain everything that the value depends on. */
export interface Session {
  /** How long values must stay valid, in milliseconds, as far as their lifetime allows. */
  readonly minValidity: number
  /** Returns the value when it exists and does not expire soon. */
  get<T>(key: string): CacheEntry<T> | undefined
  /**
   * Returns the value; when it is missing or expires soon, `obtain` runs once for all waiting callers. Its signal is aborted when none of
   * them waits any more.
   */
  resolve<T>(key: string, obtain: (signal: AbortSignal) => Promise<CacheEntry<T>>): Promise<CacheEntry<T>>
  /** Removes the value if it is still the current one. */
  invalidate(key: string, value: unknown): void
}

interface Flight {
  /** The value, once it was obtained. */
  readonly promise: Promise<CacheEntry>
  /** Aborts the request for it. */
  readonly controller: AbortController
  /** Ends the wait of all callers. */
  readonly end: (reason: AuthError) => void
  /** Number of callers that wait. */
  waiting: number
}

const MAX_ENTRIES = 10_000
/** The state that engines keep in memory, shared by engines that replace each other while a program runs. */
export interface EngineMemory {
  readonly sessions: MemorySessions
  /** For tokens that must not be stored. */
  readonly store: SessionStore
  /** Ids of credentials that were removed from this engine: requests that are under way send them no further. */
  readonly removed: Pick<ReadonlySet<string>, 'has'>
  /** Ids of credentials whose tokens are kept in memory, because a later program would not have the credential itself. */
  readonly unstored: Pick<ReadonlySet<string>, 'has'>
}

export function engineMemory(clock: Clock, minValidity?: number): EngineMemory {
  return { sessions: new MemorySessions(clock, minValidity), store: memoryStore(), removed: new Set(), unstored: new Set() }
}

/** Keeps values in memory, at most the 10 000 most recently used. */
export class MemorySessions {
  readonly #entries = new Map<string, CacheEntry & { refreshAt: number }>()
  readonly #flights = new Map<string, Flight>()
  readonly #clock: Clock
  readonly #minValidity: number

  constructor(clock: Clock, minValidity = 0) {
    this.#clock = clock
    this.#minValidity = minValidity
  }

  /** Returns the session of one credential for one call: separate keys, and the caller's signal ends its waits. */
  view(credential: string, signal?: AbortSignal): Session {
    const full = (key: string) => `${credential} ${key}`
    return {
      minValidity: this.#minValidity,
      get: <T>(key: string) => this.#current(full(key)) as CacheEntry<T> | undefined,
      resolve: <T>(key: string, obtain: (signal: AbortSignal) => Promise<CacheEntry<T>>) =>
        this.#resolve(full(key), obtain, signal) as Promise<CacheEntry<T>>,
      invalidate: (key, value) => {
        if (this.#entries.get(full(key))?.value === value) this.#entries.delete(full(key))
      },
    }
  }

  /** Removes all values of a credential; requests that wait for one fail with `LOGIN_REQUIRED`, unsent. */
  forget(credential: string): void {
    for (const { controller, end } of this.renew(credential)) {
      end(loggedOut(credential))
      controller.abort()
    }
  }

  /** Lets requests from now on obtain the values of a credential anew; returns what others still wait for. */
  renew(credential: string): readonly Flight[] {
    const isOwn = (key: string) => key.startsWith(`${credential} `)
    for (const key of this.#entries.keys()) if (isOwn(key)) this.#entries.delete(key)
    const flights = [...this.#flights].filter(([key]) => isOwn(key))
    for (const [key] of flights) this.#flights.delete(key)
    return flights.map(([, flight]) => flight)
  }

  #current(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    if (!entry || this.#clock.now() >= entry.refreshAt) return undefined
    // A Map iterates in insertion order: reinserting marks a value as most recently used.
    if (this.#entries.size > MAX_ENTRIES / 2) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry
  }

  /** Returns a value that is due for refresh and has not expired: usable when the refresh fails. */
  #living(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    return entry?.expiresAt !== undefined && this.#clock.now() < entry.expiresAt ? entry : undefined
  }

  async #resolve(key: string, obtain: (signal: AbortSignal) => Promise<CacheEntry>, signal?: AbortSignal): Promise<CacheEntry> {
    if (signal?.aborted) throw new AbortedError(signal.reason)
    const flight = this.#current(key) ?? this.#flights.get(key) ?? this.#start(key, obtain)
    return 'promise' in flight ? this.#join(key, flight, signal) : flight
  }

  #start(key: string, obtain: (signal: AbortSignal) => Promise<CacheEntry>): Flight {
    const controller = new AbortController()
    const started = this.#clock.now()
    let end: Flight['end'] = () => {}
    const ended = new Promise<never>((_resolve, reject) => {
      end = reject
    })
    const obtained = obtain(controller.signal)
      .then((entry) => {
        if (this.#flights.get(key) === flight) this.#keep(key, entry, started)
        return entry
      })
      .catch((error: unknown) => {
        const living = this.#living(key)
        if (living) return living
        throw error
      })
      .finally(() => {
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
      })
    const flight: Flight = { promise: Promise.race([obtained, ended]), controller, end, waiting: 0 }
    this.#flights.set(key, flight)
    return flight
  }

  /** Waits for one caller. The shared request is aborted only when nobody waits for it any more. */
  #join(key: string, flight: Flight, signal?: AbortSignal): Promise<CacheEntry> {
    flight.waiting++
    if (!signal) return flight.promise
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(new AbortedError(signal.reason))
        if (--flight.waiting > 0) return
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
        flight.controller.abort(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      flight.promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    })
  }

  #keep(key: string, entry: CacheEntry, started: number): void {
    const { expiresAt = Number.POSITIVE_INFINITY } = entry
    const due = refreshTime(started, expiresAt, this.#minValidity)
    const refreshAt = Math.min(entry.refreshAt ?? due, this.#minValidity > 0 ? due : Number.POSITIVE_INFINITY)
    this.#entries.delete(key)
    this.#entries.set(key, { ...entry, refreshAt })
    if (this.#entries.size <= MAX_ENTRIES) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }
}

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
  /** True for a store that other tabs or processes use as well. */
  readonly shared?: boolean
  /** Returns the store for tokens of that credential, where the store remembers whose tokens it has. */
  of?(credential: Credential): SessionStore
  /**
   * Runs `run` while no other caller, in this process or another, runs for the same key; must not be called from inside `run`. Where
   * processes can be killed, a `run` of more than a minute may overlap with another. Errors: those of `run`, `ABORTED`.
   *
   * @param meanwhile may be called at intervals while others run; a result other than undefined is returned without `run`
   */
  exclusively<T>(key: string, run: () => Promise<T>, signal?: AbortSignal, meanwhile?: () => Promise<T | undefined>): Promise<T>
}

function loggedOut(credential: string): CredentialError {
  return new CredentialError('LOGIN_REQUIRED', `"${credential}" was logged out while the request waited for its token. Nothing was sent`, {
    credential,
  })
}

/** A store, and the key of one value in it. */
export interface StorePlace {
  readonly store: SessionStore
  readonly key: string
}

/**
 * Returns a store in memory, which lasts as long as the process or page and is not shared. Errors: `ABORTED` while waiting.
 *
 * @example createAuth({ credentials, session: memoryStore() })
 */
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
    ...(store.shared && { shared: true }),
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
    exclusively: async (key, run, signal, meanwhile) => {
      let begun = false
      const begin = () => {
        begun = true
        return run()
      }
      try {
        return await store.exclusively(key, begin, signal, meanwhile)
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

/** Runs one function at a time per key, in the order of the calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs the function after all earlier ones of that key. Errors: those of `run`; the signal's while waiting. */
  async run<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    throwIfAborted(signal)
    const before = this.#last.get(key)
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    // A caller that aborts keeps its position: the next one waits for those before it.
    const last = before ? before.then(() => left) : left
    this.#last.set(key, last)
    void last.then(() => {
      if (this.#last.get(key) === last) this.#last.delete(key)
    })
    try {
      if (before) await unlessAborted(before, signal)
      return await run()
    } finally {
      leave()
    }
  }
}
