/** The processes of a queue, workers and downloads, which report themselves in Redis every few seconds. */

import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'
import type { Redis } from 'ioredis'
import { own } from '../../stac/document.ts'
import { between, type Checks, FLAG, optional, shapeOf, textOf, WHOLE } from './job-shape.ts'
import { processesKey } from './queue-names.ts'

/** What every process reports. */
interface QueueProcess {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** Version of stac-auth. */
  readonly version: string
  /** Start, ISO 8601. */
  readonly since: string
}

/** A worker. */
export interface QueueWorker extends QueueProcess {
  /** Name of its queue, with the version of the payload. */
  readonly queue: string
  /** Jobs that it runs, and has run. */
  readonly running: number
  readonly done: number
  readonly failed: number
}

/** The progress of a download. */
export interface DownloadProgress {
  /** Files that are known so far; all of them if {@link isComplete}. */
  readonly total: number
  readonly isComplete: boolean
  /** Files that are written, kept or skipped. */
  readonly done: number
  readonly failed: number
  /** Of the last ten seconds. */
  readonly filesPerSecond: number
  readonly bytesPerSecond: number
  /** Absent until all files are known, and while none is transferred. */
  readonly secondsLeft?: number
}

/** A download that fills the queue. */
export interface QueueDownload extends QueueProcess, DownloadProgress {}

export interface QueueProcesses {
  readonly workers: readonly QueueWorker[]
  readonly downloads: readonly QueueDownload[]
}

/** Milliseconds between two reports. */
const REPORTED = 2000

/** Milliseconds after which a process that does not report is gone, and after which its report is removed. */
const [GONE, REMOVED] = [15_000, 3_600_000]

/** Writes a report with the time of the server. */
const WRITE = `
local t = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', t[1] * 1000 + t[2] / 1000) .. ':' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])`

const READ = `
local t = redis.call('TIME')
return {string.format('%.0f', t[1] * 1000 + t[2] / 1000), redis.call('HGETALL', KEYS[1])}`

const NAME = textOf(253)

const PROCESS: Checks<QueueProcess> = { id: NAME, host: NAME, pid: WHOLE, version: textOf(50), since: textOf(50) }

const isWorker = shapeOf<QueueWorker>({ ...PROCESS, queue: NAME, running: WHOLE, done: WHOLE, failed: WHOLE })

const RATE = between(0, Number.MAX_SAFE_INTEGER)

const isDownload = shapeOf<QueueDownload>({
  ...PROCESS,
  total: WHOLE,
  isComplete: FLAG,
  done: WHOLE,
  failed: WHOLE,
  filesPerSecond: RATE,
  bytesPerSecond: RATE,
  secondsLeft: optional(RATE),
})

/** The version of this package; `unknown` where it is part of another program. */
export function ownVersion(): string {
  try {
    return String(own(createRequire(import.meta.url)('stac-auth/package.json'), 'version'))
  } catch {
    return 'unknown'
  }
}

/** Reports a process until it is closed. Failed reports are left out: others follow. */
export class ProcessReport<Facts extends object> {
  /** A worker has it in the name of its connections, too. */
  readonly id = randomBytes(4).toString('hex')
  readonly #redis: Redis
  readonly #key: string
  readonly #facts: () => Facts
  readonly #fixed = { host: hostname(), pid: process.pid, version: ownVersion(), since: new Date().toISOString() }
  readonly #timer: NodeJS.Timeout

  constructor(redis: Redis, queue: string, facts: () => Facts) {
    this.#redis = redis
    this.#key = processesKey(queue)
    this.#facts = facts
    this.#timer = setInterval(() => void this.write(), REPORTED).unref()
  }

  async write(): Promise<void> {
    const text = JSON.stringify({ id: this.id, ...this.#fixed, ...this.#facts() })
    await this.#redis.eval(WRITE, 1, this.#key, this.id, text, REMOVED).catch(() => undefined)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#redis.hdel(this.#key, this.id).catch(() => undefined)
  }
}

/** Returns the processes of a queue that are alive, also those of other versions. Errors: those of Redis. */
export async function processesOf(redis: Redis, queue: string): Promise<QueueProcesses> {
  const key = processesKey(queue)
  const [[now, pairs], connected] = await Promise.all([
    redis.eval(READ, 1, key) as Promise<[string, readonly string[]]>,
    // Some servers do not list connections; the time of the last report decides then.
    redis.client('LIST').then(
      (text) => new Set([...String(text).matchAll(/ name=\S*:w:([0-9a-f]+)\b/g)].map(([, id]) => id)),
      () => undefined,
    ),
  ])
  const [workers, downloads, old]: [QueueWorker[], QueueDownload[], string[]] = [[], [], []]
  for (let index = 0; index < pairs.length; index += 2) {
    const [id = '', report = ''] = [pairs[index], pairs[index + 1]]
    const age = Number(now) - Number.parseInt(report, 10)
    const value = parsed(report.slice(report.indexOf(':') + 1))
    if (!(age < REMOVED)) old.push(id)
    else if (isWorker(value) === undefined) {
      // A worker that is busy with one large document reports late.
      if (connected ? connected.has(id) : age < GONE) workers.push(value as QueueWorker)
    } else if (isDownload(value) === undefined && age < GONE) downloads.push(value as QueueDownload)
  }
  if (old.length > 0) await redis.hdel(key, ...old)
  const bySince = (one: QueueProcess, other: QueueProcess) => (one.since < other.since ? -1 : 1)
  return { workers: workers.sort(bySince), downloads: downloads.sort(bySince) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Counts workers by their versions. */
export function countByVersion(workers: readonly Pick<QueueWorker, 'version'>[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const { version } of workers) counts.set(version, (counts.get(version) ?? 0) + 1)
  return Object.fromEntries(counts)
}
