import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openGateway, raw, startArchive, withToken } from './origin.ts'

/** Starts a server that answers each request with these bytes and closes the connection, until the test ends. */
async function startRaw(...answers: readonly string[]) {
  const sent: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      sent.push(received)
      received = ''
      socket.end(answers[Math.min(sent.length, answers.length) - 1] ?? '', 'latin1')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ranges: () => sent.map((text) => /^range: (.*)\r$/m.exec(text)?.[1]),
  }
}

const twice = (...answers: readonly string[]) => requested(2, ...answers)

/** Requests a file so many times on one connection; everything that comes back. */
async function requested(times: number, ...answers: readonly string[]) {
  const server = await startRaw(...answers)
  const gateway = await openGateway(withToken(server.origin))
  const path = new URL(gateway.urlFor(`${server.origin}x`)).pathname
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n`
  const answer = await raw(gateway.port, `${`${head}\r\n`.repeat(times - 1)}${head}Connection: close\r\n\r\n`, 6000)
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  return { answer, body, gateway, ranges: server.ranges() }
}

const lines = (...fields: readonly string[]) => `${fields.join('\r\n')}\r\n\r\n`
const ETAG = 'ETag: "a"'
const first = (...fields: readonly string[]) => `${lines('HTTP/1.1 200 OK', 'Content-Length: 10', ...fields)}01234`
const rest = (body: string, ...fields: readonly string[]) =>
  lines('HTTP/1.1 206 Partial Content', 'Content-Range: bytes 5-9/10', `Content-Length: ${body.length}`, ...fields) + body
const chunked = (body: string) => `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const FORGED = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'

describe('a server that continues an interrupted body', () => {
  it('with more than the rest cannot answer the next request of the program', async () => {
    const longer = `HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\n${ETAG}\r\n${chunked(`56789${FORGED}`)}`
    const { body, gateway } = await twice(first(ETAG), longer)
    expect(body).toBe('01234')
    expect(gateway.events[0]).toMatchObject({ code: 'RESPONSE_INVALID', bytes: 5 })
  })

  it('too few bytes end as a short response, on a connection that is not used again', async () => {
    const { body, ranges, gateway } = await twice(first(ETAG), rest('56', ETAG))
    expect(body).toBe('0123456')
    expect(ranges).toEqual([undefined, 'bytes=5-9', 'bytes=7-9'])
    expect(gateway.events.map(({ code }) => code)).toEqual(['RANGE_INVALID'])
  })

  it('of a range that is longer than its length cannot answer the next request either', async () => {
    const part = `${lines('HTTP/1.1 206 Partial Content', 'Content-Range: bytes 0-99/100', 'Content-Length: 10', ETAG)}01234`
    const { body, ranges } = await twice(part, rest(`56789${FORGED}`, ETAG))
    expect([body, ranges]).toEqual(['01234', [undefined]])
  })

  const OLD = ['Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT', 'Date: Mon, 01 Jan 2024 01:00:00 GMT']
  it.each([
    ['has another date', first(...OLD), rest('other', 'Last-Modified: Mon, 01 Jan 2024 00:00:01 GMT')],
    ['has no entity tag any more', first(ETAG), rest('other')],
    ['has no date any more', first(...OLD), rest('other')],
    ['has a weak entity tag', first(ETAG), rest('other', 'ETag: W/"a"')],
    ['has another coding', first(ETAG), rest('other', ETAG, 'Content-Encoding: gzip')],
    ['is of another size', first(ETAG), rest('other', ETAG).replace('/10', '/11')],
    [
      'was modified in the second in which it was sent',
      first(OLD[0] ?? '', 'Date: Mon, 01 Jan 2024 00:00:00 GMT'),
      rest('other', OLD[0] ?? ''),
    ],
  ])('of a file that %s leaves a short response', async (_name, one, other) => {
    expect((await twice(one, other)).body).toBe('01234')
  })

  it.each([
    ['entity tag', first(ETAG), rest('56789', ETAG)],
    ['date, long before it was sent', first(...OLD), rest('56789', OLD[0] ?? '')],
    ['date, where the rest has no entity tag', first(ETAG, ...OLD), rest('56789', OLD[0] ?? '')],
  ])('of the same %s is believed', async (_name, one, other) => {
    expect((await twice(one, other)).body).toMatch(/^0123456789HTTP\/1\.1 /)
  })
})

describe('a server that breaks HTTP', () => {
  it.each([
    ['a length and chunks', `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${chunked('hi')}`],
    ['two lengths', `${lines('HTTP/1.1 200 OK', 'Content-Length: 2', 'Content-Length: 40')}hi${FORGED}`],
    ['a carriage return in a field', `${lines('HTTP/1.1 200 OK', 'Content-Type: a\rSet-Cookie: b=c', 'Content-Length: 2')}hi`],
    ['a line feed in a field', `${lines('HTTP/1.1 200 OK', 'Content-Type: a\nSet-Cookie: b=c', 'Content-Length: 2')}hi`],
    ['a folded field', `${lines('HTTP/1.1 200 OK', 'Content-Type: a', ' Set-Cookie: b=c', 'Content-Length: 2')}hi`],
    ['a control character in a field', `${lines('HTTP/1.1 200 OK', 'Content-Type: \u0001', 'Content-Length: 2')}hi`],
    ['no status line', 'hi'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhi'],
    ['a status that there is not', `${lines('HTTP/1.1 999 X', 'Content-Length: 2')}hi`],
  ])(
    'with %s is a 502',
    async (_name, answer) => {
      const { answer: received, gateway } = await requested(1, answer)
      expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 502'])
      expect(received).not.toMatch(/set-cookie|forged/i)
      expect(gateway.events).toHaveLength(1)
    },
    20_000,
  )

  it.each([
    ['behind its length', `${lines('HTTP/1.1 200 OK', 'Content-Length: 2')}hi${FORGED}`, 'hi'],
    ['behind a 204', `${lines('HTTP/1.1 204 No Content', 'Content-Length: 6')}forged`, ''],
    ['behind a 304', `${lines('HTTP/1.1 304 Not Modified', 'Content-Length: 6')}forged`, ''],
  ])('by bytes %s has them dropped', async (_name, answer, expected) => {
    const { answer: received } = await twice(answer)
    expect(received.split(/HTTP\/1\.1 [\s\S]*?\r\n\r\n/)).toEqual(['', expected, expected])
  })

  it('with a length for a 204 does not pass it on', async () => {
    const { answer } = await twice(lines('HTTP/1.1 204 No Content', 'Content-Length: 6'))
    expect(answer).not.toMatch(/^content-length/im)
  })

  it('by fields that lead a browser or a program elsewhere has them dropped', async () => {
    const named = ['Location', 'Refresh', 'Link', 'Content-Location', 'Alt-Svc', 'Set-Cookie', 'WWW-Authenticate', 'SourceMap', 'Trailer']
    const own = [
      'Content-Security-Policy: none',
      'Access-Control-Allow-Origin: *',
      'Referrer-Policy: unsafe-url',
      'X-Content-Type-Options: x',
    ]
    const { answer } = await twice(
      `${lines('HTTP/1.1 300 X', ...named.map((name) => `${name}: evil`), ...own, 'x-stac-auth-code: evil', 'Content-Length: 2')}hi`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 300 /)
    expect(answer).not.toMatch(/evil|none|\*|unsafe-url/)
  })

  it('with a coding that nobody can take off a document passes the document on as it is', async () => {
    const { answer } = await twice(
      `${lines('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Content-Encoding: zstd', 'Content-Length: 2')}hi`,
    )
    expect(answer).toMatch(/^Content-Encoding: zstd\r$/m)
  })
})

describe('large documents', () => {
  it('of one server are read one after another, as each takes many times its size', async () => {
    const text = JSON.stringify({ type: 'Catalog', stac_version: '1.0.0', id: 'c', description: 'c', links: [] })
    const size = 16 * 2 ** 20
    let read = 0
    let waiting: (() => void)[] = []
    const archive = await startArchive({
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': size })
        response.write(text.padEnd(size - 1), () => {
          read++
          waiting.push(() => response.end(' '))
        })
        return true
      },
    })
    const gateway = await openGateway(withToken(archive.origin))
    const answers = Promise.all([1, 2, 3].map(async (one) => (await fetch(gateway.urlFor(`${archive.origin}${one}.json`))).text()))
    const most: number[] = []
    for (let count = 1; count <= 3; count++) {
      await expect.poll(() => read, { timeout: 8000 }).toBe(count)
      await new Promise((resolve) => setTimeout(resolve, 100))
      most.push(waiting.length)
      for (const end of waiting) end()
      waiting = []
    }
    expect(most).toEqual([1, 1, 1])
    expect((await answers).map((answer) => answer.length)).toEqual([size, size, size])
  }, 30_000)
})

describe('a document with long URLs', () => {
  it('does not keep the gateway busy', async () => {
    const links = Array.from({ length: 200 }, (_none, index) => ({
      rel: 'item',
      href: `https://other.example/${index}${'/'.repeat(8000)}`,
    }))
    const catalog = { type: 'Catalog', stac_version: '1.0.0', id: 'c', description: 'c', links }
    const archive = await startArchive({ files: { '/c.json': JSON.stringify(catalog) }, types: { '/c.json': 'application/json' } })
    const gateway = await openGateway(withToken(archive.origin), {
      documents: [{ document: { ...catalog, links: [] }, url: `${archive.origin}c.json` }],
    })
    expect(await (await fetch(gateway.urlFor(`${archive.origin}c.json`))).json()).toMatchObject({ id: 'c' })
    // It took 20 seconds when every prefix of every URL was looked up.
  }, 8000)
})
