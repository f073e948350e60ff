/** Values that many requests share: tokens, signed addresses. One flight per key, dropped only if still current. */
import { AbortedError } from '../errors.ts'
import type { Clock } from '../net/clock.ts'

/** A value and its end in epoch milliseconds (absent: unknown, use until refused). */
export interface CacheEntry<T = unknown> {
  readonly value: T
  readonly expiresAt?: number
  /** When to obtain a new one; by default 10 % of its life before the end, at most 5 minutes. */
  readonly renewAt?: number
}

/** One credential's view of the session. Keys name everything that the value depends on. */
export interface Session {
  /** The value when it is there and not about to end. */
  get<T>(key: string): CacheEntry<T> | undefined
  /** The value; when it is missing or about to end, `obtain` is run once for all who wait. */
  resolve<T>(key: string, obtain: (signal: AbortSignal) => Promise<CacheEntry<T>>): Promise<CacheEntry<T>>
  /** Drops the value if it is still that one. */
  invalidate(key: string, value: unknown): void
}

interface Flight {
  readonly promise: Promise<CacheEntry>
  readonly controller: AbortController
  waiting: number
}

const MAX_ENTRIES = 10_000
const MAX_MARGIN = 5 * 60_000

/** Keeps values in memory, the 10 000 that were used last. */
export class MemorySessions {
  readonly #entries = new Map<string, CacheEntry & { renewAt: number }>()
  readonly #flights = new Map<string, Flight>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The view of one credential, for one call: its keys are its own, its waiting ends with the caller's signal. */
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
    if (!entry || this.#clock.now() >= entry.renewAt) return undefined
    // The order of a map is that of insertion: what is used becomes the youngest.
    if (this.#entries.size > MAX_ENTRIES / 2) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry
  }

  /** A value that should be renewed but has not ended: good enough when the renewal fails. */
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

  /** One caller's wait. The flight itself ends only when nobody waits for it any more. */
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
    const renewAt = entry.renewAt ?? expiresAt - Math.min(MAX_MARGIN, (expiresAt - started) / 10)
    this.#entries.delete(key)
    this.#entries.set(key, { ...entry, renewAt })
    if (this.#entries.size <= MAX_ENTRIES) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }
}
