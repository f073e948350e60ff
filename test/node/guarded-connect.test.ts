import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { TrustError } from '../../src/errors.ts'
import type { HttpRequest, MessageSocket } from '../../src/http/message.ts'
import { guardedSocket } from '../../src/node/transport/guarded-connect.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { HOSTS, network, type RecordingServer, startServer, TEST_CA } from '../servers/harness.ts'

const open: RecordingServer[] = []
afterEach(async () => {
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  await Promise.all(open.splice(0).map((started) => started.close()))
})

const get = (url: string): HttpRequest => ({ method: 'GET', url, headers: {} })

async function server(...args: Parameters<typeof startServer>) {
  const started = await startServer(...args)
  open.push(started)
  return started
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error) => error.code,
  )

describe('the address guard', () => {
  it.each(['127.0.0.1', '[::1]', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '127.1'])(
    'refuses %s without a connection',
    async (host) => {
      const internal = await server()
      const send = undiciTransport({ env: {} })
      const error = await send(get(`http://${host}:${internal.port}/latest/meta-data`)).catch((reason) => reason)
      expect(error).toBeInstanceOf(TrustError)
      expect(error).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN', retryable: false, hint: expect.stringContaining('https://') })
      expect(internal.connections).toBe(0)
    },
  )

  it('refuses IP literals and reserved names without asking the name server', async () => {
    const asked: string[] = []
    const lookup = async (name: string) => {
      asked.push(name)
      return []
    }
    const send = undiciTransport({ env: {}, lookup })
    for (const url of ['https://169.254.169.254/', 'https://metadata.google.internal/', 'https://printer.local/', 'https://x.localhost/']) {
      expect(await codeOf(send(get(url))), url).toBe('URL_ADDRESS_FORBIDDEN')
    }
    expect(asked).toEqual([])
  })

  it('dials a public IP literal, at the port of its scheme, without asking the name server', async () => {
    const good = await server()
    const dialled: object[] = []
    const lookup = async () => Promise.reject(new Error('an address has no other address'))
    const connect = (to: object) => {
      dialled.push(to)
      return { address: '127.0.0.1', port: good.port }
    }
    const send = undiciTransport({ env: {}, lookup, connect })
    expect(await (await send(get('http://93.184.215.14/'))).text(2)).toBe('ok')
    await send(get('https://93.184.215.14/')).catch(() => undefined)
    expect(dialled).toEqual([80, 443].map((port) => ({ hostname: '93.184.215.14', address: '93.184.215.14', port })))
  })

  it('asks the resolver of the system for a name', async () => {
    const good = await server()
    const send = undiciTransport({ env: {} })
    expect(await (await send(get(`http://localhost:${good.port}/`), { allowPrivateNetwork: true })).text(2)).toBe('ok')
  })

  it('works where the process has turned off the choice between address families', async () => {
    const good = await server()
    const chooses = getDefaultAutoSelectFamily()
    setDefaultAutoSelectFamily(false)
    onTestFinished(() => setDefaultAutoSelectFamily(chooses))
    const lookup = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]
    const send = undiciTransport({ env: {}, lookup })
    expect(await (await send(get(`http://data.example:${good.port}/`), { allowPrivateNetwork: true })).text(2)).toBe('ok')
    expect(await codeOf(send(get(`http://data.example:${good.port}/`)))).toBe('URL_ADDRESS_FORBIDDEN')
  })

  it('refuses a public name with a private address', async () => {
    const internal = await server(undefined, { tls: 'valid' })
    const send = undiciTransport(network({ internal }))
    expect(await codeOf(send(get(`https://${HOSTS.internal.name}/`)))).toBe('URL_ADDRESS_FORBIDDEN')
    expect(internal.connections).toBe(0)
  })

  it('refuses a name when one of its addresses is private, whichever', async () => {
    for (const addresses of [
      ['93.184.215.14', '127.0.0.1'],
      ['fd00::1', '93.184.215.14'],
    ]) {
      const lookup = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      expect(await codeOf(undiciTransport({ env: {}, lookup })(get('https://data.example/')))).toBe('URL_ADDRESS_FORBIDDEN')
    }
  })

  it('dials the address it has checked: a second answer of the name server is not requested', async () => {
    const good = await server(undefined, { tls: 'valid' })
    const internal = await server(undefined, { tls: 'valid' })
    let asked = 0
    const dialled: string[] = []
    const send = undiciTransport({
      env: {},
      ca: TEST_CA,
      lookup: async () => [{ address: asked++ === 0 ? HOSTS.good.address : '127.0.0.1', family: 4 }],
      connect: ({ address }) => {
        dialled.push(address)
        return { address: '127.0.0.1', port: (address === '127.0.0.1' ? internal : good).port }
      },
    })
    const response = await send(get('https://data.example/'))
    expect(await response.text(9)).toBe('ok')
    expect([asked, dialled]).toEqual([1, [HOSTS.good.address]])
    await good.close()
    await expect.poll(() => codeOf(send(get('https://data.example/')))).toBe('URL_ADDRESS_FORBIDDEN')
    expect(internal.connections).toBe(0)
  })

  it('checks what the system resolver gives, as the dial uses it', async () => {
    const internal = await server()
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    const send = undiciTransport({ env: {}, lookup })
    expect(await codeOf(send(get(`http://rebound.example:${internal.port}/`)))).toBe('URL_ADDRESS_FORBIDDEN')
    expect(await (await send(get(`http://rebound.example:${internal.port}/`), { allowPrivateNetwork: true })).text(2)).toBe('ok')
    expect(internal.connections).toBe(1)
  })

  it('a private address is reachable when allowed, over a connection that other requests never use', async () => {
    const good = await server()
    const send = undiciTransport({ env: {} })
    expect(await (await send(get(`${good.origin}/`), { allowPrivateNetwork: true })).text(2)).toBe('ok')
    expect(await codeOf(send(get(`${good.origin}/`)))).toBe('URL_ADDRESS_FORBIDDEN')
    expect(good.requests).toHaveLength(1)
  })

  it('fails every waiting request by itself', async () => {
    const send = undiciTransport({ env: {} })
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(send(get('https://10.0.0.1/')))))
    expect(new Set(codes)).toEqual(new Set(['URL_ADDRESS_FORBIDDEN']))
  })
})

describe('encryption', () => {
  it('encryption is verified for the name of the URL', async () => {
    const good = await server(undefined, { tls: 'valid' })
    const send = undiciTransport(network({ good }))
    expect(await (await send(get(`https://${HOSTS.good.name}/`))).text(2)).toBe('ok')
    expect(good.requests[0]?.headers.host).toBe(HOSTS.good.name)
  })

  it.each([
    ['a self-signed certificate', 'self-signed', 'TLS_UNTRUSTED'],
    ['an expired certificate', 'expired', 'TLS_EXPIRED'],
  ] as const)('%s is refused', async (_name, tls, code) => {
    const good = await server(undefined, { tls })
    expect(await codeOf(undiciTransport(network({ good }))(get(`https://${HOSTS.good.name}/`)))).toBe(code)
    expect(good.requests).toHaveLength(0)
  })

  it('a certificate for another name is refused', async () => {
    const evil = await server(undefined, { tls: 'valid' })
    const lookup = async () => [{ address: HOSTS.evil.address, family: 4 }]
    const send = undiciTransport({ ...network({ evil }), lookup })
    expect(await codeOf(send(get('https://other.example/')))).toBe('TLS_HOSTNAME')
    expect(evil.requests).toHaveLength(0)
  })

  it('an unknown authority is refused', async () => {
    const good = await server(undefined, { tls: 'valid' })
    expect(await codeOf(undiciTransport({ env: {} })(get(`${good.origin}/`), { allowPrivateNetwork: true }))).toBe('TLS_UNTRUSTED')
  })

  it('https to a server that speaks plain HTTP is refused', async () => {
    const good = await server()
    const send = undiciTransport({ env: {} })
    expect(await codeOf(send(get(good.origin.replace('http:', 'https:')), { allowPrivateNetwork: true }))).toBe('TLS_HANDSHAKE')
  })

  it('encryption cannot be turned off by the environment', async () => {
    const good = await server(undefined, { tls: 'self-signed' })
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    const error = await undiciTransport({ env: {} })(get(`${good.origin}/`), { allowPrivateNetwork: true }).catch((reason) => reason)
    expect(error).toBeInstanceOf(TrustError)
    expect(error.code).toBe('TLS_DISABLED')
    expect(good.connections).toBe(0)
    const plain = await server()
    expect(await (await undiciTransport({ env: {} })(get(`${plain.origin}/`), { allowPrivateNetwork: true })).text(2)).toBe('ok')
  })
})

describe('a WebSocket', () => {
  const ended = (socket: MessageSocket) => new Promise((resolve) => socket.addEventListener('close', resolve))

  it('reaches a private address only where that is allowed, and sends no credential', async () => {
    const internal = await server()
    await ended((await guardedSocket(false))(`ws://127.0.0.1:${internal.port}/`))
    expect(internal.connections).toBe(0)
    await ended((await guardedSocket(true))(`ws://127.0.0.1:${internal.port}/`))
    expect(internal.requests.map(({ headers }) => headers.upgrade)).toEqual(['websocket'])
    expect(Object.keys(internal.requests[0]?.headers ?? {}).join()).not.toMatch(/authorization|cookie/)
  })
})
