import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { environmentProxies } from '../../src/node/transport/proxies.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { HOSTS, startServer, startSocketServer, TEST_CA } from '../servers/harness.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((started) => started.close()))
})

const CREDENTIALS = { authorization: 'Bearer canary-token', 'x-api-key': 'canary-key', cookie: 'sid=canary-cookie' }
const get = (url: string): HttpRequest => ({ method: 'GET', url, headers: CREDENTIALS })

/** A proxy that asks for a login, opens tunnels to one port and keeps what it was told. */
async function startProxy(port: number, answer?: string) {
  const heads: string[] = []
  const through: Buffer[] = []
  const proxy = await startSocketServer((socket) => {
    socket.once('data', (head) => {
      heads.push(head.toString('latin1'))
      const login = `proxy-authorization: Basic ${Buffer.from('me:proxy-password').toString('base64')}`
      if (answer) return socket.end(answer)
      if (!head.toString().toLowerCase().includes(login.toLowerCase()))
        return socket.end('HTTP/1.1 407 Login\r\nproxy-authenticate: Basic\r\n\r\n')
      join(socket, port, through)
    })
  })
  open.push(proxy)
  return { ...proxy, heads, through, url: `http://me:proxy-password@127.0.0.1:${proxy.port}` }
}

function join(socket: Socket, port: number, through: Buffer[]) {
  const upstream = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
  socket.on('data', (chunk) => through.push(chunk))
  upstream.on('error', () => socket.destroy())
  socket.pipe(upstream).pipe(socket)
}

async function server(...args: Parameters<typeof startServer>) {
  const started = await startServer(...args)
  open.push(started)
  return started
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

describe('a proxy of the environment', () => {
  it('a proxy of the environment sees neither request nor credentials; the origin sees nothing of it', async () => {
    const good = await server(undefined, { tls: 'valid' })
    const proxy = await startProxy(good.port)
    const lookup = async () => {
      throw new Error('the proxy resolves names')
    }
    const send = undiciTransport({ ca: TEST_CA, env: { HTTPS_PROXY: proxy.url }, lookup })
    expect(await (await send(get(`https://${HOSTS.good.name}/secret-path`))).text(2)).toBe('ok')
    expect(proxy.heads[0]).toMatch(/^CONNECT data\.example:443 HTTP\/1\.1\r\n/)
    expect(proxy.heads[0]).not.toMatch(/^authorization:/im)
    const seen = proxy.heads.join() + Buffer.concat(proxy.through).toString('latin1')
    expect(seen).not.toMatch(/canary|secret-path/)
    expect(good.requests[0]?.headers).toMatchObject({ ...CREDENTIALS, host: HOSTS.good.name })
    expect(good.received).not.toMatch(/proxy/i)
  })

  it('a proxy of the environment without a login gets none', async () => {
    const proxy = await startProxy(0, 'HTTP/1.1 403 Forbidden\r\n\r\n')
    for (const scheme of ['http', 'https']) {
      const send = undiciTransport({ env: { all_proxy: `http://127.0.0.1:${proxy.port}` } })
      await send(get(`${scheme}://data.example/`)).catch(() => undefined)
    }
    expect(proxy.heads.length).toBe(2)
    expect(proxy.heads.join()).not.toMatch(/proxy-authorization/i)
  })

  it('a proxy of the environment is told an IPv6 address in brackets', async () => {
    const proxy = await startProxy(0, 'HTTP/1.1 403 Forbidden\r\n\r\n')
    const send = undiciTransport({ env: { https_proxy: proxy.url } })
    expect(await errorOf(send(get('https://[2606:4700:4700::1111]/')))).toMatchObject({ code: 'PROXY_REFUSED' })
    expect(proxy.heads[0]).toMatch(/^CONNECT \[2606:4700:4700::1111\]:443 HTTP/)
  })

  it('a proxy of the environment with https: is told nothing before its certificate is verified', async () => {
    const proxy = await server(undefined, { tls: 'self-signed' })
    const error = await errorOf(undiciTransport({ env: { https_proxy: proxy.origin } })(get('https://data.example/')))
    expect([error.code, proxy.connections, proxy.requests]).toEqual(['PROXY_UNREACHABLE', 1, []])
  })

  it('a WebSocket goes through a proxy of the environment', async () => {
    const proxy = await startProxy(0, 'HTTP/1.1 403 Forbidden\r\n\r\n')
    vi.stubEnv('https_proxy', proxy.url)
    onTestFinished(() => void vi.unstubAllEnvs())
    // The proxies are read once per process.
    const fresh: string = '../../src/node/transport/guarded-connect.ts?proxies'
    const { guardedSocket }: typeof import('../../src/node/transport/guarded-connect.ts') = await import(fresh)
    const socket = (await guardedSocket(false))('wss://data.example/')
    await new Promise((resolve) => socket.addEventListener('close', resolve))
    expect(proxy.heads[0]).toMatch(/^CONNECT data\.example:443 HTTP/)
  })

  it('leaves an open tunnel unchanged, however long an answer pauses', async () => {
    const slow: Parameters<typeof startServer>[0] = (_request, response) => {
      response.write('o')
      setTimeout(() => response.end('k'), 2500)
    }
    const good = await server(slow, { tls: 'valid' })
    const proxy = await startProxy(good.port)
    // Opening the tunnel may take a while on a busy machine.
    const send = undiciTransport({ ca: TEST_CA, env: { https_proxy: proxy.url }, timeouts: { connect: 1500 } })
    expect(await (await send(get(`https://${HOSTS.good.name}/`))).text(2)).toBe('ok')
  })

  it('a proxy of the environment that is silent is PROXY_UNREACHABLE', async () => {
    const proxy = await startSocketServer(() => {})
    open.push(proxy)
    const send = undiciTransport({ env: { https_proxy: proxy.origin }, timeouts: { connect: 200 } })
    expect(await errorOf(send(get('https://data.example/')))).toMatchObject({ code: 'PROXY_UNREACHABLE', retryable: true })
  })

  it.each(['https://127.0.0.1/', 'https://10.0.0.1/', 'https://localhost/', 'https://metadata.google.internal/'])(
    'a proxy of the environment is not asked for %s',
    async (url) => {
      const proxy = await startProxy(0)
      const error = await errorOf(undiciTransport({ env: { https_proxy: proxy.url } })(get(url)))
      expect(error.code).toBe('URL_ADDRESS_FORBIDDEN')
      expect(proxy.heads).toEqual([])
    },
  )

  it.each([
    ['407', 'HTTP/1.1 407 Login\r\nproxy-authenticate: Basic\r\n\r\n', 'PROXY_AUTH_REQUIRED', 407],
    ['401', 'HTTP/1.1 401 Unauthorized\r\n\r\n', 'PROXY_AUTH_REQUIRED', 401],
    ['403', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'PROXY_REFUSED', 403],
    ['502', 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 3\r\n\r\nbad', 'PROXY_REFUSED', 502],
  ])('a proxy of the environment that answers %s is an error of the proxy', async (_name, answer, code, status) => {
    const proxy = await startProxy(0, answer)
    const error = await errorOf(undiciTransport({ env: { https_proxy: proxy.url } })(get('https://data.example/')))
    expect(error).toMatchObject({ name: 'NetworkError', code, status })
    expect(JSON.stringify(error) + error.stack).not.toMatch(/proxy-password|canary/)
  })

  it('a proxy without Basic is an error that says so, not one of the password', async () => {
    const offers = 'proxy-authenticate: Negotiate\r\nproxy-authenticate: NTLM\r\nproxy-authenticate: Digest realm="a", nonce="b"\r\n'
    const proxy = await startProxy(0, `HTTP/1.1 407 Login\r\n${offers}content-length: 0\r\n\r\n`)
    const send = undiciTransport({ env: { https_proxy: proxy.url, http_proxy: proxy.url } })
    for (const url of ['https://data.example/', 'http://data.example/']) {
      const error = await errorOf(send(get(url)))
      expect(error).toMatchObject({
        code: 'PROXY_AUTH_REQUIRED',
        status: 407,
        message: `the proxy ${new URL(proxy.url).host} offers logins with Negotiate, NTLM, Digest, and only Basic is supported`,
      })
    }
  })

  it('a proxy opens a tunnel with any status from 200 to 299 (RFC 9110 §9.3.6), and with no other', async () => {
    const good = await server(undefined, { tls: 'valid' })
    for (const [status, expected] of [
      ['299 Open', 'ok'],
      ['300 Choose', 'PROXY_REFUSED'],
    ]) {
      const proxy = await startSocketServer((socket) =>
        socket.once('data', () => {
          const upstream = connect(good.port, '127.0.0.1', () => socket.write(`HTTP/1.1 ${status}\r\n\r\n`))
          upstream.on('error', () => socket.destroy())
          socket.on('close', () => upstream.destroy())
          socket.pipe(upstream).pipe(socket)
        }),
      )
      open.push(proxy)
      const send = undiciTransport({ ca: TEST_CA, env: { https_proxy: proxy.origin } })
      const outcome = await send(get(`https://${HOSTS.good.name}/`)).then(
        (response) => response.text(2),
        (error) => error.code,
      )
      expect(outcome, status).toBe(expected)
    }
  })

  it('closes the connection to a proxy of the environment that refuses a tunnel and waits', async () => {
    const states: string[] = []
    const proxy = await startSocketServer((socket) => {
      states.push('open')
      socket.once('data', () => socket.write('HTTP/1.1 403 Forbidden\r\n\r\n'))
      socket.once('close', () => states.push('closed'))
    })
    open.push(proxy)
    const error = await errorOf(undiciTransport({ env: { https_proxy: proxy.origin } })(get('https://data.example/')))
    expect(error.code).toBe('PROXY_REFUSED')
    await expect.poll(() => states).toEqual(['open', 'closed'])
  })

  it.each([
    ['does not listen', () => undefined],
    ['hangs up', (socket: Socket) => void socket.end()],
  ])('a proxy of the environment that %s is PROXY_UNREACHABLE', async (name, onSocket) => {
    const proxy = await startSocketServer(onSocket)
    if (name === 'does not listen') await proxy.close()
    else open.push(proxy)
    const error = await errorOf(undiciTransport({ env: { https_proxy: proxy.origin } })(get('https://data.example/')))
    expect(error).toMatchObject({ code: 'PROXY_UNREACHABLE', retryable: true })
  })

  it('a proxy of the environment of a kind that is not supported is PROXY_INVALID', async () => {
    for (const https_proxy of [
      'socks4://127.0.0.1:1080',
      'socks5://',
      'ftp://127.0.0.1',
      'http://',
      'xhttp://127.0.0.1',
      'httpx://127.0.0.1',
    ]) {
      const error = await errorOf(undiciTransport({ env: { https_proxy } })(get('https://data.example/')))
      expect(error.code, https_proxy).toBe('PROXY_INVALID')
      expect(error.message).toMatch(/ https_proxy is not the URL of an http, https, socks5 or socks5h proxy$/)
    }
  })

  it.each([
    ['http://me:canary%of@127.0.0.1:1', 'HTTPS_PROXY has a % in the user name or password that begins no %XX'],
    ['http://canary%of:me@127.0.0.1:1', 'HTTPS_PROXY has a % in the user name or password that begins no %XX'],
    ['socks5h://me:canary%of@127.0.0.1:1', 'HTTPS_PROXY has a % in the user name or password that begins no %XX'],
    ['http://me:canary#of@127.0.0.1:1', 'HTTPS_PROXY is not the URL of an http, https, socks5 or socks5h proxy'],
  ])('an unencoded password in %s is an error that names the variable and the encoding, never the password', async (HTTPS_PROXY, text) => {
    const error = await errorOf(undiciTransport({ env: { HTTPS_PROXY } })(get('https://data.example/')))
    expect(error).toMatchObject({ code: 'PROXY_INVALID', hint: expect.stringContaining('# as %23 and % as %25') })
    expect(error.message).toContain(text)
    expect(JSON.stringify(error) + error.stack).not.toContain('canary')
  })
})

describe('environmentProxies', () => {
  const hostOf = (env: NodeJS.ProcessEnv, url: string) => {
    const { protocol, hostname, port } = new URL(url)
    return environmentProxies(env)?.for(protocol, hostname.replace(/^\[|\]$/g, ''), port || '443')?.host
  }

  it('environmentProxies is undefined without a proxy', () => {
    expect(environmentProxies({ NO_PROXY: 'x', https_proxy: '' })).toBeUndefined()
  })

  it('takes lower case before upper case, and all_proxy last', () => {
    expect(hostOf({ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'https://data.example/')).toBe('a:1')
    expect(hostOf({ ALL_PROXY: 'c:1' }, 'https://data.example/')).toBe('c:1')
    expect(hostOf({ http_proxy: 'http://a:1' }, 'https://data.example/')).toBeUndefined()
  })

  it.each([
    ['*', true],
    ['data.example', true],
    ['DATA.example', true],
    ['.example', true],
    ['*.example', true],
    ['example', true],
    ['other.example, data.example', true],
    ['other.example data.example', true],
    ['data.example:443', true],
    ['data.example:8443', false],
    ['ata.example', false],
    ['data.example.com', false],
    ['other.example,, data.example,', true],
    ['data[.example]', false],
    ['[data.example]x', false],
  ])('no_proxy %j leaves data.example out: %s', (no_proxy, isOut) => {
    expect(hostOf({ https_proxy: 'http://a:1', no_proxy }, 'https://data.example/') === undefined).toBe(isOut)
  })

  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['192.168.1.128/25', '192.168.1.200', true],
    ['192.168.1.128/25', '192.168.1.100', false],
    ['192.168.1.7', '192.168.1.7', true],
    ['192.168.1.7', '192.168.1.6', false],
    ['192.168.1.7/32', '192.168.1.7', true],
    ['10.0.0.0/8:8443', '10.1.2.3', false],
    ['10.0.0.0/8:443', '10.1.2.3', true],
    ['0.0.0.0/0', '10.1.2.3', true],
    ['10.0.0.0/33', '10.1.2.3', false],
    ['10.0.0.0/', '10.1.2.3', false],
    ['10.0.0.0/x', '10.1.2.3', false],
    ['10.0.0.0/x8', '10.1.2.3', false],
    ['10.0.0.0/8x', '10.1.2.3', false],
    ['10.0.0.0/8.5', '10.1.2.3', false],
    ['10.0.0.0/-8', '10.1.2.3', false],
    ['1.2.3', '10.1.2.3', false],
    ['10.0.0.0/8', 'data.example', false],
    ['data.example/8', 'data.example', false],
    ['data.example.', 'data.example', true],
    ['data.example', 'data.example.', true],
    ['data.example/8', 'data.example.', false],
    [' , ', 'data.example.', false],
    ['bücher.example', 'xn--bcher-kva.example', true],
    ['fd00::/8', '[fd12::1]', true],
    ['[fd00::]/8', '[fd12::1]', false],
    ['[fd00::/8]:443', '[fd12::1]', true],
    ['fd00::/8', '[fe80::1]', false],
    ['0:0:0:0:0:0:0:1', '[::1]', true],
    ['FD00::2', '[fd00::2]', true],
    ['fd00::2', '[fd00::3]', false],
    ['fd00::2/128', '[fd00::2]', true],
    ['fd00::2/129', '[fd00::2]', false],
    ['::/0', '10.1.2.3', false],
  ])('no_proxy %j leaves %s out: %s', (no_proxy, host, isOut) => {
    expect(hostOf({ https_proxy: 'http://a:1', no_proxy }, `https://${host}/`) === undefined).toBe(isOut)
  })

  it('no_proxy takes IPv6 addresses', () => {
    for (const no_proxy of ['::1', '[::1]', '[::1]:443'])
      expect(hostOf({ https_proxy: 'http://a:1', no_proxy }, 'https://[::1]/')).toBeUndefined()
    expect(hostOf({ https_proxy: 'http://a:1', no_proxy: '::2' }, 'https://[::1]/')).toBe('a:1')
  })
})
