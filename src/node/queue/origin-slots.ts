/** Limits per origin for all workers of a Redis server together: each request holds a slot there, which a worker that has died loses. */

import type { Redis } from 'ioredis'
import { KeyedMutex } from '../../auth/session.ts'
import type { AuthError } from '../../errors.ts'
import { onAbort, sleep, throwIfAborted } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'
import type { RequestLimiter } from '../download/download-context.ts'
import { KEY_PREFIX } from './queue-names.ts'

/** Milliseconds after which a slot that is not refreshed is free, and between two refreshes. */
const [LEASE, REFRESHED] = [10_000, 2500]

/** Milliseconds after which a slot is asked for again, on average, while all are taken. */
const AGAIN = 50

/** Limits of one origin, from the latest job. */
export interface SharedLimits {
  readonly perHost: number
  /** Requests per second. */
  readonly rate?: number
}

/** The clock of the server in microseconds. */
const NOW = `local t = redis.call('TIME'); local now = t[1] * 1000000 + t[2]`

/**
 * Takes a slot. Returns 0, or the milliseconds until the end of a pause or the next time of the rate, or -1 if all slots are taken. A lowered
 * limit rises by one after 20 successes. What needs memory comes first: a full server refuses it only before anything was written.
 */
const TAKE = `
${NOW}
local me, limit, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local interval, successes = tonumber(ARGV[4]), tonumber(ARGV[5])
local cap = math.min(limit, tonumber(redis.call('HGET', KEYS[2], 'cap') or limit))
if cap < limit and successes > 0 then
  local counted = redis.call('HINCRBY', KEYS[2], 'successes', successes)
  local more = math.floor(counted / 20)
  cap = math.min(limit, cap + more)
  redis.call('HSET', KEYS[2], 'cap', cap, 'successes', counted - more * 20)
end
local pause = redis.call('PTTL', KEYS[3])
if pause > 0 then return pause end
if redis.call('ZCOUNT', KEYS[1], now, '+inf') >= cap then return -1 end
if interval > 0 then
  local at = tonumber(redis.call('GET', KEYS[4]) or 0)
  if at > now then return math.ceil((at - now) / 1000) end
  redis.call('SET', KEYS[4], string.format('%.0f', now + interval), 'PX', math.ceil(interval / 1000) + 1000)
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + lease * 1000), me)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], lease * 2)
return 0`

/** Refreshes slots that are still held. */
const REFRESH = `
${NOW}
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', string.format('%.0f', now + ARGV[1] * 1000), ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1] * 2)`

/** Halves the limit, at most once a second, and pauses the origin. */
const REFUSED = `
local pause, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
if pause > math.max(0, redis.call('PTTL', KEYS[2])) then redis.call('SET', KEYS[2], 1, 'PX', pause) end
if redis.call('SET', KEYS[3], 1, 'NX', 'PX', 1000) then
  local cap = math.min(limit, tonumber(redis.call('HGET', KEYS[1], 'cap') or limit))
  redis.call('HSET', KEYS[1], 'cap', math.max(1, math.floor(cap / 2)), 'successes', 0)
  redis.call('PEXPIRE', KEYS[1], 600000)
end`

/** What this worker has of an origin. */
interface Held {
  /** Names of its slots. */
  readonly slots: Set<string>
  /** Successes that the server does not know yet. */
  successes: number
  /** Ends the wait of the next request. */
  wake: () => void
}

export class OriginSlots implements RequestLimiter {
  readonly #redis: Redis
  readonly #worker: string
  readonly #meaning: (error: unknown) => AuthError
  readonly #origins = new Map<string, Held>()
  /** One request of an origin asks for a slot at a time, in their order. */
  readonly #turns = new KeyedMutex()
  readonly #timer: NodeJS.Timeout
  #limits: SharedLimits = { perHost: 8 }
  #count = 0

  /**
   * @param worker a name that no other process has
   * @param meaning converts an error of Redis
   */
  constructor(redis: Redis, worker: string, meaning: (error: unknown) => AuthError) {
    this.#redis = redis
    this.#worker = worker
    this.#meaning = meaning
    this.#timer = setInterval(() => this.#refresh(), REFRESHED).unref()
  }

  /** Sets the limits of a job. */
  set limits(limits: SharedLimits) {
    this.#limits = limits
  }

  /** Waits for a slot, for the rate limit and for `Retry-After`. Call `leave` afterwards. Errors: `ABORTED`, those of Redis. */
  enter(origin: string, signal?: AbortSignal): Promise<void> {
    return this.#turns.run(origin, () => this.#take(origin, signal), signal)
  }

  leave(origin: string): void {
    const held = this.#heldOf(origin)
    const [slot = ''] = held.slots
    held.slots.delete(slot)
    // The slot of a lost command is free when its lease ends.
    void this.#redis
      .zrem(keyOf(origin, 'slots'), slot)
      .catch(() => 0)
      .then(() => held.wake())
  }

  succeeded(origin: string): void {
    this.#heldOf(origin).successes++
  }

  /** Halves the limit of all workers, and lets none of them start a request for that many milliseconds. */
  refused(origin: string, milliseconds: number): void {
    const keys = keysOf(origin, 'cap', 'pause', 'halved')
    this.#redis.eval(REFUSED, 3, ...keys, Math.ceil(milliseconds), this.#limits.perHost).catch(() => undefined)
  }

  /** Gives all slots back. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const [origin, { slots }] of this.#origins)
      if (slots.size > 0) await this.#redis.zrem(keyOf(origin, 'slots'), ...slots).catch(() => 0)
  }

  #heldOf(origin: string): Held {
    const held = this.#origins.get(origin) ?? { slots: new Set<string>(), successes: 0, wake: () => {} }
    this.#origins.set(origin, held)
    return held
  }

  async #take(origin: string, signal: AbortSignal | undefined): Promise<void> {
    const held = this.#heldOf(origin)
    const slot = `${this.#worker}:${++this.#count}`
    for (;;) {
      throwIfAborted(signal)
      const end = new AbortController()
      held.wake = () => end.abort()
      const wait = await this.#ask(origin, slot, held)
      if (wait === 0) {
        held.slots.add(slot)
        return
      }
      const forget = signal && onAbort(signal, held.wake)
      // A slot of this worker that is free ends the wait.
      await sleep(wait > 0 ? wait : AGAIN * (0.5 + Math.random()), systemClock(), end.signal).catch(() => undefined)
      forget?.()
    }
  }

  async #ask(origin: string, slot: string, held: Held): Promise<number> {
    const { perHost, rate } = this.#limits
    const { successes } = held
    held.successes = 0
    const interval = rate === undefined ? 0 : Math.round(1_000_000 / rate)
    const keys = keysOf(origin, 'slots', 'cap', 'pause', 'next')
    try {
      return Number(await this.#redis.eval(TAKE, 4, ...keys, slot, perHost, LEASE, interval, successes))
    } catch (error) {
      throw this.#meaning(error)
    }
  }

  #refresh(): void {
    for (const [origin, { slots }] of this.#origins)
      if (slots.size > 0) this.#redis.eval(REFRESH, 1, keyOf(origin, 'slots'), LEASE, ...slots).catch(() => undefined)
  }
}

function keysOf(origin: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => keyOf(origin, name))
}

function keyOf(origin: string, name: string): string {
  return `${KEY_PREFIX}:limits:${origin}:${name}`
}
