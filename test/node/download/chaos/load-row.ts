/** Many files through many faults by another process, and what came of it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MANIFEST_NAME } from '../../../../src/node/download/manifest.ts'
import { startChaosProxy } from '../../../servers/chaos/chaos-proxy.ts'
import { differenceOf } from '../../../servers/chaos/depot-content.ts'
import { contentName, startFileDepot } from '../../../servers/chaos/file-depot.ts'
import { anyReset, type Chance, seededFaults } from '../../../servers/chaos/seeded-faults.ts'
import type { Work } from './download-process.ts'
import type { ProcessStarter } from './started-process.ts'

export interface LoadRow {
  readonly count: number
  readonly size: number
  readonly chances: readonly Chance[]
  readonly options: NonNullable<Work['options']>
}

export interface LoadResult {
  readonly written: number
  readonly codes: readonly string[]
  /** Files with other bytes than they should have. */
  readonly wrong: readonly string[]
  readonly leftovers: readonly string[]
  /** What the depot saw that no correct client sends. */
  readonly violations: readonly string[]
  readonly requests: number
  readonly faults: number
  readonly seconds: number
  /** Bytes. */
  readonly memory: number
  readonly stderr: string
}

export const ROWS = {
  small: {
    count: 10_000,
    size: 64 * 1024,
    chances: [
      [0.3, anyReset],
      [0.02, () => ({ do: 'ignore-range' })],
    ],
    options: { concurrency: 64, perHost: 64 },
  },
  middle: { count: 2000, size: 2 ** 20, chances: [[0.3, anyReset]], options: {} },
  large: { count: 200, size: 16 * 2 ** 20, chances: [[0.5, anyReset]], options: {} },
} as const satisfies Readonly<Record<string, LoadRow>>

/** Runs a row with files in a folder of its own. */
export async function runLoad({ start }: ProcessStarter, { count, size, chances, options }: LoadRow, seed = 1): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-load-'))
  const depot = await startFileDepot({ files: () => ({ size }) })
  const proxy = await startChaosProxy({ upstream: depot.origin, faultOf: seededFaults(seed, chances), forget: true })
  try {
    const { codes, summary, cost, stderr } = await start({ folder, origin: proxy.origin, count, options }).ended
    return {
      written: Number(summary?.written),
      codes,
      ...(await inspected(folder, count, size)),
      violations: depot.violations,
      requests: proxy.requests,
      faults: proxy.faults,
      seconds: Number(summary?.milliseconds) / 1000,
      memory: cost?.memory ?? Number.NaN,
      stderr,
    }
  } finally {
    await proxy.close()
    await depot.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function inspected(folder: string, count: number, size: number): Promise<Pick<LoadResult, 'wrong' | 'leftovers'>> {
  const names = new Set(await readdir(folder))
  const wrong: string[] = []
  for (let number = 0; number < count; number++) {
    const name = `${number}.bin`
    if (!names.delete(name)) continue
    const difference = await differenceOf(join(folder, name), contentName(`/${name}`, 0), size)
    if (difference !== undefined) wrong.push(difference)
  }
  return { wrong, leftovers: [...names].filter((name) => name !== MANIFEST_NAME) }
}
