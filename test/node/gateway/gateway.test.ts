import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { startTokenServer } from '../../servers/token-server.ts'
import { isToken, itemWith, openGateway, raw, startArchive, TOKEN, withToken } from './origin.ts'

const FILE = randomBytes(300_000)

const CLIENT = { id: 'service', secret: 'service-secret', scopes: ['read'] }

function clientCredentials({ tokenUrl }: { readonly tokenUrl: string }, ...sendTo: string[]) {
  const { id, secret: clientSecret, scopes } = CLIENT
  return { id, type: 'oauth2', flow: 'clientCredentials', tokenUrl, clientId: id, clientSecret, scopes, sendTo } as const
}

async function archiveWithFile() {
  return startArchive({ files: { '/a/b.tif': FILE, '/a/b.tif.ovr': 'overviews', '/a/c%2Fd.bin': 'encoded' }, accepts: isToken })
}

describe('a file through the gateway', () => {
  it('arrives byte for byte, with the fields that a program needs and no others', async () => {
    const archive = await archiveWithFile()
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}a/b.tif`))
    expect(Buffer.from(await response.arrayBuffer()).equals(FILE)).toBe(true)
    expect(Object.fromEntries(response.headers)).toEqual({
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      connection: 'keep-alive',
      'content-length': '300000',
      'content-security-policy': 'sandbox',
      'content-type': 'application/octet-stream',
      date: expect.any(String),
      etag: '"v1"',
      'keep-alive': 'timeout=60',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    await expect.poll(() => gateway.events).toEqual([
      {
        method: 'GET',
        url: `${archive.origin}a/b.tif`,
        status: 200,
        bytes: 300_000,
        milliseconds: expect.any(Number),
        credential: 'archive',
      },
    ])
  })

  it('is requested with the harmless fields of the program only', async () => {
    const archive = await archiveWithFile()
    const gateway = await openGateway(withToken(archive.origin))
    await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), {
      headers: { authorization: 'Bearer mine', cookie: 'a=b', 'x-api-key': 'k', referer: gateway.base, via: '1.1 x', accept: 'image/tiff' },
    })
    expect(archive.sent[0]?.headers).toEqual({
      accept: 'image/tiff',
      'accept-encoding': 'gzip, deflate',
      'accept-language': '*',
      authorization: `Bearer ${TOKEN}`,
      connection: 'keep-alive',
      host: new URL(archive.origin).host,
      'user-agent': 'node',
    })
  })

  it.each([
    ['bytes=5-9', 5, 10, 'bytes 5-9/300000'],
    ['bytes=299990-', 299_990, 300_000, 'bytes 299990-299999/300000'],
  ])('is read in part by %s', async (range, start, end, contentRange) => {
    const archive = await archiveWithFile()
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), { headers: { range } })
    expect([response.status, response.headers.get('content-range')]).toEqual([206, contentRange])
    expect(Buffer.from(await response.arrayBuffer()).equals(FILE.subarray(start, end))).toBe(true)
    expect(archive.sent[0]?.headers['accept-encoding']).toBe('identity')
  })

  it('is not sent again to a program that has it', async () => {
    const archive = await archiveWithFile()
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), { headers: { 'if-none-match': '"v1"' } })
    expect([response.status, await response.text()]).toEqual([304, ''])
  })

  it('has 416 and 404 as its server says', async () => {
    const archive = await archiveWithFile()
    const gateway = await openGateway(withToken(archive.origin))
    const beyond = await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), { headers: { range: 'bytes=400000-' } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */300000'])
    expect((await fetch(gateway.urlFor(`${archive.origin}a/none`))).status).toBe(404)
  })

  it.each(['a/c%2Fd.bin', 'a//b', 'a/b;v=1?x=%41&y=a+b', "a/~b'(1)!*", 'a/b%c3%a9.tif?', '?q', 'a/%7Bz%7D'])(
    'is requested as the program wrote it: %s',
    async (path) => {
      const archive = await archiveWithFile()
      const gateway = await openGateway(withToken(archive.origin))
      await new Promise<void>((resolve, reject) => {
        const target = `${new URL(gateway.base).pathname}http/${new URL(archive.origin).host}/${path}`
        get({ host: '127.0.0.1', port: gateway.port, path: target }, (response) => response.resume().on('end', resolve)).on('error', reject)
      })
      expect(archive.sent[0]?.target.replace(/\?$/, '')).toBe(`/${path}`.replace(/\?$/, ''))
    },
  )

  it('passes an answer of another content coding on as it is', async () => {
    const archive = await startArchive({
      answer: (_request, reply) => reply.writeHead(200, { 'content-encoding': 'br', 'content-length': 3 }).end('abc') !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await new Promise<string>((resolve) => {
      get(gateway.urlFor(`${archive.origin}x`), { headers: { 'accept-encoding': 'br, zstd' } }, (incoming) => {
        incoming.on('data', (chunk) => resolve(`${incoming.headers['content-encoding']} ${incoming.headers['content-length']} ${chunk}`))
      })
    })
    expect(response).toBe('br 3 abc')
    expect(archive.sent[0]?.headers['accept-encoding']).toBe('br')
  })

  it('comes through ::1 as well', async () => {
    const archive = await archiveWithFile()
    const gateway = await openGateway(withToken(archive.origin))
    const url = gateway.urlFor(`${archive.origin}a/b.tif.ovr`).replace('127.0.0.1', '[::1]')
    const answer = await fetch(url).catch(() => undefined)
    // A machine without IPv6 has no such address.
    if (answer) expect(await answer.text()).toBe('overviews')
    else await expect(fetch(`http://[::1]:${gateway.port}/`)).rejects.toThrow()
  })

  it('is held back while the program does not read', async () => {
    let written = 0
    const chunk = Buffer.alloc(65_536)
    const archive = await startArchive({
      answer: (_request, reply) => {
        reply.writeHead(200)
        const push = () => {
          while (!reply.destroyed && reply.write(chunk)) written += chunk.length
        }
        reply.on('drain', push)
        push()
        return true
      },
    })
    const gateway = await openGateway(withToken(archive.origin))
    const program = get(gateway.urlFor(`${archive.origin}endless`))
    const [response] = await once(program, 'response')
    response.pause()
    let before = -1
    while (before !== written) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(written).toBeLessThan(64 * 2 ** 20)
    response.destroy()
  })

  it('is no longer requested when the program leaves', async () => {
    let closed: () => void = () => {}
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    const archive = await startArchive({
      answer: (_request, reply) => {
        reply.writeHead(200).write('a')
        reply.on('close', closed)
        return true
      },
    })
    const gateway = await openGateway(withToken(archive.origin))
    const program = get(gateway.urlFor(`${archive.origin}x`))
    const [response] = await once(program, 'response')
    response.destroy()
    await isClosed
    expect(gateway.events[0]?.code).toBe('ABORTED')
  })
})

describe('HEAD', () => {
  it('is answered by the server', async () => {
    const archive = await archiveWithFile()
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}a/b.tif`), { method: 'HEAD' })
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '300000'])
    expect(archive.sent.map(({ method }) => method)).toEqual(['HEAD'])
  })

  it.each([403, 405, 501])('is answered from the first byte where the server refuses it with %i', async (status) => {
    const archive = await startArchive({
      files: { '/b.tif': FILE },
      accepts: isToken,
      answer: ({ method }, reply) => method === 'HEAD' && reply.writeHead(status).end() !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}b.tif`), { method: 'HEAD' })
    expect([response.status, response.headers.get('content-length'), response.headers.get('content-range')]).toEqual([200, '300000', null])
    expect(archive.sent.map(({ method, headers }) => [method, headers.range])).toEqual([
      ['HEAD', undefined],
      ['GET', 'bytes=0-0'],
    ])
  })

  it('has the length of an empty file that the server refuses to send in part', async () => {
    const archive = await startArchive({
      answer: ({ method }, reply) => {
        if (method === 'HEAD') reply.writeHead(405).end()
        else reply.writeHead(416, { 'content-range': 'bytes */0' }).end()
        return true
      },
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}empty`), { method: 'HEAD' })
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '0'])
  })
})

describe('an interrupted body', () => {
  const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

  it('is continued from the same representation', async () => {
    const archive = await startArchive({
      files: { '/b.tif': FILE },
      accepts: isToken,
      cut: (number) => (number < 4 ? 70_000 : undefined),
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}b.tif`))
    expect(sha(Buffer.from(await response.arrayBuffer()))).toBe(sha(FILE))
    expect(archive.sent.length).toBeGreaterThan(2)
    expect(archive.sent[0]?.headers['accept-encoding']).toMatch(/gzip/)
    const rest = { 'if-range': '"v1"', range: expect.stringMatching(/^bytes=[1-9]\d*-299999$/), 'accept-encoding': 'identity' }
    expect(archive.sent.at(-1)?.headers).toMatchObject(rest)
  })

  it('whose token ends in the middle is continued with a new one', async () => {
    const tokens = await startTokenServer({ client: CLIENT })
    onTestFinished(() => tokens.close())
    const ended = new Set<string>()
    const archive = await startArchive({
      files: { '/b.tif': FILE },
      accepts: (authorization = '') => tokens.accepts(authorization.slice(7), 'read') && !ended.has(authorization),
      cut: (number) => {
        ended.add(archive.sent[number - 1]?.headers.authorization ?? '')
        return ended.size < 4 ? 70_000 : undefined
      },
    })
    const gateway = await openGateway(createAuth({ credentials: [clientCredentials(tokens, archive.origin)] }))
    const response = await fetch(gateway.urlFor(`${archive.origin}b.tif`))
    expect(sha(Buffer.from(await response.arrayBuffer()))).toBe(sha(FILE))
    expect(tokens.exchanges).toHaveLength(4)
    expect(gateway.events[0]).toMatchObject({ status: 200, bytes: 300_000, credential: 'service' })
  })

  it('of a range is continued to the end of that range', async () => {
    const archive = await startArchive({ files: { '/b.tif': FILE }, cut: (number) => (number === 1 ? 1000 : undefined) })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}b.tif`), { headers: { range: 'bytes=100-90000' } })
    expect(sha(Buffer.from(await response.arrayBuffer()))).toBe(sha(FILE.subarray(100, 90_001)))
    expect(archive.sent[1]?.headers.range).toMatch(/^bytes=\d+-90000$/)
  })

  it('of HTTP/1.0 without a length is cut by a reset, because its end looks like that of a whole one', async () => {
    const archive = await startArchive({
      answer: (_request, response) => response.writeHead(200).write('part', () => response.destroy()) !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    const { host, pathname } = new URL(gateway.urlFor(archive.origin))
    const socket = connect(gateway.port, '127.0.0.1').resume()
    socket.write(`GET ${pathname} HTTP/1.0\r\nHost: ${host}\r\n\r\n`)
    const [error] = await once(socket, 'error')
    expect(error.code).toBe('ECONNRESET')
  })

  it.each([
    ['another representation', (number: number) => `"v${number}"`],
    ['a weak entity tag', () => 'W/"v1"'],
  ])('of %s is cut, so that the program sees a short response', async (_name, etag) => {
    const archive = await startArchive({ files: { '/b.tif': FILE }, cut: (number) => (number === 1 ? 70_000 : undefined), etag })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}b.tif`))
    expect(response.headers.get('content-length')).toBe('300000')
    await expect(response.arrayBuffer()).rejects.toThrow()
    expect(gateway.events[0]?.bytes).toBeLessThanOrEqual(70_000)
    expect(gateway.events[0]?.code).toMatch(/^(?:NETWORK_RESET|RESPONSE_TRUNCATED|RANGE_INVALID)$/)
  })
})

describe('a busy server', () => {
  it.each([429, 503])('is asked again a few times, then its %i is passed on with Retry-After', async (status) => {
    const archive = await startArchive({
      answer: (_request, reply) => reply.writeHead(status, { 'retry-after': '0' }).end('busy') !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}x`))
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([status, '0', 'busy'])
    expect(archive.sent).toHaveLength(4)
  })

  it('that recovers is not noticed', async () => {
    let requests = 0
    const archive = await startArchive({
      files: { '/x': 'here' },
      answer: (_request, response) => ++requests < 3 && response.writeHead(503, { 'retry-after': '0' }).end() !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    expect(await (await fetch(gateway.urlFor(`${archive.origin}x`))).text()).toBe('here')
  })

  it('that asks for a long wait is passed on at once', async () => {
    const archive = await startArchive({
      answer: (_request, reply) => reply.writeHead(429, { 'retry-after': '120' }).end() !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}x`))
    expect([response.status, response.headers.get('retry-after'), archive.sent.length]).toEqual([429, '120', 1])
  })
})

describe('a program that leaves while the gateway waits', () => {
  it('ends the retries', async () => {
    const archive = await startArchive({
      answer: (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end() !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    const program = request(gateway.urlFor(`${archive.origin}x`)).on('error', () => {})
    program.end()
    while (archive.sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    program.destroy()
    while (gateway.events.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(gateway.events[0]?.code).toBe('ABORTED')
    expect(archive.sent).toHaveLength(1)
  })
})

describe('redirects', () => {
  it('are followed by the gateway, each with the credential for its own URL', async () => {
    const store = await startArchive({ files: { '/signed': FILE } })
    const archive = await startArchive({
      accepts: isToken,
      answer: (_request, reply) => reply.writeHead(302, { location: `${store.origin}signed?sig=1` }).end() !== undefined,
    })
    const other = { id: 'other', type: 'http', scheme: 'bearer', token: 'other-token', sendTo: [`${store.origin}elsewhere/`] } as const
    const credentials = [{ id: 'archive', type: 'http', scheme: 'bearer', token: TOKEN, sendTo: [archive.origin] } as const, other]
    const gateway = await openGateway(createAuth({ credentials }))
    const response = await fetch(gateway.urlFor(`${archive.origin}b.tif`), { redirect: 'error' })
    expect(Buffer.from(await response.arrayBuffer()).equals(FILE)).toBe(true)
    expect(response.headers.get('location')).toBeNull()
    expect(store.sent.map(({ target, headers }) => [target, headers.authorization])).toEqual([['/signed?sig=1', undefined]])
  })

  it('to a private host that nobody named are refused', async () => {
    const metadata = await startArchive({ files: { '/latest': 'keys' } })
    const archive = await startArchive({
      accepts: isToken,
      answer: (_request, reply) => reply.writeHead(302, { location: `${metadata.origin}latest` }).end() !== undefined,
    })
    const gateway = await openGateway(withToken(archive.origin))
    const response = await fetch(gateway.urlFor(`${archive.origin}b.tif`))
    expect([response.status, response.headers.get('x-stac-auth-code')]).toEqual([403, 'URL_ADDRESS_FORBIDDEN'])
    expect(metadata.sent).toEqual([])
  })
})

describe('a program that pipelines its requests', () => {
  it('gets the answers in order, one at a time', async () => {
    let [open, most] = [0, 0]
    const archive = await startArchive({
      answer: (incoming, response) => {
        most = Math.max(most, ++open)
        setTimeout(() => {
          open--
          response.end(incoming.url)
        }, 20)
        return true
      },
    })
    const gateway = await openGateway(withToken(archive.origin))
    const path = new URL(gateway.urlFor(archive.origin)).pathname
    const line = (name: string, more = '') => `GET ${path}${name} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n${more}\r\n`
    const answers = await raw(gateway.port, line('one') + line('two') + line('three', 'Connection: close\r\n'))
    expect([...answers.matchAll(/\/(one|two|three)\r?\n?/g)].map(([, name]) => name)).toEqual(['one', 'two', 'three'])
    expect(most).toBe(1)
  })
})

describe('many requests at once', () => {
  it('are all answered, with one token request', async () => {
    const tokens = await startTokenServer({ client: CLIENT })
    onTestFinished(() => tokens.close())
    const archive = await startArchive({
      files: { '/b.tif': FILE },
      accepts: (authorization = '') => tokens.accepts(authorization.slice(7), 'read'),
    })
    const gateway = await openGateway(createAuth({ credentials: [clientCredentials(tokens, archive.origin)] }))
    const url = gateway.urlFor(`${archive.origin}b.tif`)
    const ranges = Array.from({ length: 400 }, (_, index) => index * 700)
    const parts = await Promise.all(
      ranges.map(async (start) => {
        const program = request(url, { agent: false, headers: { range: `bytes=${start}-${start + 699}` } }).end()
        const [response] = await once(program, 'response')
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        return Buffer.concat(chunks)
      }),
    )
    expect(Buffer.concat(parts).equals(FILE.subarray(0, 280_000))).toBe(true)
    expect(tokens.exchanges).toHaveLength(1)
  })
})

describe('targets of documents', () => {
  it('are reachable by their keys, also alternates', async () => {
    const archive = await archiveWithFile()
    const item = itemWith({
      B04: { href: `${archive.origin}a/b.tif`, 'auth:refs': ['token'], alternate: { s3: { href: 's3://bucket/a/b.tif' } } },
      folder: { href: './rel.tif' },
      nowhere: { href: 'ftp://data.example/x' },
    })
    const gateway = await openGateway(withToken(archive.origin), {
      documents: [{ document: item, url: 'https://catalog.example/i/item.json' }],
    })
    expect(gateway.targets).toEqual([
      { document: 'scene', key: 'B04', href: `${archive.origin}a/b.tif`, url: gateway.urlFor(`${archive.origin}a/b.tif`) },
      { document: 'scene', key: 'B04/s3', href: 's3://bucket/a/b.tif', url: `${gateway.base}s3/bucket/a/b.tif` },
      {
        document: 'scene',
        key: 'folder',
        href: 'https://catalog.example/i/rel.tif',
        url: `${gateway.base}https/catalog.example/i/rel.tif`,
      },
    ])
  })
})
