import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { fetchTransport } from '../../src/platform/fetch-transport.ts'
import { startServer, startSocketServer } from '../servers/harness.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((started) => started.close()))
})

const send = fetchTransport()
const granted = { allowPrivateNetwork: true }
const get = (url: string, headers: Record<string, string> = {}): HttpRequest => ({ method: 'GET', url, headers })

async function server(...args: Parameters<typeof startServer>) {
  const started = await startServer(...args)
  open.push(started)
  return started
}

async function sockets(...args: Parameters<typeof startSocketServer>) {
  const started = await startSocketServer(...args)
  open.push(started)
  return started
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

describe('over the network', () => {
  it('sends what it is given', async () => {
    const good = await server()
    const response = await send({ method: 'POST', url: `${good.origin}/a?b=c`, headers: { 'x-api-key': 'k' }, body: 'text' }, granted)
    expect([response.status, response.url, await response.text(10)]).toEqual([200, `${good.origin}/a?b=c`, 'ok'])
    expect(good.requests[0]).toMatchObject({ method: 'POST', path: '/a?b=c', body: 'text', headers: { 'x-api-key': 'k' } })
    expect(good.requests[0]?.headers).not.toHaveProperty('referer')
  })

  it('follows no redirect where its URL can be seen', async () => {
    const good = await server((_request, reply) => reply.writeHead(302, { location: '/b' }).end())
    const response = await send(get(good.origin), granted)
    expect([response.status, response.headers.get('location')]).toEqual([302, '/b'])
    await response.discard()
  })

  it('counts decoded bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20))
    const good = await server((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    expect(await errorOf((await send(get(good.origin), granted)).bytes(2 ** 20))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  })

  it('returns the platform’s own Response', async () => {
    const good = await server()
    const response = (await send(get(`${good.origin}/x`), granted)).toResponse()
    expect(response).toBeInstanceOf(Response)
    expect([response.url, await response.text()]).toEqual([`${good.origin}/x`, 'ok'])
  })

  it('refuses loopback and private literals unless allowed', async () => {
    const good = await server()
    for (const url of [good.origin, 'https://10.0.0.1/', 'https://localhost/']) {
      expect(await errorOf(send(get(url)))).toMatchObject({ name: 'TrustError', code: 'URL_ADDRESS_FORBIDDEN' })
    }
    expect(good.connections).toBe(0)
  })

  it('reports the network’s failures apart where the platform does', async () => {
    const gone = await startSocketServer(() => {})
    await gone.close()
    expect(await errorOf(send(get(gone.origin), granted))).toMatchObject({ code: 'NETWORK_REFUSED', retryable: true })
    const cut = await sockets((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin')))
    expect(await errorOf((await send(get(cut.origin), granted)).bytes(1000))).toMatchObject({ code: 'NETWORK_RESET', retryable: true })
  })

  it('a request can be aborted before and during the exchange, and while the body is read', async () => {
    const good = await server((_request, response) => {
      response.write('begin')
    })
    const { origin } = await sockets(() => {})
    expect(await errorOf(send(get(good.origin), { ...granted, signal: AbortSignal.abort('why') }))).toMatchObject({
      code: 'ABORTED',
      cause: 'why',
    })
    expect(good.connections).toBe(0)
    for (const url of [origin, good.origin]) {
      const controller = new AbortController()
      setTimeout(() => controller.abort('later'), 50)
      const reading = send(get(url), { ...granted, signal: controller.signal }).then((response) => response.bytes(100))
      expect(await errorOf(reading)).toMatchObject({ name: 'AbortError', cause: 'later' })
    }
  })

  it('ends by TIMEOUT_TOTAL', async () => {
    const { origin } = await sockets(() => {})
    expect(await errorOf(send(get(origin), { ...granted, timeout: 50 }))).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT_TOTAL' })
  })

  it.each([{ 'x-key': 'secret\r\nx' }, { 'x key': 'secret' }])('refuses what is no header, without quoting it', async (headers) => {
    const error = await errorOf(send(get('https://data.example/', headers as unknown as Record<string, string>)))
    expect(error).toMatchObject({ code: 'REQUEST_INVALID' })
    expect(JSON.stringify(error) + error.stack + error.cause).not.toContain('secret')
  })

  it('refuses what is not a URL', async () => {
    for (const url of ['nowhere', 'https://user:password@data.example/']) {
      const error = await errorOf(send(get(url)))
      expect(error).toMatchObject({ code: 'REQUEST_INVALID' })
      expect(error.stack).not.toContain('password')
    }
  })
})

/** Answers like a browser: redirects are hidden unless it follows them itself. */
function browser(sent: Request[]): typeof globalThis.fetch {
  return async (input) => {
    const request = input as Request
    sent.push(request)
    if (request.redirect === 'follow') return new Response('followed')
    return Object.defineProperties(new Response(null), { type: { value: 'opaqueredirect' }, status: { value: 0 } })
  }
}

describe('in a browser', () => {
  it('asks without cookies and without telling where from', async () => {
    const sent: Request[] = []
    await errorOf(fetchTransport(browser(sent))(get('https://data.example/')))
    expect(sent[0]).toMatchObject({ credentials: 'omit', referrerPolicy: 'no-referrer', redirect: 'manual' })
  })

  it('follows a hidden redirect only on request, and only with headers that may travel', async () => {
    const sent: Request[] = []
    const transport = fetchTransport(browser(sent))
    const request = get('https://data.example/', { authorization: 'Bearer t', range: 'bytes=0-1', accept: '*/*' })
    expect(await (await transport(request, { followHidden: true })).text(99)).toBe('followed')
    expect(sent.map(({ redirect }) => redirect)).toEqual(['manual', 'follow'])
  })

  it.each([
    ['it was not told to', get('https://data.example/'), {}],
    ['a header key would travel', get('https://data.example/', { 'x-api-key': 'k' }), { followHidden: true }],
    ['the request is a POST', { ...get('https://data.example/'), method: 'POST' }, { followHidden: true }],
  ])('refuses a hidden redirect when %s', async (_name, request, options) => {
    const sent: Request[] = []
    const error = await errorOf(fetchTransport(browser(sent))(request, options))
    expect(error).toMatchObject({ name: 'TrustError', code: 'REDIRECT_CROSS_ORIGIN' })
    expect(sent).toHaveLength(1)
  })

  it('reports CORS_OR_NETWORK, with a hint, when fetch only says TypeError', async () => {
    const transport = fetchTransport(async () => {
      throw new TypeError('Failed to fetch')
    })
    const error = await errorOf(transport(get('https://data.example/?key=secret')))
    expect(error).toMatchObject({ name: 'NetworkError', code: 'CORS_OR_NETWORK', retryable: true, url: 'https://data.example/' })
    expect(error.hint).toContain('Access-Control-Allow-Origin')
  })

  it('reports RESPONSE_TRUNCATED when a body only says TypeError', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('network error')) })
    const transport = fetchTransport(async () => new Response(body))
    expect(await errorOf((await transport(get('https://data.example/'))).text(9))).toMatchObject({
      code: 'RESPONSE_TRUNCATED',
      retryable: true,
    })
  })

  it('refuses headers that the browser omits, but not its own business', async () => {
    const NodeRequest = globalThis.Request
    const forbidden = ['cookie', 'accept-encoding', 'date']
    globalThis.Request = class extends NodeRequest {
      constructor(input: string, init: RequestInit = {}) {
        const kept = Object.entries(init.headers ?? {}).filter(([name]) => !forbidden.includes(name))
        super(input, { ...init, headers: Object.fromEntries(kept) })
      }
    } as typeof Request
    try {
      const transport = fetchTransport(async () => new Response('ok'))
      const error = await errorOf(transport(get('https://data.example/', { cookie: 'sid=secret' })))
      expect(error).toMatchObject({ name: 'UnsupportedError', code: 'UNSUPPORTED_IN_BROWSER' })
      expect(error.message).toContain('"cookie"')
      expect(JSON.stringify(error)).not.toContain('secret')
      expect(await (await transport(get('https://data.example/', { 'accept-encoding': 'identity' }))).text(9)).toBe('ok')
    } finally {
      globalThis.Request = NodeRequest
    }
  })
})
