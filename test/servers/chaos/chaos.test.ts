import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startChaosProxy } from './chaos-proxy.ts'
import { digestOf, piecesOf } from './depot-content.ts'
import type { Fault, FaultOf } from './fault.ts'
import { contentName, startFileDepot } from './file-depot.ts'
import { anyFault, seededFaults } from './seeded-faults.ts'

const SIZE = 100_000
const PATH = '/a.tif'
const CONTENT = Buffer.concat([...piecesOf(contentName(PATH, 0), 0, SIZE)])

describe('the file depot', () => {
  it('returns parts of the same bytes as the whole', async () => {
    const { ask } = await depotAlone()
    expect((await ask({})).body.equals(CONTENT)).toBe(true)
    const part = await ask({ range: 'bytes=1000-1999' })
    expect(part).toMatchObject({ status: 206, headers: { 'content-range': `bytes 1000-1999/${SIZE}` } })
    expect(part.body.equals(CONTENT.subarray(1000, 2000))).toBe(true)
    expect(digestOf(contentName(PATH, 0), SIZE)).not.toBe(digestOf(contentName(PATH, 1), SIZE))
  })

  it('returns the whole when the validator is another one, and 416 beyond the end', async () => {
    const { ask } = await depotAlone()
    expect((await ask({ range: 'bytes=5-', 'if-range': '"other"' })).status).toBe(200)
    expect(await ask({ range: `bytes=${SIZE}-` })).toMatchObject({ status: 416, headers: { 'content-range': `bytes */${SIZE}` } })
  })

  it.each<[Record<string, string>, RegExp]>([
    [{ range: 'bytes=9-2' }, /a range that is none/],
    [{ range: 'bytes=0-1,5-6' }, /a range that is none/],
    [{ 'if-range': '"a"' }, /without a range/],
    [{ range: 'bytes=1-', 'if-range': 'W/"a"' }, /no strong entity tag/],
    [{ range: 'bytes=1-', 'accept-encoding': 'gzip' }, /a part in a content coding/],
  ])('refuses %j', async (headers, violation) => {
    const { ask, depot } = await depotAlone()
    expect((await ask(headers)).status).toBe(400)
    expect(depot.violations).toEqual([expect.stringMatching(violation)])
  })
})

describe('the chaos proxy', () => {
  it('passes on what it does not break', async () => {
    const { ask } = await through(() => undefined)
    expect((await ask({})).body.equals(CONTENT)).toBe(true)
    expect((await ask({ range: 'bytes=7-' })).headers['content-range']).toBe(`bytes 7-${SIZE - 1}/${SIZE}`)
  })

  it('shows the same faults for the same seed, in whatever order is asked', () => {
    const passing = Array.from({ length: 200 }, (_, at) => ({ path: `/${at % 20}`, nth: 1 + Math.floor(at / 20), range: undefined }))
    const shown = (seed: number, order: typeof passing) => new Map(order.map((each) => [each, seededFaults(seed, [[0.5, anyFault]])(each)]))
    const [one, other] = [shown(1, passing), shown(1, passing.toReversed())]
    expect(passing.map((each) => one.get(each))).toEqual(passing.map((each) => other.get(each)))
    expect([...one.values()].filter(Boolean).length).toBeGreaterThan(70)
    expect([...one.values()].filter(Boolean).length).toBeLessThan(130)
    expect(passing.map((each) => shown(2, [each]).get(each))).not.toEqual(passing.map((each) => one.get(each)))
  })

  it.each<[Fault, string]>([
    [{ do: 'cut', at: 0.5, framing: 'length' }, 'ECONNRESET'],
    [{ do: 'cut', at: 0.5, framing: 'chunk' }, 'ECONNRESET'],
    [{ do: 'length', by: 1 }, 'ECONNRESET'],
    [{ do: 'reset', at: 0.5 }, 'ECONNRESET'],
    [{ do: 'reset', at: 'head' }, 'ECONNRESET'],
  ])('breaks the connection: %j', async (fault, code) => {
    const { ask } = await through(() => fault)
    await expect(ask({})).rejects.toMatchObject({ code })
  })

  it.each(['head', 0, 0.5] as const)('the chaos proxy holds the rest back until it may continue: %j', async (at) => {
    let goOn = () => {}
    const until = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { ask, proxy } = await through(() => ({ do: 'hold', at, until }))
    let isOver = false
    const asked = ask({}).finally(() => {
      isOver = true
    })
    await expect.poll(() => proxy.requests === 1 && proxy.sent >= (at === 'head' ? 0 : at * SIZE)).toBe(true)
    expect([isOver, proxy.sent < SIZE]).toEqual([false, true])
    goOn()
    expect((await asked).body.equals(CONTENT)).toBe(true)
  })

  it('cuts where nothing says that there is more', async () => {
    const { ask } = await through(() => ({ do: 'cut', at: 0.25, framing: 'close' }))
    expect((await ask({})).body.equals(CONTENT.subarray(0, SIZE / 4))).toBe(true)
  })

  it('cuts what was coded, in an answer that is right otherwise', async () => {
    const { ask } = await through(() => ({ do: 'cut', at: 0.5, framing: 'gzip' }))
    const { body, headers } = await ask({})
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(body.length) })
    expect(() => gunzipSync(body)).toThrow('unexpected end of file')
  })

  it.each<[Fault, Record<string, string>, number, string | undefined]>([
    [{ do: 'range', as: 'unasked' }, {}, 206, `bytes 0-${SIZE - 1}/${SIZE}`],
    [{ do: 'range', as: 'start' }, { range: 'bytes=10-' }, 206, `bytes 9-${SIZE - 2}/${SIZE}`],
    [{ do: 'range', as: 'total' }, { range: 'bytes=10-' }, 206, `bytes 10-${SIZE - 1}/${SIZE + 1}`],
    [{ do: 'range', as: 'missing' }, { range: 'bytes=10-' }, 206, undefined],
    [{ do: 'ignore-range' }, { range: 'bytes=10-' }, 200, undefined],
    [{ do: 'answer', status: 429, headers: { 'retry-after': '2' } }, {}, 429, undefined],
  ])('reports of a part what is not so: %j', async (fault, headers, status, range) => {
    const { ask } = await through(() => fault)
    const answer = await ask(headers)
    expect([answer.status, answer.headers['content-range']]).toEqual([status, range])
  })

  it('returns another file from one request on', async () => {
    const { ask, proxy } = await through(({ nth }) => (nth === 2 ? { do: 'revise' } : undefined))
    const tags = [await ask({}), await ask({}), await ask({})].map(({ headers }) => headers.etag)
    expect(new Set(tags)).toEqual(new Set([tags[0], tags[1]]))
    expect([tags[0] === tags[1], tags[1] === tags[2], proxy.revision(PATH)]).toEqual([false, true, 1])
  })
})

async function depotAlone() {
  const depot = await startFileDepot({ files: (path) => (path === PATH ? { size: SIZE } : undefined) })
  onTestFinished(() => depot.close())
  return { depot, ask: (headers: Record<string, string>) => asking(depot.origin, headers) }
}

async function through(faultOf: FaultOf) {
  const { depot } = await depotAlone()
  const proxy = await startChaosProxy({ upstream: depot.origin, faultOf })
  onTestFinished(() => proxy.close())
  return { proxy, ask: (headers: Record<string, string>) => asking(proxy.origin, headers) }
}

async function asking(origin: string, headers: Record<string, string>) {
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request(`${origin}${PATH}`, { headers, agent: false }, resolve).on('error', reject).end()
  })
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}
