import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { TranslationClient } from '../../src/services/translation/translation-client.ts'
import { CERTIFIED, startServer, TEST_CA } from '../servers/harness.ts'
import { startTranslationFake } from '../servers/translation/translation-fake.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const LOGIN = `Basic ${Buffer.from('me:proxy-password').toString('base64')}`
const CREDENTIALS = { authorization: 'Bearer canary-token', cookie: 'sid=canary-cookie' }
const get = (url: string): HttpRequest => ({ method: 'GET', url, headers: CREDENTIALS })
const granted = { allowPrivateNetwork: true }

async function started<Some extends { close(): Promise<void> }>(server: Promise<Some>): Promise<Some> {
  const running = await server
  open.push(running)
  return running
}

/** A proxy that asks for its login, forwards requests in absolute form without it, opens tunnels, and keeps every head it was sent. */
async function startProxy(tls = false, isIPv6 = false) {
  const heads: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const onSocket = (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    let upstream: Socket | undefined
    let isTunnel = false
    socket.on('data', (chunk) => {
      if (isTunnel) return void upstream?.write(chunk)
      const text = chunk.toString('latin1')
      if (!/^[A-Z]+ \S+ HTTP\/1\.1\r\n/.test(text)) return void upstream?.write(chunk)
      heads.push(text.slice(0, text.indexOf('\r\n\r\n')))
      if (!text.includes(`proxy-authorization: ${LOGIN}\r\n`))
        return void socket.end('HTTP/1.1 407 Login\r\nproxy-authenticate: Basic\r\ncontent-length: 5\r\n\r\nlogin')
      const [, method, target = ''] = /^(\S+) (\S+) /.exec(text) ?? []
      isTunnel = method === 'CONNECT'
      const to = isTunnel ? new URL(`http://${target}`) : URL.canParse(target) ? new URL(target) : undefined
      if (!to) return void socket.end('HTTP/1.1 400 Not in absolute form\r\n\r\n')
      if (!upstream) {
        upstream = connect(Number(to.port), '127.0.0.1')
        sockets.add(upstream)
        upstream.on('error', () => socket.destroy())
        upstream.pipe(socket)
      }
      if (isTunnel) return void socket.write('HTTP/1.1 200 Open\r\n\r\n')
      upstream.write(text.replace(target, to.pathname + to.search).replace(/proxy-authorization: .*\r\n/, ''), 'latin1')
    })
  }
  const server: Server | TlsServer = tls ? createTlsServer(CERTIFIED, onSocket) : createServer(onSocket)
  await new Promise<void>((resolve) => server.listen(0, isIPv6 ? '::1' : '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })
  const proxy = {
    heads,
    port,
    close,
    url: `http://me:proxy-password@${isIPv6 ? '[::1]' : '127.0.0.1'}:${port}`,
    connections: () => connections,
  }
  open.push(proxy)
  return proxy
}

const errorOf = (promise: Promise<unknown>) => promise.then(String, (error) => error)

it('sends an http: URL in absolute form with the login of the proxy, which the origin does not see', async () => {
  const origin = await started(startServer())
  const proxy = await startProxy()
  const send = undiciTransport({ env: { http_proxy: proxy.url } })
  for (const path of ['/a%2Fb?x=1&y=http://data.example/', '/']) {
    expect(await (await send(get(origin.origin + path), granted)).text(2)).toBe('ok')
    expect(proxy.heads.at(-1)).toMatch(`GET ${origin.origin}${path} HTTP/1.1\r\nhost: 127.0.0.1:${new URL(origin.origin).port}\r\n`)
  }
  expect(origin.requests.map(({ path }) => path)).toEqual(['/a%2Fb?x=1&y=http://data.example/', '/'])
  expect(origin.requests[0]?.headers).toMatchObject(CREDENTIALS)
  expect(origin.received).not.toMatch(/proxy/i)
  // The credential is in its own header, once, and nowhere else.
  expect(proxy.heads[0]?.match(/canary-token/g)).toHaveLength(1)
})

it('sends a request to a proxy at an IPv6 address', async () => {
  const origin = await started(startServer())
  const proxy = await startProxy(false, true)
  expect(await (await undiciTransport({ env: { http_proxy: proxy.url } })(get(`${origin.origin}/`), granted)).text(2)).toBe('ok')
  expect(proxy.heads).toHaveLength(1)
})

it('opens a tunnel for an https: URL through the same proxy, which sees no credential', async () => {
  const origin = await started(startServer(undefined, { tls: 'valid' }))
  const proxy = await startProxy()
  const send = undiciTransport({ ca: TEST_CA, env: { all_proxy: proxy.url } })
  expect(await (await send(get(`https://127.0.0.1:${origin.port}/secret`), granted)).text(2)).toBe('ok')
  expect(proxy.heads).toEqual([expect.stringMatching(`^CONNECT 127.0.0.1:${origin.port} HTTP/1.1\r\n`)])
  expect(proxy.heads[0]).not.toMatch(/canary|secret/)
})

it('sends the calls of the translation client in absolute form, over one connection', async () => {
  const fake = await startTranslationFake({})
  open.push(fake)
  const proxy = await startProxy()
  const transport = undiciTransport({ env: { http_proxy: proxy.url } })
  const client = new TranslationClient({ baseUrl: fake.url, allowInsecure: 'loopback', apiKey: 'test-pro', transport })
  await client.usage()
  await client.translateText({ text: 'Hello', target_lang: 'DE' })
  await client.usage()
  const { origin } = new URL(fake.url)
  const lines = proxy.heads.map((head) => head.split('\r\n')[0])
  expect(lines).toEqual([`GET ${origin}/v2/usage HTTP/1.1`, `POST ${origin}/v2/translate HTTP/1.1`, `GET ${origin}/v2/usage HTTP/1.1`])
  expect(proxy.connections()).toBe(1)
  fake.assertClean()
})

it('does not use the proxy for hosts in no_proxy, and sends them nothing of it', async () => {
  const origin = await started(startServer())
  const proxy = await startProxy()
  const send = undiciTransport({ env: { http_proxy: proxy.url, NO_PROXY: '127.0.0.0/8' } })
  expect(await (await send(get(`${origin.origin}/a`), granted)).text(2)).toBe('ok')
  expect(proxy.connections()).toBe(0)
  expect(origin.received).toMatch(/^GET \/a HTTP\/1\.1/)
  expect(origin.received).not.toMatch(/proxy/i)
})

it('keeps the tunnel for a connection of its own', async () => {
  const origin = await started(startServer())
  const proxy = await startProxy()
  const connection = await undiciTransport({ env: { http_proxy: proxy.url } }).connect(`${origin.origin}/`, granted)
  expect(await (await connection.send(get(`${origin.origin}/own`))).text(2)).toBe('ok')
  connection.close()
  expect(proxy.heads).toEqual([expect.stringMatching(/^CONNECT /)])
})

it('reports PROXY_AUTH_REQUIRED without a secret when the proxy refuses the login', async () => {
  const origin = await started(startServer())
  const proxy = await startProxy()
  const wrong = undiciTransport({ env: { http_proxy: proxy.url.replace('proxy-password', 'wrong-password') } })
  const error = await errorOf(wrong(get(`${origin.origin}/`), granted))
  expect(error).toMatchObject({ code: 'PROXY_AUTH_REQUIRED', status: 407, hint: expect.stringContaining('@ as %40') })
  expect(error.message).toMatch(/refused the login in its variable$/)
  expect(JSON.stringify(error) + error.stack).not.toMatch(/wrong-password|canary/)
  expect(origin.requests).toEqual([])
})

it('asks for a login when the variable of the proxy has none', async () => {
  const origin = await started(startServer())
  const { host } = new URL((await startProxy()).url)
  const error = await errorOf(undiciTransport({ env: { http_proxy: `http://${host}` } })(get(`${origin.origin}/`), granted))
  expect(error).toMatchObject({ code: 'PROXY_AUTH_REQUIRED', message: expect.stringMatching(/requires a login$/) })
})

it('never sends to a proxy that is down or untrusted, nor to a forbidden host through one', async () => {
  const origin = await started(startServer())
  const proxy = await startProxy(true)
  const untrusted = undiciTransport({ env: { http_proxy: proxy.url.replace('http:', 'https:') } })
  expect(await errorOf(untrusted(get(`${origin.origin}/`), granted))).toMatchObject({ code: 'PROXY_UNREACHABLE', retryable: true })
  expect(await errorOf(untrusted(get(`${origin.origin}/`)))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
  expect(proxy.heads).toEqual([])
  const invalid = undiciTransport({ env: { http_proxy: 'ftp://127.0.0.1' } })
  expect(await errorOf(invalid(get(`${origin.origin}/`), granted))).toMatchObject({ code: 'PROXY_INVALID' })
  expect(origin.requests).toEqual([])
})
