import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import type { Action } from './fault-script.ts'
import type { ServiceOptions } from './service-definition.ts'
import { type Service, startService } from './start-service.ts'
import { AGENT, ask, exchange, things } from './things.ts'

const performed: string[] = []
const running: Service[] = []
afterEach(async () => {
  performed.length = 0
  await Promise.all(running.splice(0).map((service) => service.close()))
})

async function start(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService(things(performed), options)
  running.push(service)
  return service
}

describe('a fault', () => {
  const answerTo = async (action: Action, headers = {}) => {
    const service = await start()
    service.script({ do: action })
    return ask(service, 'POST', '/things', { body: 'abc', headers: { ...AGENT, ...headers } })
  }
  const good = { op: 'create', text: 'abc' }

  it('a fault may stand for the operation', async () => {
    expect(await answerTo({ status: 503, retryAfter: '1.5' })).toMatchObject({
      status: 503,
      json: { message: 'Scripted 503' },
      headers: { 'retry-after': '1.5' },
    })
    expect(await answerTo({ status: 502, htmlBody: true })).toMatchObject({ status: 502, headers: { 'content-type': 'text/html' } })
    expect(await answerTo({ status: 500, body: 'plain', headers: { 'x-a': 'b' } })).toMatchObject({
      status: 500,
      text: 'plain',
      headers: { 'x-a': 'b' },
    })
    expect(await answerTo({ status: 200, body: { a: 1 } })).toMatchObject({ status: 200, json: { a: 1 } })
    expect(await answerTo({ redirect: { status: 307, location: 'http://elsewhere.example/' } })).toMatchObject({
      status: 307,
      headers: { location: 'http://elsewhere.example/' },
    })
    expect(performed).toEqual([])
  })

  it('a fault may come behind the operation', async () => {
    expect((await answerTo({ performThen: { status: 500 } })).status).toBe(500)
    expect(await failureOf(answerTo({ performThen: { resetBefore: true } }))).toMatchObject({ code: 'ECONNRESET' })
    expect(performed).toEqual(['create', 'create'])
  })

  it('a fault may change the shape of an answer', async () => {
    expect(await answerTo({ badJson: true })).toMatchObject({ status: 200, json: undefined, text: '{"op":"create","text":"abc",' })
    expect((await answerTo({ framing: 'length' })).headers.date).toBe('Mon, 01 Jun 2026 12:00:00 GMT')
    expect(await answerTo({ emptyBody: true })).toMatchObject({ status: 200, text: '' })
    expect(await answerTo({ wrongContentType: 'text/plain' })).toMatchObject({ headers: { 'content-type': 'text/plain' }, json: good })
    expect((await answerTo({ extraField: 'more' })).json).toEqual({ ...good, more: 'unexpected' })
    expect((await answerTo({ dropField: 'op' })).json).toEqual({ text: 'abc' })
    expect(await answerTo({ closeConnection: true, dateSkew: 60_000, headers: { 'x-a': 'b' } })).toMatchObject({
      json: good,
      headers: { connection: 'close', date: 'Mon, 01 Jun 2026 12:01:00 GMT', 'x-a': 'b' },
    })
  })

  it('a fault may change the framing', async () => {
    expect(await answerTo({ framing: 'chunked' })).toMatchObject({ json: good, headers: { 'transfer-encoding': 'chunked' } })
    expect(await answerTo({ framing: 'bytes' })).toMatchObject({ json: good, headers: { 'content-length': '28' } })
    expect(await answerTo({ dripBody: { bytes: 10, everyMs: 1 } })).toMatchObject({ json: good })
    expect(await answerTo({ framing: 'gzip' })).toMatchObject({ json: good })
    const packed = await answerTo({ framing: 'gzip' }, { 'accept-encoding': 'gzip' })
    expect([packed.headers['content-encoding'], JSON.parse(gunzipSync(packed.bytes).toString())]).toEqual(['gzip', good])
  })

  it.each<[string, Action, string, readonly string[]]>([
    ['a reset before the answer', { resetBefore: true }, 'ECONNRESET', []],
    ['a reset behind the head', { resetAfterHeaders: true }, 'ECONNRESET', ['create']],
    ['a reset in the body', { resetAfter: 5 }, 'ECONNRESET', ['create']],
    ['an end in the body', { truncate: 5 }, 'ECONNRESET', ['create']],
  ])('a fault may be %s', async (_, action, code, expected) => {
    expect(await failureOf(answerTo(action))).toMatchObject({ code })
    expect(performed).toEqual(expected)
  })

  it('a fault may cut what is really cut: bytes of a truncated answer arrive', async () => {
    const service = await start()
    service.script({ do: { truncate: 5 } })
    const answer = await exchange(service, 'GET /things HTTP/1.1\r\nHost: a\r\nUser-Agent: a\r\n\r\n')
    expect(answer).toMatch(/content-length: 23[\s\S]*\r\n\r\n\{"op"$/i)
  })

  it('a fault may be a body that no one reads', async () => {
    const service = await start()
    service.script({ do: { stopReading: 10 } })
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write('POST /things HTTP/1.1\r\nHost: a\r\nUser-Agent: a\r\nContent-Length: 40000000\r\n\r\n')
    socket.write(Buffer.alloc(39_000_000))
    await expect.poll(() => service.requests('create')).toBe(1)
    await pause(100)
    expect(socket.writableLength).toBeGreaterThan(0)
    socket.destroy()
    service.assertClean()
    await service.close()
    await expect.poll(() => service.log[0]?.bytesReceived).toBeGreaterThan(10)
    expect(service.log[0]?.bytesReceived).toBeLessThan(5_000_000)
  })

  it('a fault fits by operation, path, credential and number, as often as told', async () => {
    const service = await start()
    service.script({ match: { op: 'list', nth: 2 }, times: 2, do: { status: 500 } })
    service.script({ match: { credential: 'bad', path: '/things' }, times: Number.POSITIVE_INFINITY, do: { status: 403 } })
    const statuses = []
    for (let n = 0; n < 4; n++) statuses.push((await ask(service, 'GET', '/things')).status)
    expect(statuses).toEqual([200, 500, 500, 200])
    expect((await ask(service, 'POST', '/things', { body: '', headers: { ...AGENT, authorization: 'bad' } })).status).toBe(403)
    service.assertClean()
    service.script({ match: { op: 'read' }, do: { status: 500 } })
    expect(() => service.assertClean()).toThrow(/was not used: .*"op":"read"/)
  })
})
