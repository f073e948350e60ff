/**
 * Locks between processes, on one host or on several: leases. A lock is a file that is created exclusively. Its holder updates it every
 * {@link BEAT}; the file system's clock records the time. A lock that was not updated for {@link LEASE} is taken over, and the lock of a
 * process that is known to have exited is taken over at once.
 *
 * A process that removes a lock, its holder or one that finds it abandoned, first takes a second lock named after the id of the first. So
 * only one process removes a lock, and never a lock that replaced it in the meantime. A holder that was suspended for longer than its
 * lease detects that before it writes again: {@link Lease.isFresh}, {@link Lease.confirm}.
 */

import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { link, lstat, open, unlink } from 'node:fs/promises'
import { abortedBy } from '../../errors.ts'
import { sleep } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'
import { renameWhenFree, whenFree } from './files.ts'
import { type LockHolder, newHolder, type ProcessIdentity, parseHolder, stateOf } from './lock-holder.ts'
import { readOwnFile } from './own-file.ts'
import { systemCode, writeFailure } from './system-error.ts'

/** Milliseconds without a heartbeat after which a lock may be taken over, whatever the state of its process. */
const LEASE = 60_000

/** Milliseconds between two heartbeats. */
const BEAT = 10_000

const MAX_BYTES = 4096

/** Milliseconds after which an empty lock counts as abandoned: its process was killed while creating it. */
const WRITTEN_WITHIN = 2000

/** Poll interval in milliseconds while a lock is held; up to half of it is random. */
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [10, 250]

const { O_NOFOLLOW = 0, O_RDWR } = constants

/** A lock that this process holds. */
export interface Lease {
  /** True when the previous holder did not release the lock: its work may be incomplete. */
  readonly isTakenOver: boolean
  /** Returns true while no other process can have taken the lock over; does not access the file. */
  readonly isFresh: boolean
  /** Sends a heartbeat and returns whether the lock is still held: if not, another process may hold it. */
  confirm(): Promise<boolean>
  /** Removes the lock if it is still held. Does not throw. */
  release(): Promise<void>
}

export interface LeaseOptions {
  /** Milliseconds without a heartbeat after which a lock may be taken over; default 60 000. */
  readonly lease?: number
  /** Heartbeat interval in milliseconds; default 10 000. */
  readonly beat?: number
  /** Default: this process. */
  readonly self?: ProcessIdentity
  /** The file that the lock is for, which errors of the lock name: users do not know the lock. Default: the lock. */
  readonly file?: string
}

/** How to wait for a lock whose holder may or may not be alive. */
export interface WaitOptions extends LeaseOptions {
  /** Aborts waiting. Absent: does not wait. */
  readonly signal?: AbortSignal
  /** Called when waiting starts, with the maximum in milliseconds. */
  readonly onWait?: (longest: number) => void
}

/**
 * Takes the lock as soon as it is free or abandoned.
 *
 * Errors: that of the signal while waiting; `FILE_ACCESS` or `DISK_FULL` when the lock cannot be written; `CACHE_UNSAFE` when the file is
 * not a lock.
 */
export async function takeLock(path: string, signal: AbortSignal, options?: LeaseOptions): Promise<Lease>
/** Takes the lock; while another process holds it, looks for a result of `meanwhile`, which makes the lock unnecessary. */
export async function takeLock<T>(
  path: string,
  signal: AbortSignal,
  options: LeaseOptions & { readonly meanwhile?: () => Promise<T | undefined> },
): Promise<Lease | { readonly found: T }>
export async function takeLock<T>(
  path: string,
  signal: AbortSignal,
  { meanwhile = async () => undefined, ...options }: LeaseOptions & { readonly meanwhile?: () => Promise<T | undefined> } = {},
): Promise<Lease | { readonly found: T }> {
  const attempt = new LockAttempt(path, options)
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    const isLate = signal.aborted
    if (!isLate) {
      const lease = await attempt.make()
      if (lease) return lease
      const lock = await look(path)
      if (!lock || ((await attempt.isAbandoned(lock)) && (await attempt.remove(lock)))) continue
    }
    // A process that was suspended looks once more, although its time is over.
    const found = await meanwhile()
    if (found !== undefined) return { found }
    if (isLate) throw abortedBy(signal)
    await waitFor(pause, signal).catch(() => undefined)
  }
}

/**
 * Takes the lock; returns undefined when a running process holds it. If the state of the process is unknown (on another host, in another
 * container), waits for its heartbeat or for the end of its lease.
 *
 * Errors: as for {@link takeLock}.
 */
export async function tryLock(path: string, { signal, onWait, ...options }: WaitOptions = {}): Promise<Lease | undefined> {
  const attempt = new LockAttempt(path, options)
  let first: Lock | undefined
  for (;;) {
    if (signal?.aborted) throw abortedBy(signal)
    const lease = await attempt.make()
    if (lease) return lease
    const lock = await look(path)
    if (!lock) continue
    if (await attempt.isAbandoned(lock, WRITTEN_WITHIN)) {
      if (await attempt.remove(lock, WRITTEN_WITHIN)) continue
      if (!signal) return undefined
      await waitFor(SHORTEST_PAUSE, signal)
      continue
    }
    const isUnknown = !lock.holder || (await stateOf(lock.holder, options.self)) === 'unknown'
    const hasBeaten = first !== undefined && (first.id !== lock.id || first.written !== lock.written)
    if (!isUnknown || (lock.holder && (!signal || hasBeaten))) return undefined
    if (!first && lock.holder) onWait?.(options.lease ?? LEASE)
    if (lock.holder) first ??= lock
    await waitFor(LONGEST_PAUSE, signal)
  }
}

interface Lock {
  readonly id: string
  /** Time of creation or of the last heartbeat, in milliseconds of the file system's clock. */
  readonly written: number
  /** Absent while the lock is being created, and when its process exited before completing it. */
  readonly holder?: LockHolder
}

/** A process that requests a lock. */
class LockAttempt {
  readonly #path: string
  readonly #options: LeaseOptions
  readonly #lease: number
  /** Milliseconds by which the file system's clock is ahead of the local one. */
  #ahead: number | undefined
  #watched: { readonly lock: Lock; readonly since: number } | undefined
  #hasRemoved = false

  constructor(path: string, options: LeaseOptions) {
    this.#path = path
    this.#options = options
    this.#lease = options.lease ?? LEASE
  }

  /** Returns undefined when there is a lock. */
  async make(): Promise<Lease | undefined> {
    const beaten = timesNow()
    const holder = await make(this.#path, this.#options)
    return holder && new HeldLock(this.#path, holder, beaten, this.#hasRemoved, this.#options)
  }

  /** @param unwritten milliseconds after which a lock without a holder is abandoned */
  async isAbandoned(lock: Lock, unwritten = this.#lease): Promise<boolean> {
    const { holder, written } = lock
    const state = holder ? await stateOf(holder, this.#options.self) : 'unknown'
    if (state === 'gone') return true
    if (state === 'alive' && Math.abs(Date.now() - written) < this.#lease) return false
    const age = Date.now() + (await this.#skew()) - written
    if (age > (holder ? this.#lease : Math.min(unwritten, this.#lease))) return true
    return age < -this.#lease && this.#isStill(lock)
  }

  /** Removes an abandoned lock; returns false when it is gone, was updated, or is being removed by another process. */
  async remove(lock: Lock, unwritten?: number): Promise<boolean> {
    const isRemoved = await removeLock(this.#path, lock.id, this.#options, (now) => this.isAbandoned(now, unwritten))
    this.#hasRemoved ||= isRemoved
    return isRemoved
  }

  /**
   * True when a lock with a time in the future has not changed for more than two heartbeats: the clock was set back, so the age of the lock
   * is unknown.
   */
  #isStill(lock: Lock): boolean {
    const { id, written } = this.#watched?.lock ?? {}
    if (id !== lock.id || written !== lock.written) this.#watched = { lock, since: performance.now() }
    return performance.now() - (this.#watched?.since ?? 0) > 2.5 * (this.#options.beat ?? BEAT)
  }

  /** Measures the clock of a file server, which may differ from the local one, with a new file. */
  async #skew(): Promise<number> {
    this.#ahead ??= await aheadOfUs(`${this.#path}.${randomBytes(8).toString('hex')}`).catch(() => 0)
    return this.#ahead
  }
}

class HeldLock implements Lease {
  readonly isTakenOver: boolean
  readonly #path: string
  readonly #holder: LockHolder
  readonly #options: LeaseOptions
  readonly #timer: NodeJS.Timeout
  #beaten: Times
  #isLost = false
  #beating: Promise<boolean> | undefined

  constructor(path: string, holder: LockHolder, beaten: Times, isTakenOver: boolean, options: LeaseOptions) {
    this.#path = path
    this.#holder = holder
    this.#options = options
    this.isTakenOver = isTakenOver
    this.#beaten = beaten
    this.#timer = setInterval(() => void this.confirm(), options.beat ?? BEAT)
    this.#timer.unref()
  }

  get isFresh(): boolean {
    const now = timesNow()
    // Only one of the two clocks advances while the machine sleeps.
    const elapsed = Math.max(Math.abs(now.wall - this.#beaten.wall), now.steady - this.#beaten.steady)
    return !this.#isLost && elapsed < (this.#options.lease ?? LEASE) / 2
  }

  confirm(): Promise<boolean> {
    if (this.#isLost) return Promise.resolve(false)
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  readonly release = async (): Promise<void> => {
    clearInterval(this.#timer)
    await this.#beating
    const { isFresh } = this
    this.#isLost = true
    // No other process removes a fresh lock, and a full disk or too many open files leave no room for a second lock.
    const { id } = this.#holder
    try {
      if (!isFresh) await removeLock(this.#path, id, this.#options, async () => true)
      else {
        // With too many open files the lock cannot be read, but it is still held: it is fresh.
        const there = await look(this.#path).catch(() => ({ id }))
        if (there?.id === id) await unlink(this.#path)
      }
    } catch {
      // Taken over when its lease ends, or when this process exits.
    }
  }

  /** While the file cannot be read or written, the lock is held until the lease of the last heartbeat ends. */
  async #beat(): Promise<boolean> {
    const now = timesNow()
    try {
      if (await beat(this.#path, this.#holder)) this.#beaten = now
      else this.#lose()
    } catch (error) {
      if (systemCode(error) === 'ENOENT') this.#lose()
    }
    return this.isFresh
  }

  #lose(): void {
    this.#isLost = true
    clearInterval(this.#timer)
  }
}

/** Updates the time of a lock; returns false when another process holds it. Errors: those of the system. */
async function beat(path: string, holder: LockHolder): Promise<boolean> {
  const file = await open(path, O_RDWR | O_NOFOLLOW)
  try {
    const buffer = Buffer.alloc(MAX_BYTES)
    const { bytesRead } = await file.read(buffer, 0, MAX_BYTES, 0)
    const bytes = buffer.subarray(0, bytesRead)
    if (parseHolder(bytes.toString())?.id !== holder.id) return false
    // Rewriting existing bytes needs no space, except on copy-on-write disks.
    await file.write(bytes, 0, bytes.length, 0).catch(() => file.utimes(new Date(), new Date()))
    const [ours, there] = [await file.stat(), await lstat(path)]
    // A process that takes the lock over checks its time again after moving it away.
    return isSameFile(ours, there)
  } finally {
    await file.close()
  }
}

/** On Windows some versions of Node report another device for an open file than for its path (libuv 4698). */
function isSameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && (one.dev === other.dev || process.platform === 'win32')
}

interface Times {
  readonly wall: number
  readonly steady: number
}

function timesNow(): Times {
  return { wall: Date.now(), steady: performance.now() }
}

/** Creates the lock and returns its holder; undefined when there is one. */
async function make(path: string, { self, file: name = path }: LeaseOptions): Promise<LockHolder | undefined> {
  const holder = await newHolder(self)
  try {
    const file = await whenFree(() => open(path, 'wx', 0o600))
    try {
      await file.writeFile(JSON.stringify(holder))
    } catch (error) {
      await unlink(path)
      throw error
    } finally {
      await file.close()
    }
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined
    throw writeFailure(error, `"${name}"`, name === path ? undefined : 'lock')
  }
  return holder
}

async function look(path: string): Promise<Lock | undefined> {
  const file = await whenFree(() => readOwnFile(path, MAX_BYTES))
  if (!file) return undefined
  const { ino, mtimeMs } = file.stats
  const holder = parseHolder(file.bytes.toString())
  return { id: holder?.id ?? `${ino}-${Math.floor(mtimeMs)}`, written: mtimeMs, ...(holder && { holder }) }
}

async function aheadOfUs(probe: string): Promise<number> {
  const now = Date.now()
  const file = await open(probe, 'wx', 0o600)
  try {
    await file.writeFile('0')
    const { mtimeMs } = await file.stat()
    // Smaller differences are not significant.
    return Math.abs(mtimeMs - now) < 1000 ? 0 : mtimeMs - now
  } finally {
    await file.close()
    await unlink(probe).catch(() => undefined)
  }
}

/** Removes that lock if it is still abandoned; returns false when it is gone or is being removed by another process. */
async function removeLock(path: string, id: string, options: LeaseOptions, mayGo: (lock: Lock) => Promise<boolean>): Promise<boolean> {
  const claim = `${path}.${id}`
  if (!(await make(claim, options))) {
    const other = await look(claim)
    const attempt = new LockAttempt(claim, options)
    if (other && (await attempt.isAbandoned(other))) await attempt.remove(other)
    return false
  }
  try {
    const seen = await look(path)
    if (seen?.id !== id || !(await mayGo(seen))) return false
    return await moveAway(path, `${claim}.0`, seen)
  } finally {
    await unlink(claim).catch(() => undefined)
  }
}

/** Removes a lock unless its holder has updated it since it was read. */
async function moveAway(path: string, aside: string, seen: Lock): Promise<boolean> {
  await renameWhenFree(path, aside)
  const moved = await look(aside)
  const isSame = moved?.id === seen.id && moved.written === seen.written
  // A holder that reads the lock at this moment finds it missing and stops.
  if (moved && !isSame) await link(aside, path).catch(() => undefined)
  await unlink(aside).catch(() => undefined)
  return isSame
}

async function waitFor(pause: number, signal?: AbortSignal): Promise<void> {
  await sleep(pause * (0.5 + Math.random()), systemClock(), signal)
}
