/** Kills downloads at points that a seed chooses, and looks at what the next run makes of it. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MANIFEST_NAME } from '../../../../src/node/download/manifest.ts'
import type { ChaosProxy } from '../../../servers/chaos/chaos-proxy.ts'
import { differenceOf } from '../../../servers/chaos/depot-content.ts'
import { contentName } from '../../../servers/chaos/file-depot.ts'
import { seededNumber } from '../../../servers/chaos/seeded-number.ts'
import { bytesOnTheirWay } from '../../../servers/chaos/system-buffers.ts'
import type { Work } from './download-process.ts'
import type { Ended, StartedProcess } from './started-process.ts'

export interface Killed {
  /** Share of the file after which it was killed. */
  readonly points: readonly number[]
  /** What was wrong at any time: a partial file under its final name, wrong bytes, leftovers, a run that failed. */
  readonly problems: readonly string[]
  /** Bytes that arrived in all runs together, as a multiple of the file: without those that the system held for a program when it was killed. */
  readonly transferred: number
}

export interface KillOptions {
  readonly start: (work: Work) => StartedProcess
  readonly proxy: ChaosProxy
  readonly folder: string
  readonly size: number
  readonly seed: number
  /** Kills before the run that is left alone. */
  readonly kills: number
  readonly asset?: Work['asset']
  readonly options?: NonNullable<Work['options']>
}

const NAME = '0.bin'

/** One file: so many runs are killed, each at a point further on, and the last one has to finish. */
export async function killedDownload({ start, proxy, folder, size, seed, kills, asset = {}, options = {} }: KillOptions): Promise<Killed> {
  const before = proxy.sent
  const work: Work = { folder, origin: proxy.origin, count: 1, asset, options }
  const problems: string[] = []
  const points: number[] = []
  const port = Number(new URL(proxy.origin).port)
  let unread = 0
  for (let kill = 0; kill < kills; kill++) {
    // Beyond 1: while the file is brought to the disk and named.
    const point = ((kill + seededNumber(seed, kill)) / kills) * 1.05
    points.push(point)
    const ended = await killedAt(
      start(work),
      () => (proxy.sent - before) / size,
      point,
      async () => {
        unread += await bytesOnTheirWay(port)
      },
    )
    if (ended.signal !== 'SIGKILL' && ended.summary?.written !== 1 && ended.summary?.kept !== 1) problems.push(...told(ended))
    problems.push(...(await partialProblem(folder, size)))
  }
  const last = await start(work).ended
  if (last.summary?.failed !== 0) problems.push(...told(last))
  problems.push(...(await finalProblems(folder, size)))
  await rm(join(folder, NAME), { force: true })
  return { points, problems, transferred: (proxy.sent - before - unread) / size }
}

/** @param onStopped is called while the process stands still */
async function killedAt(
  { child, ended }: StartedProcess,
  share: () => number,
  point: number,
  onStopped: () => Promise<void>,
): Promise<Ended> {
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  while (!isOver && share() < Math.min(point, 1)) await pause(1)
  if (point > 1) await pause((point - 1) * 1000)
  if (child.kill('SIGSTOP')) await onStopped()
  child.kill('SIGKILL')
  return ended
}

/** The file may be there only when all of it is. */
async function partialProblem(folder: string, size: number): Promise<string[]> {
  const there = await stat(join(folder, NAME)).catch(() => undefined)
  return there && there.size !== size ? [`a file of ${there.size} bytes under its final name`] : []
}

async function finalProblems(folder: string, size: number): Promise<string[]> {
  const difference = await differenceOf(join(folder, NAME), contentName(`/${NAME}`, 0), size).catch(String)
  const leftovers = (await readdir(folder)).filter((name) => name !== NAME && name !== MANIFEST_NAME)
  return [...(difference === undefined ? [] : [difference]), ...leftovers.map((name) => `left over: ${name}`)]
}

function told({ lines, stderr, signal }: Ended): string[] {
  return [`a run failed: ${signal ?? ''} ${JSON.stringify(lines)} ${stderr}`]
}
