import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asset, item } from '../harness/documents.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { bearerGuard } from '../servers/guards.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { shellUser } from './shell-user.ts'

const SECRET = 'only-for-those-who-may'
const TOKEN = 'token-of-the-hostile-test'

let good: AnsweringServer
let evil: AnsweringServer
let gateway: GatewayProcess
let capability: string
let host: string
let data: string

beforeAll(async () => {
  evil = await startAnswering(() => ({ status: 200, body: SECRET }))
  const guard = bearerGuard((token) => token === TOKEN)
  good = await startAnswering((received) => {
    const refused = guard(received)
    if (refused) return refused
    if (received.path === '/folder/away') return { status: 302, headers: { location: `${evil.origin}/stolen` } }
    return { status: 200, body: SECRET }
  })
  const sendTo = [`${good.origin}/folder/`]
  const user = await shellUser((keep) => [{ id: 'mine', type: 'http', scheme: 'bearer', token: keep(TOKEN), sendTo }])
  const scheme = { type: 'http', scheme: 'bearer' }
  const document = await user.put('item.json', item({ b: scheme }, { data: asset(`${good.origin}/folder/data.bin`, ['b']) }))
  gateway = await startGatewayProcess(user, document)
  const url = new URL(gateway.base)
  capability = url.pathname.split('/')[1] ?? ''
  host = url.host
  data = new URL(gateway.targets[0]?.url ?? '').pathname
}, 60_000)
afterAll(() => Promise.all([gateway?.stop(), good?.close(), evil?.close()]))

let before = 0
beforeEach(() => {
  before = good.exchanges.length
})

/** Sends bytes as they are; everything that comes back until the connection is closed, or nothing came for a while. */
function send(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(Number(new URL(gateway.base).port), '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')))
    const end = () => {
      socket.destroy()
      resolve(received)
    }
    socket.setTimeout(5000, end)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', end).on('end', end)
  })
}

const request = (target: string, { method = 'GET', lines = [] as readonly string[], name = host, body = '' } = {}) =>
  send([`${method} ${target} HTTP/1.1`, `Host: ${name}`, 'Connection: close', ...lines, '', body].join('\r\n'))
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)

/** Nothing was requested of any server, and nothing but a refusal came back. */
function expectRefused(answer: string, statuses: readonly number[]): void {
  expect(answer).not.toContain(SECRET)
  expect(statuses).toContain(statusOf(answer))
  expect([good.exchanges.length - before, evil.connections]).toEqual([0, 0])
}

describe('a gateway', () => {
  it('serves the right request, so that the others are refused for what they are', async () => {
    const answer = await request(data)
    expect([statusOf(answer), answer.endsWith(SECRET)]).toEqual([200, true])
    expect(good.exchanges.length - before).toBe(1)
  })

  it('answers 404 to a wrong capability, whatever is wrong with it', async () => {
    const rest = data.slice(capability.length + 1)
    const swapped = capability.replace(/[a-z]/gi, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    const wrong = ['', 'x', capability.slice(1), `${capability}x`, `${capability.slice(0, -1)}~`, `%${capability.slice(1)}`]
    for (const one of swapped === capability ? wrong : [...wrong, swapped]) expectRefused(await request(`/${one}${rest}`), [404, 400])
    expectRefused(await request('/'), [404])
    expectRefused(await request(`/?${capability}`), [404])
  })

  it('refuses the name of another host, as after DNS rebinding', async () => {
    const port = new URL(gateway.base).port
    for (const name of [
      'evil.example',
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      '127.0.0.1:1',
      '',
    ]) {
      expectRefused(await request(data, { name }), [400, 403, 404, 421])
    }
    expectRefused(await send(`GET ${data} HTTP/1.1\r\nConnection: close\r\n\r\n`), [400, 403, 404, 421])
    expectRefused(
      await send(`GET ${data} HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`),
      [400, 403, 404, 421],
    )
    expectRefused(await send(`GET ${data} HTTP/1.0\r\n\r\n`), [0, 400, 403, 404, 421, 505])
  })

  it('refuses what pages in browsers send', async () => {
    for (const line of ['Origin: https://evil.example', 'Origin: null', `Origin: http://${host}`, 'Sec-Fetch-Site: cross-site']) {
      expectRefused(await request(data, { lines: [line] }), [403])
      expectRefused(await request(data, { method: 'OPTIONS', lines: [line, 'Access-Control-Request-Method: GET'] }), [403])
    }
  })

  it('is no proxy: neither absolute URLs nor CONNECT', async () => {
    const { host: evilHost } = new URL(evil.origin)
    expectRefused(await request(`${evil.origin}/`), [400, 403, 404])
    expectRefused(await request(`${good.origin}/folder/data.bin`), [400, 403, 404])
    expectRefused(await request(`http://evil.example${data}`), [400, 403, 404, 421])
    expectRefused(await request(evilHost, { method: 'CONNECT', name: evilHost }), [0, 400, 403, 404, 405, 501])
    expectRefused(await request('*', { method: 'OPTIONS' }), [400, 403, 404, 405])
    for (const method of ['TRACE', 'PUT', 'DELETE', 'PATCH', 'POST', 'PROPFIND', 'FOO']) {
      expectRefused(await request(data, { method, lines: ['Content-Length: 0'] }), [400, 403, 404, 405, 415, 501])
    }
  })

  it('requests nothing that neither a target nor sendTo names', async () => {
    const origin = `/${capability}/${good.origin.replace('://', '/')}`
    const { host: evilHost } = new URL(evil.origin)
    const paths = [
      `${origin}/`,
      `${origin}/other/data.bin`,
      `${origin}/folder/../other`,
      `${origin}/folder/%2e%2e/other`,
      `${origin}/folder/.%2E/other`,
      `${origin}/folder/..;/other`,
      `${origin}/folder/..%2fother`,
      `${origin}/folder/..%252fother`,
      `${origin}/folder/..\\other`,
      `${origin}//folder/../other`,
      `${origin}/FOLDER/data.bin`,
      `${origin}/folderx/data.bin`,
      `/${capability}/http/${evilHost}/`,
      `/${capability}/https/evil.example/`,
      `/${capability}/http//${evilHost}/`,
      `/${capability}/http/u:p@${evilHost}/folder/data.bin`,
      `/${capability}/http/${new URL(good.origin).host}@${evilHost}/folder/`,
      `/${capability}/http/${new URL(good.origin).host}%40${evilHost}/folder/`,
      `/${capability}/http/169.254.169.254/latest/meta-data/`,
      `/${capability}/http/[fe80::1]/`,
      `/${capability}/http/0x7f.1:${new URL(evil.origin).port}/`,
      `/${capability}/http/2130706433:${new URL(evil.origin).port}/`,
      `/${capability}/http/localhost:${new URL(evil.origin).port}/`,
      `/${capability}/file//etc/passwd`,
      `/${capability}/ftp/${evilHost}/`,
      `/${capability}/s3/other/key`,
      `/${capability}/http/`,
      `/${capability}/`,
      `/${capability}/../${capability}/http/${evilHost}/`,
    ]
    for (const path of paths) expectRefused(await request(path), [400, 403, 404])
  })

  it('follows no redirect to a host that the credential does not name', async () => {
    const answer = await request(data.replace('data.bin', 'away'))
    expect(answer).not.toContain(SECRET)
    expect(answer).not.toMatch(/^location:/im)
    expect(statusOf(answer)).toBeGreaterThanOrEqual(400)
    expect(evil.connections).toBe(0)
  })

  it('reads one request where the framing can be read in two ways', async () => {
    const second = `GET ${data} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const head = `POST /x HTTP/1.1\r\nHost: ${host}\r\n`
    const smuggled = [
      `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
      `${head}Content-Length: 0\r\nContent-Length: ${second.length}\r\n\r\n${second}`,
      `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${second}`,
      `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${second}`,
      `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${second}`,
      `${head}Content-Length: +0\r\n\r\n${second}`,
      `${head}X: a\r\n b\r\nContent-Length: 0\r\n\r\n${second}`,
      `GET ${data} HTTP/1.1\nHost: ${host}\n\n`,
      `GET ${data}\u0000 HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `GET ${data} HTTP/1.1 x\r\nHost: ${host}\r\n\r\n`,
    ]
    for (const bytes of smuggled) expectRefused(await send(bytes), [0, 400, 403, 404, 405])
  })

  it('refuses requests that are too long', async () => {
    expectRefused(await request(`${data}?${'x'.repeat(20_000)}`), [400, 414, 431])
    expectRefused(await request(data, { lines: [`X: ${'x'.repeat(40_000)}`] }), [400, 431])
  })

  it('serves others while connections begin requests that they never end', async () => {
    const sockets = Array.from({ length: 300 }, () => connect(Number(new URL(gateway.base).port), '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHo')
    await new Promise((resolve) => setTimeout(resolve, 200))
    for (const socket of sockets) socket.destroy()
    expect([good.exchanges.length - before, evil.connections]).toEqual([0, 0])
    await expect.poll(async () => statusOf(await request(data))).toBe(200)
  })

  it('prints neither the capability nor the token for any of it', () => {
    const lines = gateway.printed().split('\n').slice(1).join('\n')
    expect(lines).not.toContain(capability)
    expect(lines).not.toContain(TOKEN)
  })
})
