/**
 * Limits per origin for all workers of a Redis server together. Each worker holds slots, and starts no more requests than it holds. A
 * script in Redis assigns free slots and returns how many each worker may keep, so the sum never exceeds the limit.
 */

import type { Redis } from 'ioredis'
import { type AuthError, abortedBy } from '../../errors.ts'
import { onAbort, sleep, throwIfAborted } from '../../net/cancellation.ts'
import { type Clock, systemClock } from '../../net/clock.ts'
import { refusedWrite } from '../base/redis-connection.ts'
import type { RequestLimiter } from '../download/download-context.ts'
import { KEY_PREFIX } from './job-queue.ts'

/** Milliseconds after which the slots of a worker that does not refresh them are free. */
const LEASE = 10_000

/** Milliseconds between two refreshes, and while requests wait for a slot. */
const [REFRESHED, HURRIED] = [250, 50]

/** Largest concurrency limit that a job may set. */
const MOST = 256

/** Limits of one origin, from the latest job. */
export interface SharedLimits {
  readonly perHost: number
  /** Requests per second. */
  readonly rate?: number
}

/** The clock of the server in microseconds. */
const NOW = `local t = redis.call('TIME'); local now = t[1] * 1000000 + t[2]`

/**
 * Refreshes the slots of a worker, and returns how many it holds, how many it should hold, and the milliseconds of a pause. Slots are
 * shared fairly: no worker gets more than another one that needs more.
 */
const SHARE_SLOTS = `
${NOW}
local me, held, wants, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local lease, successes = tonumber(ARGV[5]) * 1000, tonumber(ARGV[6])
local cap = math.min(limit, tonumber(redis.call('HGET', KEYS[2], 'cap') or limit))
if cap < limit and successes > 0 then
  local counted = redis.call('HINCRBY', KEYS[2], 'successes', successes)
  local more = math.floor(counted / 20)
  if more > 0 then
    cap = math.min(limit, cap + more)
    redis.call('HSET', KEYS[2], 'cap', cap, 'successes', counted - more * 20)
  end
end
local names, want, others, most = {}, {}, 0, wants
if wants > 0 then names[1] = me; want[me] = wants end
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local h, w, till = string.match(all[i + 1], '^(%d+) (%d+) (%d+)$')
  if all[i] == me then
  elseif not till or tonumber(till) < now then redis.call('HDEL', KEYS[1], all[i])
  else
    others = others + tonumber(h)
    w = math.min(tonumber(w), limit)
    if w > 0 then names[#names + 1] = all[i]; want[all[i]] = w; most = math.max(most, w) end
  end
end
table.sort(names)
local level, sum = 0, 0
while level < most do
  local next = 0
  for _, name in ipairs(names) do next = next + math.min(want[name], level + 1) end
  if next > cap then break end
  level = level + 1
  sum = next
end
local left, target = cap - sum, 0
for _, name in ipairs(names) do
  local share = math.min(want[name], level)
  if want[name] > level and left > 0 then share = share + 1; left = left - 1 end
  if name == me then target = share end
end
if held < target then held = math.max(held, math.min(target, cap - others)) end
if held == 0 and wants == 0 then redis.call('HDEL', KEYS[1], me)
else
  redis.call('HSET', KEYS[1], me, string.format('%d %d %.0f', held, wants, now + lease))
  redis.call('PEXPIRE', KEYS[1], ARGV[5] * 2)
end
return { held, target, math.max(0, redis.call('PTTL', KEYS[3])) }`

/** Reserves the time of a request, and returns the milliseconds until then. */
const TAKE = `
${NOW}
local at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
local pause = redis.call('PTTL', KEYS[2])
if pause > 0 then at = math.max(at, now + pause * 1000) end
local next = at + tonumber(ARGV[1])
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000) + 1000)
return math.ceil((at - now) / 1000)`

/** Halves the limit, at most once a second, and pauses the origin. */
const REFUSED = `
local pause, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
if pause > math.max(0, redis.call('PTTL', KEYS[2])) then redis.call('SET', KEYS[2], 1, 'PX', pause) end
if redis.call('SET', KEYS[3], 1, 'NX', 'PX', 1000) then
  local cap = math.min(limit, tonumber(redis.call('HGET', KEYS[1], 'cap') or limit))
  redis.call('HSET', KEYS[1], 'cap', math.max(1, math.floor(cap / 2)), 'successes', 0)
  redis.call('PEXPIRE', KEYS[1], 600000)
end
return math.max(0, redis.call('PTTL', KEYS[2]))`

interface WaitingRequest {
  enter(): void
  refuse(reason: AuthError): void
}

/** The slots of this worker for one origin. */
interface Slots {
  readonly origin: string
  /** Slots that may be used. */
  held: number
  active: number
  readonly waiting: WaitingRequest[]
  successes: number
  pausedUntil: number
  /** Time of the last refresh. */
  refreshedAt: number
  isRefreshing: boolean
  timer: NodeJS.Timeout | undefined
}

/** Limits the requests of this process to its share. */
export class OriginSlots implements RequestLimiter {
  readonly #redis: Redis
  readonly #worker: string
  readonly #meaning: (error: unknown) => AuthError
  readonly #clock: Clock
  readonly #origins = new Map<string, Slots>()
  #limits: SharedLimits = { perHost: 8 }
  #isClosed = false

  /**
   * @param worker a name that no other process has
   * @param meaning converts an error of Redis
   */
  constructor(redis: Redis, worker: string, meaning: (error: unknown) => AuthError, clock = systemClock()) {
    this.#redis = redis
    this.#worker = worker
    this.#meaning = meaning
    this.#clock = clock
  }

  /** Sets the limits of a job. */
  set limits({ perHost, rate }: SharedLimits) {
    this.#limits = { perHost: Math.min(perHost, MOST), ...(rate !== undefined && { rate }) }
  }

  /**
   * Waits for a slot, then for the rate limit and `Retry-After`. Call `leave` afterwards. Errors: `ABORTED`; `NETWORK_FAILED` when Redis
   * accepts no writes.
   */
  enter(origin: string, signal?: AbortSignal): void | Promise<void> {
    const slots = this.#slotsOf(origin)
    const isFree = this.#isUsable(slots) && slots.waiting.length === 0
    if (isFree) slots.active++
    if (!isFree || this.#limits.rate !== undefined) return this.#waitFor(slots, isFree, signal)
  }

  leave(origin: string): void {
    const slots = this.#slotsOf(origin)
    slots.active--
    this.#admit(slots)
  }

  succeeded(origin: string): void {
    this.#slotsOf(origin).successes++
  }

  /** Halves the limit of all workers, and lets none of them start a request for that many milliseconds. */
  refused(origin: string, milliseconds: number): void {
    const slots = this.#slotsOf(origin)
    slots.pausedUntil = Math.max(slots.pausedUntil, this.#clock.now() + milliseconds)
    const [cap, pause, halved] = ['cap', 'pause', 'halved'].map((name) => keyOf(origin, name)) as [string, string, string]
    this.#redis.eval(REFUSED, 3, cap, pause, halved, Math.ceil(milliseconds), this.#limits.perHost).catch(() => undefined)
  }

  /** Gives all slots back. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const slots of this.#origins.values()) {
      clearTimeout(slots.timer)
      await this.#redis.hdel(keyOf(slots.origin, 'slots'), this.#worker).catch(() => 0)
    }
  }

  #slotsOf(origin: string): Slots {
    const known = this.#origins.get(origin)
    if (known) return known
    const never = Number.NEGATIVE_INFINITY
    const slots = { origin, held: 0, active: 0, waiting: [], successes: 0, pausedUntil: never, refreshedAt: never, isRefreshing: false }
    const made: Slots = { ...slots, timer: undefined }
    this.#origins.set(origin, made)
    return made
  }

  /** Slots that were not refreshed in time may belong to another worker. */
  #isUsable({ held, active, refreshedAt, pausedUntil }: Slots): boolean {
    const now = this.#clock.now()
    return active < held && now - refreshedAt < LEASE * 0.8 && now >= pausedUntil
  }

  async #waitFor(slots: Slots, isIn: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (!isIn) await this.#queued(slots, signal)
    try {
      await this.#atRate(slots, signal)
    } catch (error) {
      this.leave(slots.origin)
      throw error
    }
  }

  #queued(slots: Slots, signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      throwIfAborted(signal)
      const aborted = () => {
        const place = slots.waiting.indexOf(waiting)
        if (place >= 0) slots.waiting.splice(place, 1)
        reject(abortedBy(signal as AbortSignal))
      }
      const forget = signal && onAbort(signal, aborted)
      const waiting: WaitingRequest = {
        enter: () => {
          forget?.()
          resolve()
        },
        refuse: (reason) => {
          forget?.()
          reject(reason)
        },
      }
      slots.waiting.push(waiting)
      void this.#refresh(slots)
    })
  }

  /** Waits for the rate limit, and for a `Retry-After` that arrives in the meantime. */
  async #atRate({ origin }: Slots, signal: AbortSignal | undefined): Promise<void> {
    const { rate } = this.#limits
    if (rate === undefined) return
    const [next, pause] = [keyOf(origin, 'next'), keyOf(origin, 'pause')]
    const taken = this.#redis.eval(TAKE, 2, next, pause, Math.round(1_000_000 / rate))
    let wait = Number(
      await taken.catch((error) => {
        throw this.#meaning(error)
      }),
    )
    for (; wait > 0; wait = Math.max(0, await this.#redis.pttl(pause))) await sleep(wait, this.#clock, signal)
  }

  #admit(slots: Slots): void {
    while (slots.waiting.length > 0 && this.#isUsable(slots)) {
      slots.active++
      slots.waiting.shift()?.enter()
    }
  }

  /** Refreshes the slots now, and later while they are needed. */
  async #refresh(slots: Slots): Promise<void> {
    if (slots.isRefreshing || this.#isClosed) return
    slots.isRefreshing = true
    clearTimeout(slots.timer)
    const { origin, active, waiting } = slots
    const wants = Math.min(active + waiting.length, this.#limits.perHost)
    // No other worker may use the slots of requests in progress.
    const held = Math.max(slots.held, active)
    const successes = slots.successes
    slots.successes = 0
    const keys = ['slots', 'cap', 'pause'].map((name) => keyOf(origin, name)) as [string, string, string]
    const asked = this.#clock.now()
    try {
      const answer = await this.#redis.eval(SHARE_SLOTS, 3, ...keys, this.#worker, held, wants, this.#limits.perHost, LEASE, successes)
      const [allowed = 0, target = 0, pause = 0] = (answer as unknown[]).map(Number)
      slots.held = Math.min(allowed, target)
      slots.refreshedAt = asked
      slots.pausedUntil = Math.max(slots.pausedUntil, this.#clock.now() + pause)
    } catch (error) {
      // Without the server no slot is used after the lease; the next refresh tries again.
      if (refusedWrite(error) !== undefined) for (const waiter of slots.waiting.splice(0)) waiter.refuse(this.#meaning(error))
    }
    slots.isRefreshing = false
    this.#admit(slots)
    // The server has removed a worker that has no slot and needs none.
    if (held === 0 && wants === 0 && slots.active === 0 && slots.waiting.length === 0) this.#origins.delete(origin)
    else this.#refreshLater(slots)
  }

  #refreshLater(slots: Slots): void {
    if (this.#isClosed) return
    const isPaused = this.#clock.now() < slots.pausedUntil
    const isShort = slots.waiting.length > 0 && slots.active >= slots.held
    slots.timer = setTimeout(() => void this.#refresh(slots), isPaused || isShort ? HURRIED : REFRESHED)
    slots.timer.unref()
  }
}

function keyOf(origin: string, name: string): string {
  return `${KEY_PREFIX}:limits:${origin}:${name}`
}
