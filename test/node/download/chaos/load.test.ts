import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { startChaosProxy } from '../../../servers/chaos/chaos-proxy.ts'
import { digestOf } from '../../../servers/chaos/depot-content.ts'
import { contentName, startFileDepot } from '../../../servers/chaos/file-depot.ts'
import { killedDownload } from './kill.ts'
import { ROWS, runLoad } from './load-row.ts'
import { processStarter } from './started-process.ts'
import { runTokens } from './token-row.ts'

const starter = await processStarter()
afterAll(() => starter.remove())

/** The rows of `npm run test:load`, with as few files as show something. */
describe('many files through many faults', () => {
  it.each([
    ['small', 150],
    ['middle', 24],
    ['large', 4],
  ] as const)('all arrive: %s', async (name, count) => {
    const { seconds, memory, requests, faults, ...result } = await runLoad(starter, { ...ROWS[name], count })
    expect(result).toEqual({ written: count, codes: [], wrong: [], leftovers: [], violations: [], stderr: '' })
    expect(faults).toBeGreaterThan(count / 10)
    expect(requests).toBeGreaterThan(count)
    expect(seconds).toBeGreaterThan(0)
    expect(memory).toBeLessThan(400 * 2 ** 20)
  })
})

describe('a file that is fetched in parts', () => {
  it('a file that is fetched in parts is finished although it is killed again and again', async () => {
    const size = 80 * 2 ** 20
    const folder = await mkdtemp(join(tmpdir(), 'stac-auth-parts-'))
    const depot = await startFileDepot({ files: () => ({ size }) })
    const proxy = await startChaosProxy({ upstream: depot.origin, faultOf: () => undefined })
    onTestFinished(async () => {
      await proxy.close()
      await depot.close()
      await rm(folder, { recursive: true, force: true })
    })
    const asset = { 'file:size': size, 'file:checksum': `1220${digestOf(contentName('/0.bin', 0), size)}` }
    const { problems } = await killedDownload({
      start: starter.start,
      proxy,
      folder,
      size,
      seed: 1,
      kills: 2,
      asset,
      options: { ranges: 4 },
    })
    expect(problems).toEqual([])
    expect(depot.violations).toEqual([])
    expect(proxy.passed.filter(({ range }) => range !== undefined).length).toBeGreaterThan(2)
  })
})

describe('tokens that end while files come', () => {
  it('tokens that end while files come are refreshed one at a time, and no one is notified of it', async () => {
    const { tokenRequests, refused, parts, seconds, ...result } = await runTokens({ count: 20, size: 2_000_000, seconds: 5 })
    expect(result).toEqual({ codes: [], wrong: [], leftovers: [] })
    expect(tokenRequests).toBeGreaterThan(1)
    // One for each second, and as many again for answers of 503.
    expect(tokenRequests).toBeLessThanOrEqual(2 + seconds * 2)
    expect(parts).toBeGreaterThan(20)
    expect(refused).toBeLessThanOrEqual(parts)
  })
})
