/** Who holds a lock, and whether that process is still there. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { isObject } from '../stac/json.ts'
import { systemCode } from './system-error.ts'

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
