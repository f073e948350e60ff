import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { HttpRequest } from '../../src/http/message.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { failureOf } from '../harness/failure.ts'
import { HOSTS, startServer, startSocketServer, TEST_CA } from '../servers/harness.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((started) => started.close()))
})

const get = (url: string): HttpRequest => ({ method: 'GET', url, headers: { authorization: 'Bearer canary-token' } })
const LOGIN = Buffer.concat([Buffer.of(1, 2), Buffer.from('me'), Buffer.of(8), Buffer.from('pä:ss w')])

interface SocksOptions {
  /** Wants the user name and password of `LOGIN`. */
  readonly login?: boolean
  /** What CONNECT is answered with instead of 0. */
  readonly reply?: number
  /** The type of the address in the answer. */
  readonly bound?: 'ipv4' | 'ipv6' | 'name'
}

/** SOCKS 5 (RFC 1928), byte by byte: everything that is not as it must be ends the connection. All that is asked for leads to one port. */
async function startSocks(port: number, { login = false, reply = 0, bound = 'ipv4' }: SocksOptions = {}) {
  const asked: string[] = []
  const chunks: Buffer[] = []
  const proxy = await startSocketServer((socket) => {
    void serve(socket).catch(() => socket.destroy())
  })
  open.push(proxy)

  async function serve(socket: Socket): Promise<void> {
    const bytes = reader(socket)
    const [version, count = 0] = await bytes(2)
    const methods = await bytes(count)
    const method = login ? 2 : 0
    if (version !== 5 || !methods.includes(method)) return void socket.end(Buffer.of(5, 0xff))
    socket.write(Buffer.of(5, method))
    if (login && !(await bytes(LOGIN.length)).equals(LOGIN)) return void socket.end(Buffer.of(1, 1))
    if (login) socket.write(Buffer.of(1, 0))
    const [, command, , type] = await bytes(4)
    if (command !== 1) throw new Error('not CONNECT')
    const host = type === 1 ? (await bytes(4)).join('.') : type === 4 ? (await bytes(16)).toString('hex') : await text(bytes)
    asked.push(`${host}:${(await bytes(2)).readUInt16BE()}`)
    const address = { ipv4: [1, 0, 0, 0, 0], ipv6: [4, ...Array(16).fill(0)], name: [3, 2, 104, 105] }[bound]
    if (reply !== 0) return void socket.end(Buffer.of(5, reply, 0, ...address, 0, 0))
    const upstream = connect(port, '127.0.0.1', () => socket.write(Buffer.of(5, 0, 0, ...address, 0, 80)))
    upstream.on('error', () => socket.destroy())
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.pipe(upstream).pipe(socket)
  }

  return { asked, through: chunks, url: (scheme: string, account = '') => `${scheme}://${account}${proxy.origin.slice('http://'.length)}` }
}

async function text(bytes: (length: number) => Promise<Buffer>): Promise<string> {
  return (await bytes((await bytes(1))[0] ?? 0)).toString()
}

/** One byte after the other, so that the rest stays in the socket. */
function reader(socket: Socket): (length: number) => Promise<Buffer> {
  return async (length) => {
    const bytes: number[] = []
    while (bytes.length < length) {
      const one: Buffer | null = socket.read(1)
      if (one) bytes.push(...one)
      else
        await new Promise<unknown>((resolve, reject) => socket.once('readable', resolve).once('close', () => reject(new Error('closed'))))
    }
    return Buffer.from(bytes)
  }
}

async function server(...args: Parameters<typeof startServer>) {
  const started = await startServer(...args)
  open.push(started)
  return started
}

/** A transport with that proxy and a name server that knows one host. */
function through(all_proxy: string, address: string = HOSTS.good.address) {
  return undiciTransport({ ca: TEST_CA, env: { all_proxy }, lookup: async () => [{ address, family: address.includes(':') ? 6 : 4 }] })
}

describe('a SOCKS proxy', () => {
  it.each<[string, SocksOptions, string, string]>([
    ['socks5h gets the name', {}, 'socks5h', `${HOSTS.good.name}:443`],
    ['socks5 gets the address', {}, 'socks5', `${HOSTS.good.address}:443`],
    ['with a login', { login: true }, 'socks5h', `${HOSTS.good.name}:443`],
    ['that names an IPv6 address of its own', { bound: 'ipv6' }, 'socks5h', `${HOSTS.good.name}:443`],
    ['that names a host of its own', { bound: 'name' }, 'socks5h', `${HOSTS.good.name}:443`],
  ])('%s, and sees no request', async (_what, options, scheme, asked) => {
    const good = await server(undefined, { tls: 'valid' })
    const proxy = await startSocks(good.port, options)
    const send = through(proxy.url(scheme, options.login ? 'me:p%C3%A4%3Ass%20w@' : ''))
    for (let round = 0; round < 2; round++) expect(await (await send(get(`https://${HOSTS.good.name}/secret-path`))).text(2)).toBe('ok')
    expect(new Set(proxy.asked)).toEqual(new Set([asked]))
    expect(Buffer.concat(proxy.through).toString('latin1')).not.toMatch(/canary|secret-path/)
    expect(good.requests[0]?.headers.authorization).toBe('Bearer canary-token')
  })

  it('a SOCKS proxy is given IPv6 addresses as they are', async () => {
    const good = await server(undefined, { tls: 'valid' })
    const proxy = await startSocks(good.port)
    const send = through(proxy.url('socks5'), '2606:4700::6810:84e5')
    expect(await (await send(get(`https://${HOSTS.good.name}/`))).text(2)).toBe('ok')
    expect(proxy.asked).toEqual(['260647000000000000000000681084e5:443'])
  })

  it('carries plain http to a host that the user named', async () => {
    const good = await server()
    const proxy = await startSocks(good.port)
    expect(await (await through(proxy.url('socks5h'))(get(`${good.origin}/`), { allowPrivateNetwork: true })).text(2)).toBe('ok')
    expect(proxy.asked).toEqual([`127.0.0.1:${good.port}`])
  })

  it('a SOCKS proxy is omitted for the hosts of no_proxy', async () => {
    const good = await server()
    const proxy = await startSocks(0)
    const send = undiciTransport({ env: { ALL_PROXY: proxy.url('socks5'), NO_PROXY: '127.0.0.0/8' } })
    expect(await (await send(get(`${good.origin}/`), { allowPrivateNetwork: true })).text(2)).toBe('ok')
    expect(proxy.asked).toEqual([])
  })
})

describe('the address policy behind a SOCKS proxy', () => {
  it.each(['https://127.0.0.1/', 'https://10.0.0.1/', 'https://[::1]/', 'https://localhost/', 'https://metadata.google.internal/'])(
    'does not request %s',
    async (url) => {
      for (const scheme of ['socks5', 'socks5h']) {
        const proxy = await startSocks(0)
        expect(await failureOf(through(proxy.url(scheme))(get(url)))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
        expect(proxy.asked).toEqual([])
      }
    },
  )

  it.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', 'fd00::1', '::ffff:10.0.0.1'])(
    'does not ask socks5 for a name that leads to %s',
    async (address) => {
      const proxy = await startSocks(0)
      const error = await failureOf(through(proxy.url('socks5'), address)(get(`https://${HOSTS.good.name}/`)))
      expect(error).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
      expect(proxy.asked).toEqual([])
    },
  )
})

describe('a SOCKS proxy that fails', () => {
  it.each<[string, SocksOptions, string, string]>([
    ['wants a login and gets none', { login: true }, '', 'PROXY_AUTH_REQUIRED'],
    ['wants another password', { login: true }, 'me:p%C3%A4%3Ass%20x@', 'PROXY_AUTH_REQUIRED'],
    ['does not allow it', { reply: 2 }, '', 'PROXY_REFUSED'],
    ['finds nobody', { reply: 5 }, '', 'PROXY_REFUSED'],
    ['has a reply of its own', { reply: 99 }, '', 'PROXY_REFUSED'],
  ])('because it %s', async (_what, options, account, code) => {
    const proxy = await startSocks(0, options)
    const error = await failureOf(through(proxy.url('socks5h', account))(get('https://data.example/')))
    expect(error).toMatchObject({ name: 'NetworkError', code })
    expect(JSON.stringify(error) + error.stack).not.toMatch(/proxy-password|canary|p%C3%A4/)
  })

  it.each<[string, string, (socket: Socket) => void]>([
    ['hangs up', 'it is not a SOCKS 5 reply', (socket) => void socket.end()],
    ['speaks HTTP', 'it is not a SOCKS 5 reply', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['ends in the middle', 'it is not a SOCKS 5 reply', (socket) => void socket.end(Buffer.of(5))],
    ['says nothing', 'is unreachable', () => {}],
  ])('because it %s', async (_what, why, onSocket) => {
    const proxy = await startSocketServer(onSocket)
    open.push(proxy)
    const env = { https_proxy: `socks5h://${proxy.origin.slice('http://'.length)}` }
    const error = await failureOf(undiciTransport({ env, timeouts: { connect: 300 } })(get('https://data.example/')))
    expect(error).toMatchObject({ code: 'PROXY_UNREACHABLE', message: expect.stringContaining(why), retryable: true })
  })

  it('because it does not listen', async () => {
    const proxy = await startSocketServer(() => {})
    await proxy.close()
    const env = { https_proxy: `socks5://${proxy.origin.slice('http://'.length)}` }
    const send = undiciTransport({ env, lookup: async () => [{ address: HOSTS.good.address, family: 4 }] })
    const error = await failureOf(send(get('https://data.example/')))
    expect(error).toMatchObject({ code: 'PROXY_UNREACHABLE', message: expect.stringContaining('is unreachable') })
  })
})
