/**
 * Locks that processes share, on one host or on several: leases. A lock is a file that one process has made and the others could not.
 * Its holder writes to it every {@link BEAT}, which the file system's clock records; one that nobody has written to for {@link LEASE}
 * is taken over, and so is at once the lock of a process that is known to have ended.
 *
 * Whoever removes a lock, its holder or one who finds it abandoned, first makes a claim on that very lock: a lock of its own, named
 * after the first one's id. So a lock is removed by one process only, and never one that came in its place meanwhile. A holder that was
 * stopped for longer than its lease finds out before it writes again: {@link Lease.isFresh}, {@link Lease.confirm}.
 */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, lstat, open, readFile, readlink, rename, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { abortedBy } from '../../errors.ts'
import { sleep } from '../../net/cancellation.ts'
import { systemClock } from '../../net/clock.ts'
import { isObject } from '../../stac/json.ts'
import { readOwnFile } from '../credentials/own-file.ts'
import { systemCode, writeFailure } from '../system-error.ts'

/** Milliseconds without a heartbeat after which a lock may be taken over, whatever its process does. */
const LEASE = 60_000

/** Milliseconds between two heartbeats. */
const BEAT = 10_000

const MAX_BYTES = 4096

/** Milliseconds after which nobody will write into an empty lock any more: its maker was killed right then. */
const WRITTEN_WITHIN = 2000

/** Milliseconds between two looks at a lock that is held; about half of that at random. */
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [10, 250]

const { O_NOFOLLOW = 0, O_RDWR } = constants

/** A lock that this process holds. */
export interface Lease {
  /** The process that had it before did not release it: what it worked on may be half done. */
  readonly isTakenOver: boolean
  /** True while nobody can have taken it over; asks nobody. */
  readonly isFresh: boolean
  /** Sends a heartbeat and returns whether the lock is still held: if not, another process may hold it. */
  confirm(): Promise<boolean>
  /** Removes the lock if it is still held. Throws nothing. */
  release(): Promise<void>
}

export interface LeaseOptions {
  /** Milliseconds without a heartbeat after which a lock may be taken over; default 60 000. */
  readonly lease?: number
  /** Milliseconds between two heartbeats; default 10 000. */
  readonly beat?: number
  /** Default: this process. */
  readonly self?: ProcessIdentity
}

/** What happens when a lock is held by a process of which nobody knows whether it lives. */
export interface WaitOptions extends LeaseOptions {
  /** Ends the waiting. Absent: nobody waits. */
  readonly signal?: AbortSignal
  /** Waiting begins, for at most so many milliseconds. */
  readonly onWait?: (longest: number) => void
}

/**
 * Takes the lock, as soon as it is free or abandoned.
 *
 * Errors: the signal's while waiting; `FILE_ACCESS` or `DISK_FULL` when nothing can be written there; `CACHE_UNSAFE` when what
 * stands there is no lock of ours.
 */
export async function takeLock(path: string, signal: AbortSignal, options: LeaseOptions = {}): Promise<Lease> {
  const taker = new Taker(path, options)
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    if (signal.aborted) throw abortedBy(signal)
    const lease = await taker.make()
    if (lease) return lease
    const lock = await look(path)
    if (lock && !((await taker.isAbandoned(lock)) && (await taker.remove(lock)))) await waitFor(pause, signal)
  }
}

/**
 * Takes the lock, or gives undefined when a process that lives has it. Of a process that cannot be asked (on another host, in another
 * container) its heartbeat is awaited, which tells that it lives, or the end of its lease.
 *
 * Errors: as of {@link takeLock}.
 */
export async function tryLock(path: string, { signal, onWait, ...options }: WaitOptions = {}): Promise<Lease | undefined> {
  const taker = new Taker(path, options)
  let first: Lock | undefined
  for (;;) {
    if (signal?.aborted) throw abortedBy(signal)
    const lease = await taker.make()
    if (lease) return lease
    const lock = await look(path)
    if (!lock) continue
    if (await taker.isAbandoned(lock, WRITTEN_WITHIN)) {
      if (!(await taker.remove(lock, WRITTEN_WITHIN)) && !signal) return undefined
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
  /** When it was made, or its holder last wrote to it: milliseconds of the file system's clock. */
  readonly written: number
  /** Absent while it is being made, and for ever when its maker ended in between. */
  readonly holder?: LockHolder
}

/** A process that requests a lock. */
class Taker {
  readonly #path: string
  readonly #options: LeaseOptions
  readonly #lease: number
  /** Milliseconds by which the file system's clock is ahead of ours. */
  #ahead: number | undefined
  #watched: { readonly lock: Lock; readonly since: number } | undefined
  #hasRemoved = false

  constructor(path: string, options: LeaseOptions) {
    this.#path = path
    this.#options = options
    this.#lease = options.lease ?? LEASE
  }

  /** Undefined when there is one. */
  async make(): Promise<Lease | undefined> {
    const beaten = timesNow()
    const holder = await make(this.#path, this.#options.self)
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

  /** Removes a lock that is abandoned; false when it is gone already, has come to life, or somebody else is about to remove it. */
  async remove(lock: Lock, unwritten?: number): Promise<boolean> {
    const isRemoved = await removeLock(this.#path, lock.id, this.#options, (now) => this.isAbandoned(now, unwritten))
    this.#hasRemoved ||= isRemoved
    return isRemoved
  }

  /** A clock was set back: of a lock from the future nobody knows the age, so it is watched for longer than two heartbeats. */
  #isStill(lock: Lock): boolean {
    const { id, written } = this.#watched?.lock ?? {}
    if (id !== lock.id || written !== lock.written) this.#watched = { lock, since: performance.now() }
    return performance.now() - (this.#watched?.since ?? 0) > 2.5 * (this.#options.beat ?? BEAT)
  }

  /** The clock of a file server may differ from ours: a file that is written now tells. */
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
    // While a machine sleeps only one of the clocks goes on.
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
    // Nobody else removes it as long as it is fresh, and a disk that is full or a process with too many files has no room for a claim.
    const { id } = this.#holder
    try {
      if (!isFresh) await removeLock(this.#path, id, this.#options, async () => true)
      else {
        // Where too many files are open to look, it is still ours: it is fresh.
        const there = await look(this.#path).catch(() => ({ id }))
        if (there?.id === id) await unlink(this.#path)
      }
    } catch {
      // It is taken over when its lease has ended, or this process.
    }
  }

  /** Where the file cannot be read or written, the lock is held for as long as the last heartbeat lasts. */
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

/** Writes to a lock, so that its time is now; false when it is another one's. Errors: those of the system. */
async function beat(path: string, holder: LockHolder): Promise<boolean> {
  const file = await open(path, O_RDWR | O_NOFOLLOW)
  try {
    const buffer = Buffer.alloc(MAX_BYTES)
    const { bytesRead } = await file.read(buffer, 0, MAX_BYTES, 0)
    const bytes = buffer.subarray(0, bytesRead)
    if (parseHolder(bytes.toString())?.id !== holder.id) return false
    // What is there already needs no room, except on disks that never write in place.
    await file.write(bytes, 0, bytes.length, 0).catch(() => file.utimes(new Date(), new Date()))
    const [ours, there] = [await file.stat(), await lstat(path)]
    // Whoever takes it over looks at its time once more after it has moved it away.
    return ours.ino === there.ino && ours.dev === there.dev
  } finally {
    await file.close()
  }
}

interface Times {
  readonly wall: number
  readonly steady: number
}

function timesNow(): Times {
  return { wall: Date.now(), steady: performance.now() }
}

/** The holder of the new lock; undefined when there is one. */
async function make(path: string, self?: ProcessIdentity): Promise<LockHolder | undefined> {
  const holder = await newHolder(self)
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(JSON.stringify(holder))
    } catch (error) {
      await unlink(path)
      throw error
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isTaken(error)) return undefined
    throw writeFailure(error, `"${path}"`)
  }
  return holder
}

/** Windows refuses a name that is about to vanish. */
function isTaken(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EEXIST' || (process.platform === 'win32' && (code === 'EPERM' || code === 'EBUSY'))
}

async function look(path: string): Promise<Lock | undefined> {
  const file = await readOwnFile(path, MAX_BYTES)
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
    // A clock that differs by less makes no difference.
    return Math.abs(mtimeMs - now) < 1000 ? 0 : mtimeMs - now
  } finally {
    await file.close()
    await unlink(probe).catch(() => undefined)
  }
}

/** Removes that lock if nothing speaks against it; false when it is gone already, or somebody else is about to remove it. */
async function removeLock(path: string, id: string, options: LeaseOptions, mayGo: (lock: Lock) => Promise<boolean>): Promise<boolean> {
  const claim = `${path}.${id}`
  if (!(await make(claim, options.self))) {
    const other = await look(claim)
    const taker = new Taker(claim, options)
    if (other && (await taker.isAbandoned(other))) await taker.remove(other)
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

/** Removes a lock unless its holder has written to it since it was seen, who then keeps it. */
async function moveAway(path: string, aside: string, seen: Lock): Promise<boolean> {
  await rename(path, aside)
  const moved = await look(aside)
  const isSame = moved?.id === seen.id && moved.written === seen.written
  // A holder that looked right now believes that it has lost it, and stops.
  if (moved && !isSame) await link(aside, path).catch(() => undefined)
  await unlink(aside).catch(() => undefined)
  return isSame
}

async function waitFor(pause: number, signal?: AbortSignal): Promise<void> {
  await sleep(pause * (0.5 + Math.random()), systemClock(), signal)
}

/** A process, as others see it. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it began, as the system says: in ticks since the machine did, or as `ps` writes it; absent where nothing tells. */
  readonly started?: string
  /** Where that process id means something: host, and on Linux the boot and the name space of process ids. */
  readonly place: string
}

export interface LockHolder extends ProcessIdentity {
  /** 16 hex digits: this one holding and no other. */
  readonly id: string
}

/** This process, as the holder of a new lock. */
export async function newHolder(self?: ProcessIdentity): Promise<LockHolder> {
  const { pid, started, place } = self ?? (await thisProcess())
  return { id: randomBytes(8).toString('hex'), pid, ...(started !== undefined && { started }), place }
}

/** What a lock file says; undefined when it is not (yet) a whole one. */
export function parseHolder(text: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isHolder(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a process is there: `gone` for certain (no such process here, one that has only its exit code left, or another with its number),
 * `alive` for certain, or `unknown`: it is on another host, in another container, or the system does not tell when it began.
 */
export async function stateOf({ pid, started, place }: LockHolder, self?: ProcessIdentity): Promise<'alive' | 'gone' | 'unknown'> {
  if (place !== (self ?? (await thisProcess())).place) return 'unknown'
  try {
    process.kill(pid, 0)
  } catch (error) {
    // A process that is not ours to ask is there, too, but perhaps with a number that was used before.
    if (systemCode(error) === 'ESRCH') return 'gone'
  }
  const now = await startOf(pid)
  if (now === 'ended') return 'gone'
  if (now === undefined || started === undefined) return 'unknown'
  return now === started ? 'alive' : 'gone'
}

/**
 * When a process began, comparable with nothing but itself; `ended` for one that has only its exit code left, undefined where nothing
 * tells.
 */
export async function startOf(pid: number, platform: NodeJS.Platform = process.platform): Promise<string | undefined> {
  if (platform === 'linux' || platform === 'android') return startInProc(pid)
  return platform === 'win32' ? undefined : startByPs(pid)
}

function thisProcess(): Promise<ProcessIdentity> {
  self ??= Promise.all([startOf(process.pid), placeOf()]).then(([started, place]) => ({
    pid: process.pid,
    ...(started !== undefined && { started }),
    place,
  }))
  return self
}

let self: Promise<ProcessIdentity> | undefined

function isHolder(value: unknown): value is LockHolder {
  if (!isObject(value)) return false
  const { id, pid, started, place } = value
  const isStart = started === undefined || typeof started === 'string'
  return /^[0-9a-f]{16}$/.test(String(id)) && Number.isInteger(pid) && Number(pid) > 0 && isStart && typeof place === 'string'
}

/** State and start are the fields 3 and 22 of proc_pid_stat(5); the name of the program before them may hold anything. */
async function startInProc(pid: number): Promise<string | undefined> {
  // Where the folder of another user's process is hidden, nothing is known.
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  const [state = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return /[ZXx]/.test(state) ? 'ended' : fields[18]
}

/** Milliseconds for which an answer of `ps` is good enough: who waits for a lock asks many times in a second. */
const PS_LASTS = 2000

const PS = { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC0' }, timeout: 5000, windowsHide: true } as const

const asked = new Map<number, { readonly at: number; readonly start: Promise<string | undefined> }>()

function startByPs(pid: number): Promise<string | undefined> {
  const known = asked.get(pid)
  if (known && Math.abs(Date.now() - known.at) < PS_LASTS) return known.start
  const start = new Promise<string | undefined>((resolve) => {
    execFile('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], PS, (_error, stdout) => {
      const [, state, began] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(stdout) ?? []
      resolve(state?.startsWith('Z') ? 'ended' : began)
    })
  })
  asked.clear()
  asked.set(pid, { at: Date.now(), start })
  return start
}

/** Containers of two machines may share a name and the number of their name space, so the boot of the machine counts as well. */
async function placeOf(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '')
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${hostname()} ${boot.trim()} ${namespace}`.trim()
}
