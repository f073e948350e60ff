import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Redirection, RedirectWish } from '../../src/auth/auth.ts'
import { type LoopbackOptions, loopbackRedirect } from '../../src/node/login/loopback-login.ts'

const STATE = 'state-of-this-login'
const isOurs = (callback: URL) => callback.searchParams.get('state') === STATE

const open: Redirection[] = []
const sockets: Socket[] = []
const waits: AbortController[] = []
afterEach(async () => {
  for (const wait of waits.splice(0)) wait.abort()
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const redirection of open.splice(0)) await redirection.close()
})

/** A login that waits, and what came of it. */
async function login(options: Partial<LoopbackOptions> = {}, signal?: AbortSignal, wish?: RedirectWish) {
  const end = new AbortController()
  waits.push(end)
  const redirection = await loopbackRedirect({ show: () => {}, ...options })(
    signal ? AbortSignal.any([signal, end.signal]) : end.signal,
    wish,
  )
  open.push(redirection)
  let outcome: URL | { code: string } | undefined
  const answer = redirection.answer('https://identity.example/authorize', isOurs, { state: STATE, record: '' })
  answer.then(
    (url) => (outcome = url),
    (error) => (outcome = error),
  )
  return { uri: redirection.uri, origin: new URL(redirection.uri).origin, answer, outcome: () => outcome }
}

interface Sent {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

function send(address: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { method, headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (piece) => (text += piece))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    sent.on('error', reject).end(body)
  })
}

/** A port that is free right now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('the redirect URI that a client is registered with', () => {
  it('the redirect URI that a client is registered with has the port and the path of the credential', async () => {
    const port = await freePort()
    const { uri, origin, answer, outcome } = await login({}, undefined, { port, path: '/oauth/done' })
    expect(uri).toBe(`http://127.0.0.1:${port}/oauth/done`)
    for (const path of ['/callback', '/oauth', '/oauth/done/', '/oauth/Done', '/oauth%2Fdone']) {
      expect((await send(`${origin}${path}${RIGHT}`)).status).toBe(404)
    }
    expect(outcome()).toBeUndefined()
    await send(`${uri}${RIGHT}`)
    expect((await answer).pathname).toBe('/oauth/done')
  })

  it('the registered redirect URI has the port of the caller before that of the credential', async () => {
    const [port, other] = [await freePort(), await freePort()]
    expect((await login({ port }, undefined, { port: other })).uri).toBe(`http://127.0.0.1:${port}/callback`)
  })

  it('the registered redirect URI is refused with its port when another program listens there', async () => {
    const { uri } = await login()
    const port = Number(new URL(uri).port)
    await expect(login({ port })).rejects.toMatchObject({
      code: 'NETWORK_LISTEN',
      message: `cannot listen on 127.0.0.1 port ${port}: EADDRINUSE`,
      hint: expect.stringContaining('that port'),
    })
  })

  it('the registered redirect URI is on one loopback address only, and accepts no other host', async () => {
    const port = await freePort()
    const { uri, outcome } = await login({}, undefined, { port })
    for (const host of [`localhost:${port}`, 'evil.example', `127.0.0.1:${port + 1}`]) {
      expect((await send(`${uri}${RIGHT}`, { headers: { host } })).status).toBe(404)
    }
    expect(outcome()).toBeUndefined()
  })
})

const RIGHT = `?state=${STATE}&code=abc`

describe('the right answer', () => {
  it('ends the wait with the whole address and a page that holds nothing of it', async () => {
    const { uri, answer } = await login()
    expect(uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    const { status, headers, body } = await send(`${uri}${RIGHT}`)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    })
    expect(body).not.toMatch(/script|state|abc/)
    expect((await answer).href).toBe(`${uri}${RIGHT}`)
  })

  it('the right answer may be a refusal of the server', async () => {
    const { uri, answer } = await login()
    await send(`${uri}?state=${STATE}&error=access_denied`)
    expect((await answer).searchParams.get('error')).toBe('access_denied')
  })

  it('frees the port', async () => {
    const { uri, answer } = await login()
    await send(`${uri}${RIGHT}`)
    await answer
    await expect(send(`${uri}${RIGHT}`)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    const again = createServer().listen(Number(new URL(uri).port), '127.0.0.1')
    await once(again, 'listening')
    again.close()
  })

  it('the right answer is the first one', async () => {
    const { uri, answer } = await login()
    const answers = await Promise.allSettled([send(`${uri}${RIGHT}`), send(`${uri}?state=${STATE}&code=other`)])
    expect(answers.filter((one) => one.status === 'fulfilled' && one.value.status === 200)).toHaveLength(1)
    expect((await answer).searchParams.get('code')).toMatch(/^(?:abc|other)$/)
  })

  it('the right answer comes to the other loopback address where that is wanted', async () => {
    const { uri, answer } = await login({ host: '::1' })
    expect(uri).toMatch(/^http:\/\/\[::1\]:\d+\/callback$/)
    await send(`${uri}${RIGHT}`)
    expect((await answer).searchParams.get('code')).toBe('abc')
  })
})

describe('anything else is refused, and the wait continues', () => {
  it.each([
    ['no state', '?code=abc', {}, 400],
    ['a wrong state', '?state=other&code=abc', {}, 400],
    ['a doubled state', `${RIGHT}&state=${STATE}`, {}, 400],
    ['a right and a wrong state', `?state=other&state=${STATE}&code=abc`, {}, 400],
    ['a doubled code', `${RIGHT}&code=def`, {}, 400],
    ['neither code nor error', `?state=${STATE}`, {}, 400],
    ['both code and error', `${RIGHT}&error=access_denied`, {}, 400],
    ['no query', '', {}, 400],
    ['POST', RIGHT, { method: 'POST' }, 404],
    ['HEAD', RIGHT, { method: 'HEAD' }, 404],
    ['OPTIONS', RIGHT, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } }, 404],
    ['GET with a body', RIGHT, { headers: { 'content-length': '3' }, body: 'abc' }, 404],
    ['another path', `/../callback/x${RIGHT}`, {}, 404],
    ['a name for the host', RIGHT, { headers: { host: 'localhost' } }, 404],
    ['a foreign host', RIGHT, { headers: { host: 'evil.example' } }, 404],
    ['a long request', `${RIGHT}&x=${'x'.repeat(20_000)}`, {}, 431],
    ['1 MB', RIGHT, { headers: { x: 'x'.repeat(1_000_000) } }, 431],
  ])('%s', async (_name, tail, options, status) => {
    const { uri, answer, outcome } = await login()
    // A listener that ends the connection in the middle of a long request has refused it as well.
    const refused = await send(`${uri}${tail}`, options).catch((error) => ({ status: error.code, body: '' }))
    expect([status, ...(status === 431 ? ['EPIPE', 'ECONNRESET'] : [])]).toContain(refused.status)
    expect(refused.body).not.toContain(STATE)
    expect(outcome()).toBeUndefined()
    expect((await send(`${uri}${RIGHT}`)).status).toBe(200)
    expect((await answer).searchParams.get('code')).toBe('abc')
  })

  it('the right host without the port, twice, or in the request line', async () => {
    const { uri, answer, outcome, origin } = await login()
    const { host, port } = new URL(origin)
    const raw = (text: string) => talk(Number(port), text)
    expect(await raw(`GET /callback${RIGHT} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 404 /)
    expect(await raw(`GET /callback${RIGHT} HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\n\r\n`)).toMatch(/^HTTP\/1.1 4/)
    expect(await raw(`GET ${uri}${RIGHT} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(/^HTTP\/1.1 404 /)
    expect(await raw(`GET /callback${RIGHT} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /)
    expect(await raw('\x16\x03\x01 not http\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    expect(outcome()).toBeUndefined()
    await send(`${uri}${RIGHT}`)
    await answer
  })

  it('favicons, and connections that are only opened', async () => {
    const { uri, origin, answer, outcome } = await login()
    expect((await send(`${origin}/favicon.ico`)).status).toBe(404)
    await idle(Number(new URL(uri).port))
    expect(outcome()).toBeUndefined()
    await send(`${uri}${RIGHT}`)
    await answer
  })

  it('500 connections that say nothing lock no one out', async () => {
    const { uri, answer } = await login()
    const port = Number(new URL(uri).port)
    await Promise.all(Array.from({ length: 500 }, () => idle(port)))
    expect((await send(`${uri}${RIGHT}`)).status).toBe(200)
    await answer
  })

  it('an answer that comes before the question', async () => {
    const redirection = await loopbackRedirect({ show: () => {} })()
    open.push(redirection)
    expect((await send(`${redirection.uri}${RIGHT}`)).status).toBe(400)
  })

  it('what makes the check fail', async () => {
    const redirection = await loopbackRedirect({ show: () => {} })()
    open.push(redirection)
    const answersLogin = (callback: URL) => {
      if (callback.searchParams.get('state') !== STATE) throw new Error('odd')
      return true
    }
    const answer = redirection.answer('https://identity.example/', answersLogin, { state: STATE, record: '' })
    expect((await send(`${redirection.uri}?state=x&code=y`)).status).toBe(400)
    await send(`${redirection.uri}${RIGHT}`)
    await answer
  })
})

describe('the end of the wait', () => {
  it('the end of the wait comes after a while: LOGIN_TIMEOUT, and the port is free', async () => {
    const { uri, answer } = await login({ timeout: 20 })
    await expect(answer).rejects.toMatchObject({ code: 'LOGIN_TIMEOUT', hint: expect.stringContaining('again') })
    await expect(send(uri)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('the end of the wait comes when someone aborts, also beforehand', async () => {
    const abort = new AbortController()
    const { uri, answer } = await login({}, abort.signal)
    await idle(Number(new URL(uri).port))
    abort.abort('SIGINT')
    await expect(answer).rejects.toMatchObject({ code: 'ABORTED', cause: 'SIGINT' })
    await expect(send(uri)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await expect(loopbackRedirect({ show: () => {} })(abort.signal)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('the end of the wait comes when the address cannot be shown', async () => {
    const show = () => Promise.reject(new Error('no screen'))
    const { uri, answer } = await login({ show })
    await expect(answer).rejects.toThrow('no screen')
    await expect(send(uri)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})

it('shows the address of the authorization request', async () => {
  const shown: string[] = []
  const { uri, answer } = await login({ show: (url) => void shown.push(url) })
  await send(`${uri}${RIGHT}`)
  await answer
  expect(shown).toEqual(['https://identity.example/authorize'])
})

/** A connection that is open and silent. */
async function idle(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
}

/** Everything that is answered to that text. */
async function talk(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let answer = ''
  socket.on('data', (piece) => (answer += piece)).on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return answer
}

describe('a client that is registered with localhost', () => {
  const localhost = { host: 'localhost' } as const
  const at = (address: string, port: string) => `http://${address}:${port}/callback${RIGHT}`

  it('a client registered with localhost is answered on both loopback addresses, for no other host', async () => {
    const { uri, answer, outcome } = await login({}, undefined, localhost)
    expect(uri).toMatch(/^http:\/\/localhost:\d+\/callback$/)
    const { port, host } = new URL(uri)
    for (const address of ['127.0.0.1', '[::1]']) expect((await send(at(address, port))).status).toBe(404)
    expect(outcome()).toBeUndefined()
    const wrong = `http://[::1]:${port}/callback?state=wrong&code=abc`
    expect((await send(wrong, { headers: { host } })).status).toBe(400)
    expect((await send(at('[::1]', port), { headers: { host } })).status).toBe(200)
    expect((await answer).href).toBe(`${uri}${RIGHT}`)
    await expect(send(at('127.0.0.1', port))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('a client that is registered with localhost gets no port of which another program has one address', async () => {
    const other = createServer().listen(0, '::1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    await expect(login({}, undefined, { ...localhost, port })).rejects.toMatchObject({
      code: 'NETWORK_LISTEN',
      message: `cannot listen on ::1 port ${port}: EADDRINUSE`,
    })
    await expect(send(at('127.0.0.1', String(port)))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    other.close()
  })

  it('a client that is registered with localhost is overruled by the host that the program names', async () => {
    expect((await login({ host: '127.0.0.1' }, undefined, localhost)).uri).toMatch(/^http:\/\/127\.0\.0\.1:/)
    expect((await login(localhost)).uri).toMatch(/^http:\/\/localhost:/)
  })
})
