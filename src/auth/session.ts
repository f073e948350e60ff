/** Values shared by many requests: tokens, signed URLs. One request per key is in flight; a value is dropped only if it is still current. */
import { AbortedError } from '../errors.ts'
import type { Clock } from '../net/clock.ts'

/** A value and its expiry in epoch milliseconds (absent: unknown, used until refused). */
export interface CacheEntry<T = unknown> {
  readonly value: T
  readonly expiresAt?: number
  /** When to obtain a new one; default: 10 % of its lifetime before it expires, at most 5 minutes. */
  readonly refreshAt?: number
}

/** The session of one credential. Keys contain everything that the value depends on. */
export interface Session {
  /** Returns the value when it exists and does not expire soon. */
  get<T>(key: string): CacheEntry<T> | undefined
  /** Returns the value; when it is missing or expires soon, `obtain` runs once for all waiting callers. */
  resolve<T>(key: string, obtain: (signal: AbortSignal) => Promise<CacheEntry<T>>): Promise<CacheEntry<T>>
  /** Removes the value if it is still the current one. */
  invalidate(key: string, value: unknown): void
}

interface Flight {
  readonly promise: Promise<CacheEntry>
  readonly controller: AbortController
  waiting: number
}

const MAX_ENTRIES = 10_000
const MAX_MARGIN = 5 * 60_000

/** Keeps values in memory, at most the 10 000 most recently used. */
export class MemorySessions {
  readonly #entries = new Map<string, CacheEntry & { refreshAt: number }>()
  readonly #flights = new Map<string, Flight>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the session of one credential for one call: separate keys, and the caller's signal ends its waits. */
  view(credential: string, signal?: AbortSignal): Session {
    const full = (key: string) => `${credential} ${key}`
    return {
      get: <T>(key: string) => this.#current(full(key)) as CacheEntry<T> | undefined,
      resolve: <T>(key: string, obtain: (signal: AbortSignal) => Promise<CacheEntry<T>>) =>
        this.#resolve(full(key), obtain, signal) as Promise<CacheEntry<T>>,
      invalidate: (key, value) => {
        if (this.#entries.get(full(key))?.value === value) this.#entries.delete(full(key))
      },
    }
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
    const promise = obtain(controller.signal)
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
    const flight: Flight = { promise, controller, waiting: 0 }
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
    const refreshAt = entry.refreshAt ?? expiresAt - Math.min(MAX_MARGIN, (expiresAt - started) / 10)
    this.#entries.delete(key)
    this.#entries.set(key, { ...entry, refreshAt })
    if (this.#entries.size <= MAX_ENTRIES) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }
}
