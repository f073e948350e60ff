import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Fault, FaultOf } from '../../../servers/chaos/fault.ts'
import { anyFault, seededFaults } from '../../../servers/chaos/seeded-faults.ts'
import { chaosRun } from './chaos-run.ts'

const SIZE = 3_000_000
const FILES = { '/a.tif': { size: SIZE } }
const CLEAN = { codes: [], wrong: [], leftovers: [] }

const first =
  (fault: Fault, times = 1): FaultOf =>
  ({ nth }) =>
    nth <= times ? fault : undefined

const refusal = (status: number, retryAfter?: string): Fault => ({
  do: 'answer',
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
})

describe('a server that is busy', () => {
  it.each([429, 503])('a server that is busy is asked again after what it says with %d', async (status) => {
    const { run } = await chaosRun({ files: FILES, faultOf: first(refusal(status, '2')) })
    const { pauses, ...outcome } = await run()
    expect(outcome).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
    expect(Math.max(...pauses)).toBeGreaterThanOrEqual(2000)
    expect(Math.max(...pauses)).toBeLessThan(2300)
  })

  it('a server that is busy is asked again at the date that it says', async () => {
    const { run } = await chaosRun({ files: FILES, faultOf: first(refusal(503, new Date(Date.now() + 60_000).toUTCString())) })
    const { pauses, ...outcome } = await run()
    expect(outcome).toMatchObject(CLEAN)
    expect(Math.max(...pauses)).toBeGreaterThan(40_000)
    expect(Math.max(...pauses)).toBeLessThan(68_000)
  })

  it.each(['-5', '0x10', '1e9', '99999999999999', 'abc', new Date(0).toUTCString()])(
    'a server that is busy is asked again after our own pause when it says %j',
    async (text) => {
      const { run } = await chaosRun({ files: FILES, faultOf: first(refusal(503, text)) })
      const { pauses, ...outcome } = await run()
      expect(outcome).toMatchObject(CLEAN)
      expect(Math.max(...pauses)).toBeLessThanOrEqual(20_000)
    },
  )

  it.each(['1000000000', '121', new Date(Date.now() + 8e10).toUTCString()])(
    'a server that is busy is left unchanged when it says %s, and no timer overflows',
    async (seconds) => {
      const warnings: string[] = []
      const listen = ({ name }: Error) => void warnings.push(name)
      process.on('warning', listen)
      onTestFinished(() => void process.off('warning', listen))
      const { run, proxy } = await chaosRun({ files: FILES, faultOf: () => refusal(429, seconds) })
      expect(await run()).toMatchObject({ codes: ['RATE_LIMITED'], leftovers: [] })
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect([proxy.requests, warnings]).toEqual([1, []])
    },
  )
})

describe('a server that fails', () => {
  it.each<Fault>([
    { do: 'reset', at: 'head' },
    { do: 'reset', at: 0 },
    { do: 'reset', at: 0.7 },
  ])('a server that fails is asked again: %j', async (fault) => {
    const { run, proxy } = await chaosRun({ files: FILES, faultOf: first(fault, 3) })
    expect(await run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
    expect(proxy.requests).toBe(4)
  })

  it('a server that closes idle connections early causes no failure', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`/${at}`, { size: 1000 }]))
    const { run } = await chaosRun({ files, faultOf: ({ nth }) => (nth === 1 ? { do: 'hang-up' } : undefined) })
    expect(await run({ concurrency: 2 })).toMatchObject({ ...CLEAN, summary: { written: 40 } })
  })
})

describe('a server that is slow', () => {
  it.each<[Fault, number]>([
    [{ do: 'stall', at: 0.5 }, SIZE / 2],
    [{ do: 'stall', at: 0 }, 0],
    [{ do: 'drip', bytes: 10, everyMs: 50 }, 10],
  ])('a server that is slow is left, and continued over another connection: %j', async (fault, sent) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { run, proxy } = await chaosRun({ files: FILES, faultOf: first(fault) })
    const running = run({ stallTimeout: 400 })
    // The heartbeat of the lock, and the watch over the body.
    await expect.poll(() => vi.getTimerCount() === 2 && proxy.sent >= sent).toBe(true)
    // Two looks: the first one counts what came before the stall.
    vi.advanceTimersByTime(800)
    expect(await running).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
    expect(proxy.requests).toBe(2)
  })

  it('but steady is waited for', async () => {
    const files = { '/a.tif': { size: 200_000 } }
    const { run, proxy } = await chaosRun({ files, faultOf: () => ({ do: 'drip', bytes: 4000, everyMs: 80 }) })
    expect(await run({ stallTimeout: 1500 })).toMatchObject({ ...CLEAN, written: [{ received: 200_000 }] })
    expect(proxy.requests).toBe(1)
  })
})

describe('all of it at once', () => {
  it.each([1, 2, 3])('costs no byte, seed %d', async (seed) => {
    // The last eight are large enough for a partial file.
    const sizeOf = (at: number) => (at < 52 ? 2000 : 20_000) * (at + 1)
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`/${at}`, { size: sizeOf(at) }]))
    const weather = seededFaults(seed, [[0.35, anyFault]])
    const faultOf: FaultOf = (passing) => (passing.path.endsWith('7') && passing.nth === 1 ? { do: 'length', by: 1 } : weather(passing))
    const { run, proxy, depot } = await chaosRun({ files, faultOf })
    expect(await run()).toMatchObject({ ...CLEAN, summary: { files: 60, written: 60 } })
    expect(depot.violations).toEqual([])
    expect(proxy.faults).toBeGreaterThan(15)
    expect(proxy.mostAtOnce).toBeLessThanOrEqual(8)
  })
})
