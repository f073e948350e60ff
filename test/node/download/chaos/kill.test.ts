import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../cli/folder.ts'
import { startChaosProxy } from '../../../servers/chaos/chaos-proxy.ts'
import { differenceOf, digestOf } from '../../../servers/chaos/depot-content.ts'
import type { FaultOf } from '../../../servers/chaos/fault.ts'
import { contentName, startFileDepot } from '../../../servers/chaos/file-depot.ts'
import { namesIn } from '../fixture.ts'
import { killedDownload } from './kill.ts'
import { processStarter } from './started-process.ts'

const SIZE = 50 * 2 ** 20
const ASSET = { 'file:size': SIZE, 'file:checksum': `1220${digestOf(contentName('/0.bin', 0), SIZE)}` }
/** Killed late and early; `npm run nightly -- kill` runs a hundred seeds. */
const SEEDS = [1, 4]
const { start, remove } = await processStarter()
afterAll(remove)

describe('a download that is killed', () => {
  it.each(SEEDS)('a download that is killed is finished by the next run, which fetches little again, seed %d', async (seed) => {
    const { proxy } = await served()
    const folder = await temporaryFolder()
    // As fast as a disk: what has been received and is not yet on it is fetched again.
    const options = { bytesPerSecond: 40 * 2 ** 20 }
    const { problems, transferred } = await killedDownload({ start, proxy, folder, size: SIZE, seed, kills: 1, asset: ASSET, options })
    expect(problems).toEqual([])
    expect(transferred).toBeLessThanOrEqual(1.3)
  })

  it('a download that is killed is continued by a run that is interrupted in good order as well', async () => {
    const { proxy } = await served()
    const folder = await temporaryFolder()
    const work = { folder, origin: proxy.origin, count: 1, asset: ASSET, options: { bytesPerSecond: 40 * 2 ** 20, ranges: 4 } }
    const first = start(work)
    await expect.poll(() => proxy.sent, { interval: 5 }).toBeGreaterThan(SIZE / 4)
    first.child.kill('SIGINT')
    const { lines, code } = await first.ended
    expect([code, lines.find(({ kind }) => kind === 'thrown')]).toEqual([0, { kind: 'thrown', code: 'ABORTED' }])
    const last = await start({ ...work, options: {} }).ended
    expect(last.summary).toMatchObject({ written: 1, failed: 0 })
    expect(Number(last.summary?.received)).toBeLessThan(SIZE)
    expect(await namesIn(folder)).toEqual(['0.bin'])
  })
})

describe('two processes with one target', () => {
  it('two processes with one target do not write into each other: one has the file and the other says so', async () => {
    let goOn = () => {}
    const until = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { proxy } = await served(() => ({ do: 'hold', at: 0.1, until }))
    const folder = await temporaryFolder()
    const work = { folder, origin: proxy.origin, count: 1 }
    const first = start(work)
    await expect.poll(() => proxy.sent).toBeGreaterThan(SIZE / 20)
    const second = await start(work).ended.finally(goOn)
    expect(second.codes).toEqual(['PATH_BUSY'])
    expect((await first.ended).summary).toMatchObject({ written: 1 })
    expect(await differenceOf(join(folder, '0.bin'), contentName('/0.bin', 0), SIZE)).toBeUndefined()
    expect(await namesIn(folder)).toEqual(['0.bin'])
  })

  it('two processes with one target leave a part unchanged that another program has made', async () => {
    const { proxy } = await served()
    const folder = await temporaryFolder()
    await writeFile(join(folder, '0.bin.part'), 'not ours')
    expect((await start({ folder, origin: proxy.origin, count: 1 }).ended).codes).toEqual(['PATH_BUSY'])
    expect(await readdir(folder)).toEqual(['0.bin.part'])
  })
})

/** What a killed process on another host leaves looks the same, but for the place in its lock. */
async function killedElsewhere(secondsAgo: number) {
  const { proxy } = await served()
  const folder = await temporaryFolder()
  const work = { folder, origin: proxy.origin, count: 1, asset: ASSET, options: { bytesPerSecond: 40 * 2 ** 20 } }
  const first = start(work)
  await expect.poll(() => proxy.sent, { interval: 5 }).toBeGreaterThan(SIZE / 4)
  first.child.kill('SIGKILL')
  await first.ended
  const lock = join(folder, '0.bin.part.lock')
  const holder = JSON.parse(await readFile(lock, 'utf8'))
  await writeFile(lock, JSON.stringify({ ...holder, place: 'another host' }))
  const beat = (ago: number) => utimes(lock, Date.now() / 1000 - ago, Date.now() / 1000 - ago)
  await beat(secondsAgo)
  return { proxy, folder, work: { ...work, options: {} }, lock, beat }
}

describe('a download that was killed on another host', () => {
  it('a download that was killed on another host is resumed when its lease has ended', async () => {
    const { folder, work } = await killedElsewhere(61)
    const { summary, codes } = await start(work).ended
    expect([codes, summary?.written]).toEqual([[], 1])
    expect(Number(summary?.received)).toBeLessThan(SIZE)
    expect(await differenceOf(join(folder, '0.bin'), contentName('/0.bin', 0), SIZE)).toBeUndefined()
    expect((await readdir(folder)).sort()).toEqual(['.stac-auth-manifest', '0.bin'])
  })

  it('a download that was killed on another host is waited for until its lease ends', async () => {
    const { folder, work } = await killedElsewhere(55)
    const { summary } = await start(work).ended
    expect(summary).toMatchObject({ written: 1, failed: 0 })
    expect((await readdir(folder)).sort()).toEqual(['.stac-auth-manifest', '0.bin'])
  })

  it('a download that was killed on another host is left unchanged as long as it lives', async () => {
    const { folder, work, lock, beat } = await killedElsewhere(0)
    const before = await readFile(lock, 'utf8')
    const heart = setInterval(() => void beat(0), 100)
    const { codes } = await start(work).ended.finally(() => clearInterval(heart))
    expect(codes).toEqual(['PATH_BUSY'])
    expect(await readFile(lock, 'utf8')).toBe(before)
    expect((await readdir(folder)).sort()).toEqual(['0.bin.part', '0.bin.part.json', '0.bin.part.lock'])
  })
})

async function served(faultOf: FaultOf = () => undefined) {
  const depot = await startFileDepot({ files: () => ({ size: SIZE }) })
  const proxy = await startChaosProxy({ upstream: depot.origin, faultOf })
  onTestFinished(async () => {
    await proxy.close()
    await depot.close()
  })
  return { proxy, depot }
}
