/**
 * Locks that processes share. A lock is a file that one of them has made and the others could not.
 *
 * Whoever removes a lock, its holder or one who finds it abandoned, first makes a claim on that very lock: a lock of its own, named
 * after the first one's id. So a lock is removed by one process only, and never one that came in its place meanwhile.
 */
import { open, unlink } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { abortedBy } from '../errors.ts'
import { isGone, type LockHolder, newHolder, parseHolder } from './lock-holder.ts'
import { readOwnFile } from './own-file.ts'
import { systemCode, writeFailure } from './system-error.ts'

/** Milliseconds after which a lock is abandoned even when its process lives: it hangs, or is on a machine that we cannot ask. */
const ABANDONED_AFTER = 60_000
const MAX_BYTES = 4096
/** Milliseconds after which nobody will write into an empty lock any more: its maker was killed right then. */
const WRITTEN_WITHIN = 2000
/** Milliseconds between two looks at a lock that is held; about half of that at random. */
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [10, 250]

/**
 * Makes the lock file, as soon as there is none; the function given back removes it, and throws nothing.
 *
 * Errors: the signal's while waiting; `FILE_ACCESS` or `DISK_FULL` when nothing can be written there; `CACHE_UNSAFE` when what
 * stands there is no lock of ours.
 */
export async function takeLock(path: string, signal: AbortSignal): Promise<() => Promise<void>> {
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    if (signal.aborted) throw abortedBy(signal)
    const id = await make(path)
    if (id !== undefined) return async () => void (await removeLock(path, id).catch(() => false))
    const lock = await look(path)
    if (lock && !((await isAbandoned(lock)) && (await removeLock(path, lock.id)))) await waitFor(pause, signal)
  }
}

/**
 * Makes the lock file for as long as this process lives, or gives undefined when another one that lives has it. The function given back
 * removes it, and throws nothing. Errors: as of {@link takeLock}.
 */
export async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  for (;;) {
    const id = await make(path)
    // Nobody else removes it while this process lives.
    if (id !== undefined) return async () => void (await unlink(path).catch(() => undefined))
    const lock = await look(path)
    if (lock?.holder && !(await isGone(lock.holder))) return undefined
    if (lock && !lock.holder && lock.age < WRITTEN_WITHIN) await setTimeout(LONGEST_PAUSE)
    else if (lock && !(await removeLock(path, lock.id))) return undefined
  }
}

interface Lock {
  readonly id: string
  /** Milliseconds since it was made; negative when a clock was set back. */
  readonly age: number
  /** Absent while it is being written, and for ever when its maker ended in between. */
  readonly holder?: LockHolder
}

/** The new lock's id; undefined when there is one. */
async function make(path: string): Promise<string | undefined> {
  const holder = await newHolder()
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
  return holder.id
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
  return { id: holder?.id ?? `${ino}-${Math.floor(mtimeMs)}`, age: Date.now() - mtimeMs, ...(holder && { holder }) }
}

async function isAbandoned({ age, holder }: Lock): Promise<boolean> {
  return Math.abs(age) > ABANDONED_AFTER || (holder !== undefined && (await isGone(holder)))
}

/** Removes that lock; false when it is gone already, or somebody else is about to remove it. */
async function removeLock(path: string, id: string): Promise<boolean> {
  const claim = `${path}.${id}`
  if ((await make(claim)) === undefined) {
    const other = await look(claim)
    if (other && (await isAbandoned(other))) await removeLock(claim, other.id)
    return false
  }
  try {
    // Without the claim nobody removes it: what is seen here is still there on the next line.
    if ((await look(path))?.id !== id) return false
    await unlink(path)
    return true
  } finally {
    await unlink(claim).catch(() => undefined)
  }
}

async function waitFor(pause: number, signal: AbortSignal): Promise<void> {
  await setTimeout(pause * (0.5 + Math.random()), undefined, { signal }).catch(() => {
    throw abortedBy(signal)
  })
}
