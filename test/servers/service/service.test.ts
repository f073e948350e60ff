import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { failureOf } from '../../harness/failure.ts'
import { runningClock } from './manual-clock.ts'
import { rawRequest } from './raw-request.ts'
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

describe('a service', () => {
  it('finds operations by verb and path, and decodes parameters once', async () => {
    const service = await start()
    expect((await ask(service, 'GET', '/things/a%2520b?c=d')).json).toEqual({ op: 'read', id: 'a%20b', text: '' })
    service.assertClean()
  })

  it.each(['/things/a%2Fb', '/things/..', '/things/a..b', '/things/%2E%2E', '/things/a%00', '/things/%', '/things/'])(
    'returns no such identifier: %s',
    async (path) => {
      const service = await start()
      expect((await ask(service, 'GET', path)).status).toBe(404)
      expect([service.log[0]?.rawUrl, performed]).toEqual([path, []])
    },
  )

  it('refuses and records unknown paths and verbs', async () => {
    const service = await start()
    expect((await ask(service, 'GET', '/other')).status).toBe(404)
    const { status, headers } = await ask(service, 'PUT', '/things', { body: 'x' })
    expect([status, headers.allow]).toEqual([405, 'GET, POST'])
    expect(service.violations).toHaveLength(2)
    expect(() => service.assertClean()).toThrow(/an unknown path\n.*PUT \/things: a verb/)
  })

  it.each<[string, string, readonly string[], RegExp]>([
    ['no user-agent', 'GET', [], /no user-agent/],
    ['two credentials', 'GET', ['user-agent', 'a', 'authorization', 'a', 'authorization', 'b'], /two authorization/],
    ['a key elsewhere', 'GET', ['user-agent', 'a', 'X-Api-Key', 'a'], /x-api-key/],
    ['a cookie', 'GET', ['user-agent', 'a', 'Cookie', 'a=b'], /cookie/],
    ['a body on GET', 'GET', ['user-agent', 'a', 'content-length', '1'], /a body on GET/],
  ])('refuses %s', async (_, method, headers, violation) => {
    const service = await start()
    const { status } = await ask(service, method, '/things', {
      headers: ['host', 'a', ...headers],
      ...(headers.includes('1') && { body: 'x' }),
    })
    expect([status, performed, service.violations]).toEqual([400, [], [expect.stringMatching(violation)]])
    const lax = await start({ strict: false })
    expect((await ask(lax, 'GET', '/things')).status).toBe(200)
  })

  it.each<[string, string, RegExp, RegExp | undefined]>([
    [
      'two framings',
      'POST /things HTTP/1.1\r\nHost: a\r\nUser-Agent: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      /^HTTP\/1.1 400/,
      /no HTTP/,
    ],
    [
      'more bytes than said',
      'POST /things HTTP/1.1\r\nHost: a\r\nUser-Agent: a\r\nContent-Length: 1\r\n\r\nabc',
      /HTTP\/1.1 400/,
      /no HTTP/,
    ],
    ['a large head', `GET /things HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, /^HTTP\/1.1 431/, /no HTTP/],
    [
      'a query that is not encoded',
      'GET /things?a=%zz HTTP/1.1\r\nHost: a\r\nUser-Agent: a\r\nConnection: close\r\n\r\n',
      /^HTTP\/1.1 400/,
      /query/,
    ],
    [
      'a long address',
      `GET /things?a=${'x'.repeat(200)} HTTP/1.1\r\nHost: a\r\nUser-Agent: a\r\nConnection: close\r\n\r\n`,
      /^HTTP\/1.1 414/,
      undefined,
    ],
  ])('refuses %s', async (_, text, answer, violation) => {
    const service = await start()
    expect(await exchange(service, text)).toMatch(answer)
    expect(service.violations).toEqual(violation ? [expect.stringMatching(violation)] : [])
  })

  it('notices bodies that end too early', async () => {
    const service = await start()
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.end('POST /things HTTP/1.1\r\nHost: a\r\nUser-Agent: a\r\nContent-Length: 9\r\n\r\nabc')
    socket.resume()
    await once(socket, 'close')
    await expect.poll(() => service.log[0]?.aborted).toBe(true)
    expect([service.log[0]?.status, performed]).toEqual([0, []])
  })

  it('logs in the order of arrival, with sockets', async () => {
    const service = await start()
    const pool = new Agent({ keepAlive: true, maxSockets: 10 })
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        ask(service, 'POST', `/things?n=${index}`, {
          body: `body ${index}`,
          agent: pool,
          headers: { ...AGENT, authorization: `user ${index % 2}` },
        }),
      ),
    )
    pool.destroy()
    expect(service.log.map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(new Set(service.log.map(({ query }) => query[0]?.[1])).size).toBe(50)
    for (const { query, body, status, chunks } of service.log) {
      expect([body, status, chunks.length > 0]).toEqual([`body ${query[0]?.[1]}`, 200, true])
    }
    for (let id = 1; id <= service.sockets(); id++) {
      const own = service.log.filter(({ socketId }) => socketId === id).map(({ requestOnSocket }) => requestOnSocket)
      expect(own).toEqual(own.map((_, index) => index + 1))
    }
    expect([service.sockets(), service.maxConcurrentSockets()]).toEqual([10, 10])
    expect([service.requests(), service.requests('create'), service.requests('create', 'user 1'), service.requests('list')]).toEqual([
      50, 50, 25, 0,
    ])
    expect(service.maxConcurrent()).toBeLessThanOrEqual(10)
  })

  it('counts bytes, keeps raw fields, and forgets on request', async () => {
    const service = await start({ log: true })
    await ask(service, 'GET', '/things', { headers: ['Host', 'a', 'User-Agent', 'test', 'X-B', '1', 'X-B', '2'] })
    await expect.poll(() => service.log[0]?.bytesSent).toBeGreaterThan(100)
    const [entry] = service.log
    expect(entry?.rawHeaders.slice(0, 8)).toEqual(['Host', 'a', 'User-Agent', 'test', 'X-B', '1', 'X-B', '2'])
    expect(entry?.bytesReceived).toBeGreaterThan(50)
    service.reset()
    expect([service.log, service.requests(), service.maxConcurrent()]).toEqual([[], 0, 0])
  })

  it('does not keep a log on request', async () => {
    const service = await start({ log: false })
    await ask(service, 'GET', '/things')
    expect([service.log, service.requests('list')]).toEqual([[], 1])
  })

  it('limits each credential, by the clock', async () => {
    const service = await start({ limiter: { perSecond: 2, retryAfter: '1' } })
    const statuses = async (user: string) => {
      const { status, headers } = await ask(service, 'GET', '/things', { headers: { ...AGENT, authorization: user } })
      return `${status} ${headers['retry-after']}`
    }
    expect([await statuses('a'), await statuses('a'), await statuses('a'), await statuses('b')]).toEqual([
      '200 undefined',
      '200 undefined',
      '429 1',
      '200 undefined',
    ])
    service.clock.advance(1000)
    expect(await statuses('a')).toBe('200 undefined')
  })

  it('limits what runs at once', async () => {
    const service = await start({ limiter: { concurrent: 3 } })
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    service.script({ do: { delay: gate }, times: Number.POSITIVE_INFINITY })
    const answers = Array.from({ length: 3 }, () => ask(service, 'GET', '/things'))
    await expect.poll(() => service.maxConcurrent()).toBe(3)
    service.script({ do: {}, match: { nth: 99 } })
    const fourth = ask(service, 'GET', '/things')
    await expect.poll(() => service.maxConcurrent()).toBe(4)
    open()
    expect((await Promise.all([...answers, fourth])).map(({ status }) => status)).toEqual([200, 200, 200, 429])
  })

  it('speaks https with a certificate, and has a clock that runs', async () => {
    const read = (name: string) => readFileSync(new URL(`../../../fixtures/tls/${name}`, import.meta.url), 'utf8')
    const service = await start({ certified: { key: read('server.key'), cert: read('server.pem') }, clock: runningClock() })
    expect(service.url).toMatch(/^https:/)
    expect(await failureOf(rawRequest('GET', service.url.replace('https', 'http'), { headers: AGENT }))).toBeInstanceOf(Error)
    const before = service.clock.now()
    service.clock.advance(5000)
    expect(service.clock.now() - before).toBeGreaterThanOrEqual(5000)
  })

  it('closes with connections open and requests unanswered', async () => {
    const service = await start()
    service.script({ do: { noResponse: true } })
    const lost = failureOf(ask(service, 'GET', '/things'))
    await expect.poll(() => service.requests()).toBe(1)
    await service.close()
    expect(await lost).toMatchObject({ code: 'ECONNRESET' })
  })
})
