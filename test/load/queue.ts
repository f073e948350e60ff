/**
 * Downloads by the workers of a queue, in full: minutes and 12 GB on the disk. `npx tsx test/load/queue.ts` runs all rows, `… killed` those that
 * are named; with `SCALE=0.1` a tenth of the files.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refuseUnknown } from '../../scripts/command-line.ts'
import { killedWorker } from './queue/killed-worker.ts'
import { type FileGroup, QueueLoad, startArchive } from './queue/queue-load.ts'
import { startRedis } from './queue/redis-process.ts'

const MIB = 2 ** 20
const scale = Number(process.env.SCALE ?? 1)
const scaled = (count: number) => Math.max(1, Math.round(count * scale))

/** Figures of a row, and what is wrong with them. */
interface Verdict {
  readonly figures: string
  readonly problems: readonly string[]
}

const rows: Readonly<Record<string, (folder: string) => Promise<Verdict>>> = {
  killed: async (folder) => {
    const [archive, redis] = [await startArchive(), await startRedis(folder)]
    try {
      const groups = [
        { count: scaled(10_000), size: 65_536 },
        { count: scaled(20), size: 256 * MIB },
        { count: scaled(10_000), size: 65_536 + 1 },
      ]
      const { problems, ratio, differences, alone, seconds, memory, exitCode, stderr } = await killedWorker(folder, archive, redis, groups)
      const [early, late] = memory.map((bytes) => Math.round(bytes / MIB)) as [number, number]
      const all = [...problems]
      if (exitCode !== 0) all.push(`exit code ${exitCode}: ${stderr}`)
      if (differences.length > 0) all.push('the manifest differs from that of one process', ...differences)
      if (ratio > 1.15) all.push('more than 1.15 times the bytes')
      if (late > early * 1.5) all.push('the memory of a worker grows')
      return {
        figures: `${seconds.toFixed(1)} s (one process ${alone.toFixed(1)} s), ${ratio.toFixed(3)} × the bytes, worker ${early} MiB, then ${late} MiB`,
        problems: all,
      }
    } finally {
      await redis.stop()
      await archive.stop()
    }
  },
  overhead: (folder) => compared(folder, [{ count: scaled(5000), size: 65_536 }], 0),
  workers: (folder) => compared(folder, [{ count: scaled(5000), size: 65_536 }], 2),
}

/** Compares one process with one worker, or one worker with several. */
async function compared(folder: string, groups: readonly FileGroup[], workers: number): Promise<Verdict> {
  const [archive, redis] = [await startArchive(), await startRedis(folder)]
  const load = await QueueLoad.prepare(folder, archive, redis.url, groups)
  // More requests than the files of all workers: otherwise that limit is compared, not the workers.
  const limits = ['--per-host', '64']
  const timed = async (target: string, ...argv: readonly string[]) => {
    const { seconds, code, stderr } = await load.download(target, ...limits, ...argv)
    if (code !== 0) throw new Error(stderr)
    return seconds
  }
  try {
    await timed('warm')
    const plain = await timed('plain')
    await load.startWorker('one')
    const one = await timed('one', '--queue')
    await load.stop()
    if (workers === 0)
      return {
        figures: `plain ${plain.toFixed(2)} s, one worker ${one.toFixed(2)} s: ${(one / plain).toFixed(2)}`,
        problems: one > plain * 1.1 ? ['more than 10 %'] : [],
      }
    for (let number = 0; number < workers; number++) await load.startWorker('many')
    const many = await timed('many', '--queue')
    const factor = one / many
    return {
      figures: `one worker ${one.toFixed(2)} s, ${workers} workers ${many.toFixed(2)} s: ${factor.toFixed(2)} times`,
      problems: factor < 1.7 ? ['less than 1.7 times'] : [],
    }
  } finally {
    await load.stop()
    await redis.stop()
    await archive.stop()
  }
}

const named = process.argv.slice(2)
refuseUnknown('row', named, Object.keys(rows))
let isGood = true
for (const [name, row] of Object.entries(rows)) {
  if (named.length > 0 && !named.includes(name)) continue
  const folder = await mkdtemp(join(process.env.QUEUE_LOAD_FOLDER ?? tmpdir(), 'stac-auth-queue-'))
  try {
    const { figures, problems } = await row(folder)
    isGood &&= problems.length === 0
    console.log(`${problems.length === 0 ? 'ok    ' : 'MISSED'} ${name.padEnd(10)} ${figures}`)
    for (const problem of problems.slice(0, 10)) console.log(`       ${problem}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
process.exitCode = isGood ? 0 : 1
