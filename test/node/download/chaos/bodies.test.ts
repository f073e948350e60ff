import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../servers/chaos/depot-content.ts'
import type { Fault, FaultOf } from '../../../servers/chaos/fault.ts'
import { contentName } from '../../../servers/chaos/file-depot.ts'
import { chaosRun } from './chaos-run.ts'

/** More than is kept in memory and less than what is fetched in parts. */
const SIZE = 3_000_000
const FILES = { '/a.tif': { size: SIZE, type: 'image/tiff' } }
const CHECKSUM = `1220${digestOf(contentName('/a.tif', 0), SIZE)}`
const CLEAN = { codes: [], wrong: [], leftovers: [] }

const first =
  (fault: Fault): FaultOf =>
  ({ nth }) =>
    nth === 1 ? fault : undefined
const always =
  (fault: Fault): FaultOf =>
  () =>
    fault

describe('a body that is cut', () => {
  it.each<Fault>([
    { do: 'cut', at: 0.5, framing: 'length' },
    { do: 'cut', at: 0.5, framing: 'chunk' },
    { do: 'reset', at: 0.5 },
  ])('a body that is cut is continued: %j', async (fault) => {
    const { run, depot, proxy } = await chaosRun({ files: FILES, faultOf: first(fault) })
    const { written, ...outcome } = await run()
    expect(outcome).toMatchObject(CLEAN)
    expect(written).toMatchObject([{ bytes: SIZE }])
    expect(proxy.passed[1]?.range).toMatch(/^bytes=[1-9]/)
    expect(written[0]?.received).toBeLessThan(1.1 * SIZE)
    expect(depot.violations).toEqual([])
  })

  it.each<[Fault, Record<string, unknown>]>([
    [{ do: 'cut', at: 0.5, framing: 'gzip' }, {}],
    [{ do: 'cut', at: 0.5, framing: 'close' }, { 'file:size': SIZE }],
    // What came before is of a file of another size, so it is not gone on with.
    [{ do: 'length', by: 7 }, {}],
  ])('a body that is cut is fetched again: %j %j', async (fault, asset) => {
    const { run, proxy } = await chaosRun({ files: { '/a.tif': { size: SIZE, asset } }, faultOf: first(fault) })
    expect(await run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
    expect(proxy.requests).toBeGreaterThan(1)
  })

  it.each<[Fault, number]>([
    [{ do: 'cut', at: 0, framing: 'length' }, 4],
    [{ do: 'cut', at: 0, framing: 'chunk' }, 4],
    [{ do: 'cut', at: 0.5, framing: 'gzip' }, 4],
    [{ do: 'length', by: 7 }, 4],
    // Nothing would ever tell whether all of it came.
    [{ do: 'cut', at: 0.5, framing: 'close' }, 1],
    [{ do: 'cut', at: 1, framing: 'close' }, 1],
  ])('never becomes a file: %j', async (fault, requests) => {
    const { run, proxy } = await chaosRun({ files: FILES, faultOf: always(fault) })
    const outcome = await run({ retries: 3 })
    expect(outcome.codes).toEqual([expect.stringMatching(/^(?:FILE_INCOMPLETE|RESPONSE_TRUNCATED|NETWORK_RESET)$/)])
    expect(outcome.written).toEqual([])
    expect(outcome.leftovers.filter((name) => !name.includes('.part'))).toEqual([])
    expect(proxy.requests).toBe(requests)
  })

  it('gains nothing by getting further where it is begun anew each time', async () => {
    const { run, proxy } = await chaosRun({ files: FILES, faultOf: ({ nth }) => ({ do: 'cut', at: 0.1 * nth, framing: 'gzip' }) })
    expect(await run({ retries: 3 })).toMatchObject({ codes: [expect.any(String)], written: [], leftovers: [] })
    expect(proxy.requests).toBe(4)
  })

  it('a body that is cut is whole where nothing but the document says how long it is', async () => {
    const files = { '/a.tif': { size: SIZE, asset: { 'file:size': SIZE } } }
    const { run } = await chaosRun({ files, faultOf: always({ do: 'cut', at: 1, framing: 'close' }) })
    expect(await run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE, verified: expect.arrayContaining(['size']) }] })
  })
})

describe('a part', () => {
  it('a part is the whole file when the server knows no ranges, and everything begins anew', async () => {
    const faultOf: FaultOf = ({ nth }) => (nth === 1 ? { do: 'reset', at: 0.5 } : { do: 'ignore-range' })
    const { run, proxy } = await chaosRun({ files: FILES, faultOf })
    expect(await run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
    expect(proxy.requests).toBe(2)
  })

  it('a part that begins beyond the end makes everything begin anew', async () => {
    const faultOf: FaultOf = ({ nth }) => {
      if (nth === 1) return { do: 'reset', at: 0.5 }
      return nth === 2 ? { do: 'answer', status: 416, headers: { 'content-range': 'bytes */1000' } } : undefined
    }
    const { run } = await chaosRun({ files: FILES, faultOf })
    expect(await run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
  })
})

describe('a file that changes meanwhile', () => {
  it('a file that changes meanwhile is fetched anew once', async () => {
    const faultOf: FaultOf = ({ nth }) => [{ do: 'reset', at: 0.5 } as const, { do: 'revise' } as const][nth - 1]
    const { run, proxy } = await chaosRun({ files: FILES, faultOf })
    expect(await run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
    expect(proxy.revision('/a.tif')).toBe(1)
  })

  it('again and again is given up', async () => {
    const faultOf: FaultOf = ({ nth }) => (nth === 1 ? { do: 'reset', at: 0.5 } : { do: 'revise', at: 0.5 })
    const { run, proxy } = await chaosRun({ files: FILES, faultOf })
    expect(await run()).toMatchObject({ codes: ['FILE_CHANGED'], written: [], leftovers: [] })
    expect(proxy.requests).toBe(3)
  })

  it.each(['weak', 'none'] as const)('a file that changes meanwhile is never continued when its validator is %s', async (validator) => {
    const { run, proxy } = await chaosRun({ files: { '/a.tif': { size: SIZE, validator } }, faultOf: first({ do: 'reset', at: 0.5 }) })
    expect(await run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE }] })
    expect(proxy.passed.map(({ range }) => range)).toEqual([undefined, undefined])
  })
})

describe('what the document promises', () => {
  it('what the document promises is all that tells of a cut where nothing else does', async () => {
    const files = { '/a.tif': { size: SIZE, asset: { 'file:checksum': CHECKSUM } } }
    const whole = await chaosRun({ files, faultOf: always({ do: 'cut', at: 1, framing: 'close' }) })
    expect(await whole.run()).toMatchObject({ ...CLEAN, written: [{ bytes: SIZE, verified: ['checksum'] }] })
    const cut = await chaosRun({ files, faultOf: always({ do: 'cut', at: 0.5, framing: 'close' }) })
    expect(await cut.run()).toMatchObject({ codes: ['FILE_INTEGRITY'], written: [], leftovers: [] })
  })
})
