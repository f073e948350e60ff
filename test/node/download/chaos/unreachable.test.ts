/** Servers that cannot be reached, or that say nothing: what is told of them, and what becomes of a file that was begun. */

import { createHash } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../../src/auth/create-auth.ts'
import { type UndiciTransportOptions, undiciTransport } from '../../../../src/node/transport/undici-transport.ts'
import { temporaryFolder } from '../../../cli/folder.ts'
import { FakeClock } from '../../../harness/fake-clock.ts'
import { noise } from '../../../servers/file-server.ts'
import { HOSTS, network, type ServerOptions, startServer, TEST_CA } from '../../../servers/harness.ts'
import { codesOf, filesIn, itemOf, ofKind, run } from '../fixture.ts'

const bytes = noise(4 * 2 ** 20)
const SOME = 2.5 * 2 ** 20
const ORIGIN = `https://${HOSTS.good.name}`
const clock = new FakeClock({ now: Date.now, waits: 'skipped' })

interface Weather {
  /** Instead of the second half. */
  readonly answer?: 'silent' | 'drip' | 'gone' | 'forbidden' | 'break'
  readonly transport?: Partial<UndiciTransportOptions>
  /** Without the network of the test. */
  readonly isAlone?: boolean
  readonly tls?: NonNullable<ServerOptions['tls']>
}

/** A file of which a first run has left something, and a run in any weather. */
async function begun() {
  let answer: Weather['answer']
  const listener: Parameters<typeof startServer>[0] = ({ headers: { range } }, response) => {
    if (answer === 'silent') return
    if (answer === 'gone') return void response.writeHead(404).end()
    if (answer === 'forbidden') return void response.writeHead(403, { 'content-type': 'text/html' }).end('<html>no</html>')
    const [, text] = /^bytes=(\d+)-$/.exec(range ?? '') ?? []
    const [from, part] = [Number(text ?? 0), text !== undefined]
    response.writeHead(part ? 206 : 200, {
      etag: '"a"',
      'accept-ranges': 'bytes',
      'content-length': bytes.length - from,
      ...(part && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    })
    if (answer === 'drip') {
      let at = from
      const timer = setInterval(() => response.write(bytes.subarray(at, ++at)), 20)
      response.on('close', () => clearInterval(timer))
    } else if (answer === 'break') response.write(bytes.subarray(0, SOME), () => setTimeout(() => response.destroy(), 20))
    else response.end(bytes.subarray(from))
  }
  const server = await startServer(listener, { tls: 'valid' })
  onTestFinished(() => server.close())
  const folder = await temporaryFolder()
  const assets = { data: { href: `${ORIGIN}/data.bin`, 'file:checksum': `1220${createHash('sha256').update(bytes).digest('hex')}` } }
  const attempt = async ({ answer: next, transport = {}, isAlone = false, tls = 'valid' }: Weather = {}, options = {}) => {
    answer = next
    const good = tls === 'valid' ? server : await startServer(listener, { tls })
    if (tls !== 'valid') onTestFinished(() => good.close())
    const auth = createAuth({
      credentials: [],
      transport: undiciTransport({ ...(isAlone ? { env: {} } : network({ good })), ...transport }),
    })
    return run([itemOf({ origin: ORIGIN }, assets)], { folder, auth, retries: 2, clock, stallTimeout: 300, ...options })
  }
  const [left] = ofKind(await attempt({ answer: 'break' }, { retries: 0 }), 'failed')
  return { attempt, folder, left: left?.resumable ?? 0, server }
}

const lookup = (code: string) => async () => {
  throw Object.assign(new Error(code), { code })
}

describe('a file that was begun', () => {
  it.each<[string, number, Weather]>([
    ['TIMEOUT_HEADERS', 2, { answer: 'silent', transport: { timeouts: { headers: 200 } } }],
    ['TIMEOUT_CONNECT', 2, { isAlone: true, transport: { timeouts: { connect: 200 }, lookup: () => new Promise(() => {}) } }],
    ['TIMEOUT_BODY', 2, { answer: 'drip' }],
    ['NETWORK_DNS', 0, { transport: { lookup: lookup('ENOTFOUND') } }],
    ['NETWORK_DNS', 2, { transport: { lookup: lookup('EAI_AGAIN') } }],
    ['NETWORK_REFUSED', 2, { transport: { connect: () => ({ address: '127.0.0.1', port: 1 }) } }],
    ['TLS_UNTRUSTED', 0, { tls: 'self-signed' }],
    ['TLS_EXPIRED', 0, { tls: 'expired' }],
    ['TLS_UNTRUSTED', 0, { transport: { ca: '' } }],
    ['AUTH_REJECTED', 0, { answer: 'forbidden' }],
  ])('ends with %s after %d retries, and the next run continues with it', async (code, retries, weather) => {
    const { attempt, folder, left } = await begun()
    expect(left).toBeGreaterThan(2 ** 20)
    const result = await attempt(weather)
    expect([codesOf(result), result.summary.retries]).toEqual([[code], retries])
    const kept = ofKind(result, 'failed')[0]?.resumable ?? 0
    expect(kept).toBeGreaterThanOrEqual(left)
    expect(Object.keys(await filesIn(folder)).sort()).toEqual(['data.bin.part', 'data.bin.part.json'])
    const next = await attempt()
    expect(next.summary).toMatchObject({ written: 1, received: bytes.length - kept })
    expect((await filesIn(folder))['data.bin']?.equals(bytes)).toBe(true)
  })

  it('a file that was begun and is gone by now is resumed when it is back', async () => {
    const { attempt, left } = await begun()
    const result = await attempt({ answer: 'gone' })
    expect(ofKind(result, 'failed')).toMatchObject([{ error: { code: 'HTTP_404' }, resumable: left }])
    expect((await attempt()).summary).toMatchObject({ written: 1, received: bytes.length - left })
  })

  it('a file that was begun is sent nowhere else: a certificate for another name ends it', async () => {
    const { attempt, server } = await begun()
    const asked = server.requests.length
    const other = await startServer(undefined, { tls: 'valid' })
    onTestFinished(() => other.close())
    const transport = undiciTransport({
      ca: TEST_CA,
      env: {},
      lookup: async () => [{ address: '93.184.215.20', family: 4 }],
      connect: () => ({ address: '127.0.0.1', port: other.port }),
    })
    const auth = createAuth({ credentials: [], transport })
    const folder = await temporaryFolder()
    const result = await run([itemOf({ origin: 'https://unlisted.test' }, { data: { href: 'https://unlisted.test/data.bin' } })], {
      folder,
      auth,
    })
    expect(codesOf(result)).toEqual(['TLS_HOSTNAME'])
    expect([other.requests, server.requests.length - asked, await filesIn(folder)]).toEqual([[], 0, {}])
    expect(codesOf(await attempt())).toEqual([])
  })
})
