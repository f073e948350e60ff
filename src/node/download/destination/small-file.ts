/** Small files, which are written in one go. */

import { createHash } from 'node:crypto'
import { closeSync, fsync, openSync, renameSync, writeSync } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { isAuthError } from '../../../errors.ts'
import { checkFolder, nameNew, whenFree } from '../../base/files.ts'
import { type LockHolder, newHolder, stateOf } from '../../base/lock-holder.ts'
import { fileAppeared, writeFailure } from '../../base/system-error.ts'

/**
 * Writes bytes to a new file: to a part beside it, which is synced and then renamed. The name of the part identifies its process, so that it can
 * be cleared away after a process that was killed.
 *
 * @param beside the start of the name of the part
 *
 * Errors: `PATH_BUSY`, `PATH_EXISTS` for an existing file without `replace`, `PATH_UNSAFE`, `DISK_FULL`, `FILE_ACCESS`.
 */
export async function writeSmallFile(path: string, chunks: readonly Uint8Array[], replace: boolean, beside = path): Promise<void> {
  const part = `${beside}.${await tag()}.part`
  let isOurs = false
  try {
    checkFolder(path)
    // These synchronous calls are faster than a switch to another thread; only the sync, which waits for the disk, is asynchronous.
    const file = openSync(part, 'wx', 0o666)
    isOurs = true
    try {
      for (const chunk of chunks) writeWhole(file, chunk)
      await synced(file)
    } finally {
      closeSync(file)
    }
    if (replace) await whenFree(async () => renameSync(part, path))
    else if (!nameNew(part, path)) throw fileAppeared(path)
  } catch (error) {
    if (isOurs) await rm(part, { force: true }).catch(() => undefined)
    throw isAuthError(error) ? error : writeFailure(error, `"${path}"`)
  }
}

/** Removes such a part if it is abandoned; returns false for any other file. Does not throw. */
export async function clearSmallPart(path: string): Promise<boolean> {
  const holder = await holderIn(path)
  if (!holder) return false
  const state = await stateOf(holder)
  const { mtimeMs = Date.now() } = (state === 'unknown' && (await lstat(path).catch(() => undefined))) || {}
  if (state === 'gone' || Date.now() - mtimeMs > LEFT_AFTER) await rm(path, { force: true }).catch(() => undefined)
  return true
}

/** Milliseconds after which such a part counts as abandoned, on any host; if its process still writes, that file fails. */
const LEFT_AFTER = 600_000

/** A disk that is full may take a part of it first. */
function writeWhole(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.byteLength; ) at += writeSync(file, chunk, at)
}

const synced = promisify(fsync)

let own: Promise<string> | undefined

/** This process, as a part of a name. */
function tag(): Promise<string> {
  own ??= newHolder().then(({ pid, started = '', place }) => `${pid}-${/^\d{1,20}$/.test(started) ? started : 0}-${placeMark(place)}`)
  return own
}

/** The process that a file name identifies, on any machine. */
async function holderIn(name: string): Promise<LockHolder | undefined> {
  const [, pid, started, mark] = /\.(\d{1,10})-(\d{1,20})-([0-9a-f]{8})\.part$/.exec(name) ?? []
  if (pid === undefined) return undefined
  const { id, place } = await newHolder()
  const isHere = placeMark(place) === mark
  return { id, pid: Number(pid), place: isHere ? place : '', ...(started !== '0' && started !== undefined && { started }) }
}

function placeMark(place: string): string {
  return createHash('sha256').update(place).digest('hex').slice(0, 8)
}
