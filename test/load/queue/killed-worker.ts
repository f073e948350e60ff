/** A download by two workers: one is killed in the middle, and Redis is killed and started again. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Archive, ended, type FileGroup, memoryOf, QueueLoad } from './queue-load.ts'
import type { RedisProcess } from './redis-process.ts'

export interface KilledWorkerResult {
  /** Files that are wrong, missing or left over. */
  readonly problems: readonly string[]
  readonly exitCode: number | null
  readonly stderr: string
  /** Bytes that the archive has sent, relative to those of all files. */
  readonly ratio: number
  /** Lines that only one of the two manifests has. */
  readonly differences: readonly string[]
  /** Seconds of one process without a queue, and of the workers. */
  readonly alone: number
  readonly seconds: number
  /** Resident memory in bytes of the worker that stays, at a third of the bytes and at the end. */
  readonly memory: readonly [early: number, late: number]
}

/** Looks at the archive until it has sent that many bytes. */
async function sent(archive: Archive, bytes: number, end: Promise<unknown>): Promise<void> {
  let isOver = false
  void end.then(() => {
    isOver = true
  })
  while (!isOver && (await archive.counts()).bytes < bytes) await sleep(50)
}

export async function killedWorker(
  folder: string,
  archive: Archive,
  redis: RedisProcess,
  groups: readonly FileGroup[],
): Promise<KilledWorkerResult> {
  // On a busy machine the space for new objects grows to 48 MiB before it is collected, which says nothing about what a worker keeps.
  const load = await QueueLoad.prepare(folder, archive, redis.url, groups, { NODE_OPTIONS: '--max-semi-space-size=2' })
  const total = groups.reduce((sum, { count, size }) => sum + count * size, 0)
  try {
    const alone = await load.download('alone')
    const start = (await archive.counts()).bytes
    if (alone.code !== 0) throw new Error(`the plain download failed: ${alone.stderr}`)
    const [killed, stays] = [await load.startWorker('shared'), await load.startWorker('shared')]
    const download = load.download('shared', '--queue')
    await sent(archive, start + total / 3, download)
    const early = await memoryOf(stays)
    await ended(killed, 'SIGKILL')
    await sent(archive, start + total / 2, download)
    await redis.restart()
    await load.startWorker('shared')
    const { code, stderr, seconds } = await download
    const late = await memoryOf(stays)
    const bytes = (await archive.counts()).bytes - start
    stays.kill('SIGTERM')
    await once(stays, 'exit')
    return {
      problems: await load.problems('shared'),
      exitCode: code,
      stderr,
      ratio: bytes / total,
      differences: differencesOf(await load.manifest('alone'), await load.manifest('shared')),
      alone: alone.seconds,
      seconds,
      memory: [early, late],
    }
  } finally {
    await load.stop()
  }
}

function differencesOf(one: readonly string[], other: readonly string[]): readonly string[] {
  const [ones, others] = [new Set(one), new Set(other)]
  const twice = one.length === ones.size && other.length === others.size ? [] : ['a line occurs twice']
  return [
    ...twice,
    ...one.filter((line) => !others.has(line)).map((line) => `- ${line}`),
    ...other.filter((line) => !ones.has(line)).map((line) => `+ ${line}`),
  ]
}
