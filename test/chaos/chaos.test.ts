/**
 * Long commands and what may happen to them: broken answers, a disk that fails, little memory, signals, a clock that jumps. Here one seed, with
 * each fault for a third of the commands and each command with one fault or two; `npm run nightly -- chaos` tries many seeds with all,
 * `CHAOS_SEEDS=7,8` those.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../cli/folder.ts'
import { LONG_COMMANDS } from './long-commands.ts'
import { KINDS, type Kind, planOf, scenario } from './scenario.ts'
import { type Site, startSite } from './site.ts'

const SEEDS = (process.env.CHAOS_SEEDS ?? '1').split(',').map(Number)
const isTried = (at: number, kind: Kind) => process.env.CHAOS_SEEDS !== undefined || (at + KINDS.indexOf(kind)) % 3 === 0

describe.each(SEEDS)('with the seed %i', (seed) => {
  let sites: readonly Site[]
  // Each command has servers of its own: faults of one are not faults of another.
  beforeAll(async () => {
    sites = await Promise.all(LONG_COMMANDS.map(() => startSite()))
  })
  afterAll(() => Promise.all(sites.map((site) => site.close())))

  it.each(KINDS)(
    'faults of kind %s end no long command in a wrong way, and its next run completes',
    async (kind: Kind) => {
      const root = await temporaryFolder()
      const runs = LONG_COMMANDS.flatMap((command, at) =>
        isTried(at, kind) ? [scenario(command, kind, seed, sites[at] as Site, root)] : [],
      )
      expect(runs.length).toBeGreaterThan(1)
      expect((await Promise.all(runs)).flat()).toEqual([])
    },
    240_000,
  )
})

describe('the faults', () => {
  const folder = temporaryFolder()
  const node = async (chaos: object, script: string) => {
    const env = { CHAOS: JSON.stringify(chaos), FILE: join(await folder, 'file') }
    return spawnSync(process.execPath, ['--import', new URL('faults.mjs', import.meta.url).href, '--input-type=module', '-e', script], {
      env,
    })
  }

  it.each(['ENOSPC', 'EIO', 'EMFILE'])(
    'of the disk are what the system says: %s, for promises, callbacks and calls that wait',
    async (code) => {
      const script = `
      import { writeFileSync, write, openSync } from 'node:fs'
      import { open, readFile, rename } from 'node:fs/promises'
      const codes = []
      const note = (error) => codes.push(error.code)
      try { writeFileSync(process.env.FILE, 'x') } catch (error) { note(error) }
      await open(process.env.FILE, 'w').catch(note)
      await rename(process.env.FILE, process.env.FILE + '2').catch(note)
      await new Promise((done) => write(9, 'x', (error) => { note(error); done() }))
      await readFile(process.execPath).then(() => codes.push('read'), note)
      console.log(codes.join())`
      const { stdout, stderr } = await node({ disk: { code, share: 1, seed: 1 } }, script)
      expect([String(stdout).trim(), String(stderr)]).toEqual([`${code},${code},${code},${code},read`, ''])
    },
  )

  it('of the clock move all that asks for the time', async () => {
    const script = `
      await new Promise((resolve) => setTimeout(resolve, 60))
      console.log(Math.round((Date.now() - Number(process.env.NOW ?? 0)) / 1e9), new Date().getUTCFullYear(), new Date(0).getUTCFullYear())`
    const { stdout } = await node({ clock: { after: 50, by: 3.2e10 * 10 } }, script)
    const [, year, first] = String(stdout).trim().split(' ').map(Number)
    expect(year).toBe(new Date(Date.now() + 3.2e11).getUTCFullYear())
    expect(first).toBe(1970)
  })

  it('are the same for the same seed, and others for others', () => {
    for (const kind of KINDS) expect(planOf(kind, 'download', 5).text).toBe(planOf(kind, 'download', 5).text)
    expect(new Set([1, 2, 3, 4, 5, 6, 7, 8].map((seed) => planOf('signal', 'download', seed).text)).size).toBeGreaterThan(3)
  })
})
