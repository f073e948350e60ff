/** Which process holds a file, and whether it still runs: for locks, and for what a killed process leaves behind. */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { isObject } from '../../stac/document.ts'
import { systemCode } from './system-error.ts'

/** A process, as identified by other processes. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time as the system reports it: in ticks since boot, or in the format of `ps`; absent where it is unavailable. */
  readonly started?: string
  /** Scope of the process id: host, and on Linux boot id and pid namespace. */
  readonly place: string
}

export interface LockHolder extends ProcessIdentity {
  /** 16 hex digits that identify this holding. */
  readonly id: string
}

/** Returns this process as the holder of a new lock. */
export async function newHolder(identity?: ProcessIdentity): Promise<LockHolder> {
  const { pid, started, place } = identity ?? (await thisProcess())
  return { id: randomBytes(8).toString('hex'), pid, ...(started !== undefined && { started }), place }
}

/** Parses a lock file; undefined when it is incomplete. */
export function parseHolder(text: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isHolder(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the state of a process: `gone` (not running, a zombie, or its id is used by another process), `alive`, or `unknown` (on another
 * host, in another container, or its start time is unavailable).
 */
export async function stateOf({ pid, started, place }: LockHolder, identity?: ProcessIdentity): Promise<'alive' | 'gone' | 'unknown'> {
  if (place !== (identity ?? (await thisProcess())).place) return 'unknown'
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists, but its id may have been reused.
    if (systemCode(error) === 'ESRCH') return 'gone'
  }
  const now = await startOf(pid)
  if (now === 'ended') return 'gone'
  if (now === undefined || started === undefined) return 'unknown'
  return now === started ? 'alive' : 'gone'
}

/**
 * Returns the start time of a process, comparable only with another result of this function; `ended` for a zombie; undefined where it is
 * unavailable.
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

/** State and start time are fields 3 and 22 of proc_pid_stat(5); the program name before them may contain any character. */
async function startInProc(pid: number): Promise<string | undefined> {
  // With hidepid, processes of other users cannot be seen.
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  const [state = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return /[ZXx]/.test(state) ? 'ended' : fields[18]
}

const PS = { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC0' }, timeout: 5000, windowsHide: true } as const

function startByPs(pid: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], PS, (_error, stdout) => {
      const [, state, began] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(stdout) ?? []
      resolve(state?.startsWith('Z') ? 'ended' : began)
    })
  })
}

/** Containers on two machines may share a name and a namespace number, so the boot id is included. */
async function placeOf(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '')
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${hostname()} ${boot.trim()} ${namespace}`.trim()
}
