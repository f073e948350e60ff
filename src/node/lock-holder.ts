/** Who holds a lock, and whether that process is still there. */
import { randomBytes } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { isObject } from '../stac/json.ts'
import { systemCode } from './system-error.ts'

export interface LockHolder {
  /** 16 hex digits: this one holding and no other. */
  readonly id: string
  readonly pid: number
  /** When the process began, in ticks since the machine did; absent where the system does not tell. */
  readonly started?: string
  /** Where that process id means something: host, and on Linux the name space of process ids. */
  readonly place: string
}

/** This process, as the holder of a new lock. */
export async function newHolder(): Promise<LockHolder> {
  const [started, place] = await (self ??= Promise.all([startOf(process.pid), placeOf()]))
  return { id: randomBytes(8).toString('hex'), pid: process.pid, ...(started !== undefined && { started }), place }
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

/** True when the process has certainly ended: no such process here, one that has only its exit code left, or another with its number. */
export async function isGone({ pid, started, place }: LockHolder): Promise<boolean> {
  if (place !== (await newHolder()).place) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    // A process that is not ours to ask is there, too, but perhaps with a number that was used before.
    if (systemCode(error) === 'ESRCH') return true
  }
  return started !== undefined && (await startOf(pid)) !== started
}

let self: Promise<readonly [started: string | undefined, place: string]> | undefined

function isHolder(value: unknown): value is LockHolder {
  if (!isObject(value)) return false
  const { id, pid, started, place } = value
  const isStart = started === undefined || typeof started === 'string'
  return /^[0-9a-f]{16}$/.test(String(id)) && Number.isInteger(pid) && Number(pid) > 0 && isStart && typeof place === 'string'
}

/** State and start are the fields 3 and 22 of proc_pid_stat(5); the name of the program before them may hold anything. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  const [state = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return /[ZXx]/.test(state) ? undefined : fields[18]
}

async function placeOf(): Promise<string> {
  return `${hostname()} ${await readlink('/proc/self/ns/pid').catch(() => '')}`.trim()
}
