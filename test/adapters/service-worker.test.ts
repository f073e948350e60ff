import { describe, expect, it } from 'vitest'
import { authorizeRequests, type WorkerScope } from '../../src/adapters/service-worker.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { failureOf } from '../harness/failure.ts'
import { scriptOf } from '../peers/page-script.ts'
import { KEY, startArchive } from './archive.ts'

/** What a worker answers to a request, and what it is told. */
async function answered(auth: Parameters<typeof authorizeRequests>[1], url: string, init: RequestInit = {}, destination = '') {
  const told: unknown[] = []
  let answer: Promise<Response> | undefined
  const scope: WorkerScope = {
    addEventListener: (_, listener) =>
      listener({
        request: Object.defineProperty(new Request(url, init), 'destination', { value: destination }),
        respondWith: (given) => {
          answer = given
        },
      }),
  }
  authorizeRequests(scope, auth, (error) => told.push(error))
  return { answer: answer ?? Promise.reject(new Error('it does not answer')), told }
}

describe('a service worker', () => {
  it('asks covered URLs with the key, all others as the page would', async () => {
    const archive = await startArchive({ 'a.json': '{}' })
    const { answer, told } = await answered(archive.engine(), `${archive.stranger.origin}/files/a.json`)
    expect(await (await answer).text()).toBe('{}')
    expect(archive.stranger.exchanges.map(({ request }) => request.headers['x-archive-key'])).toEqual([undefined])
    expect(told).toEqual([])
    const covered = await answered(archive.engine(), `${archive.origin}/files/a.json`)
    expect(await (await covered.answer).text()).toBe('{}')
    expect(archive.guarded.exchanges.map(({ request }) => request.headers['x-archive-key'])).toEqual([KEY])
    expect(covered.told).toEqual([])
    await archive.close()
  })

  it('reports its own failures, not of those of URLs that are none of its business', async () => {
    const archive = await startArchive({})
    await archive.close()
    const other = await answered(archive.engine(), `${archive.stranger.origin}/a`)
    expect(await failureOf(other.answer)).toBeInstanceOf(TypeError)
    expect(other.told).toEqual([])
    const own = await answered(archive.engine(), `${archive.origin}/a`)
    expect((await own.answer).type).toBe('error')
    expect(own.told).toMatchObject([{ code: 'NETWORK_REFUSED' }])
  })

  it('sends a request as the page made it where the login is missing, and reports why', async () => {
    const archive = await startArchive({ 'a.json': '{}' })
    const { origin } = archive
    const login = { flow: 'authorizationCode', clientId: 'c', authorizationUrl: `${origin}/a`, tokenUrl: `${origin}/t` } as const
    const auth = createAuth({
      credentials: [{ id: 'login', type: 'oauth2', ...login, sendTo: [`${origin}/`, `${archive.stranger.origin}/`] }],
    })
    const open = await answered(auth, `${archive.stranger.origin}/files/a.json`)
    expect([(await open.answer).status, open.told]).toMatchObject([200, [{ code: 'LOGIN_REQUIRED' }]])
    const closed = await answered(auth, `${archive.origin}/files/a.json`)
    expect([(await closed.answer).status, closed.told]).toMatchObject([401, [{ code: 'LOGIN_REQUIRED' }]])
    await archive.close()
  })

  const OF_BROWSER = {
    'accept-charset': 'utf-8',
    'accept-encoding': 'gzip, br',
    'access-control-request-headers': 'range',
    'access-control-request-method': 'GET',
    'access-control-request-private-network': 'true',
    cookie: 'session=1',
    cookie2: '$Version=1',
    date: 'Thu, 01 Jan 2026 00:00:00 GMT',
    dnt: '1',
    expect: '100-continue',
    origin: 'https://page.example',
    priority: 'u=1, i',
    'proxy-authorization': 'Basic eDp5',
    purpose: 'prefetch',
    referer: 'https://page.example/private',
    'save-data': 'on',
    'sec-ch-ua': '"Chromium"',
    'sec-fetch-dest': 'image',
    'service-worker': 'script',
    te: 'trailers',
    trailer: 'x',
    'upgrade-insecure-requests': '1',
    'user-agent': 'browser',
    via: '1.1 proxy',
    'x-client-data': 'AA==',
    'x-http-method-override': 'GET, trace',
    'x-method-override': 'CONNECT',
  }

  it('sends none of the headers that a browser adds or forbids, and those of a script', async () => {
    const archive = await startArchive({ 'a.json': '{}' })
    const own = { accept: 'application/json', range: 'bytes=0-1', 'if-none-match': '"1"', 'x-own': '1', 'x-http-method': 'GET' }
    const { answer, told } = await answered(archive.engine(), `${archive.origin}/files/a.json`, { headers: { ...OF_BROWSER, ...own } })
    expect((await answer).status).toBe(206)
    const [sent] = archive.guarded.exchanges.map(({ request }) => request.headers)
    expect(sent).toMatchObject({ ...own, 'x-archive-key': KEY })
    const values = Object.entries(OF_BROWSER).filter(([name, value]) => sent?.[name] === value && name !== 'accept-encoding')
    expect(values).toEqual([])
    expect(told).toEqual([])
    await archive.close()
  })

  it.each(['image', 'video', 'audio', 'track', 'font'])('sends only what an element of destination %s needs', async (destination) => {
    const archive = await startArchive({ a: 'bytes' })
    const needed = { accept: 'image/avif', range: 'bytes=0-1' }
    const headers = { ...OF_BROWSER, ...needed, 'cache-control': 'no-cache', 'x-of-a-later-browser': '1' }
    const { answer } = await answered(archive.engine(), `${archive.origin}/files/a`, { headers }, destination)
    expect((await answer).status).toBe(206)
    const [sent] = archive.guarded.exchanges.map(({ request }) => request.headers)
    expect(sent).toMatchObject({ ...needed, 'x-archive-key': KEY })
    expect(Object.keys({ 'cache-control': '', 'x-of-a-later-browser': '', 'x-client-data': '' }).filter((name) => sent?.[name])).toEqual([])
    await archive.close()
  })

  it.each(['document', 'iframe', 'script', 'style', 'worker', 'object', 'embed', 'manifest', 'xslt', 'report'])(
    'leaves requests of destination %s to the page',
    async (destination) => {
      const archive = await startArchive({ a: 'bytes' })
      await expect((await answered(archive.engine(), `${archive.origin}/files/a`, {}, destination)).answer).rejects.toThrow(
        'does not answer',
      )
      expect(archive.guarded.exchanges).toEqual([])
      await archive.close()
    },
  )
})

it('a service worker for bearer tokens alone has less than 120 kB', async () => {
  const worker = await scriptOf('examples/adapters/service-worker.ts', { minify: true })
  expect(worker).toContain('session/token')
  expect(worker.length).toBeGreaterThan(20_000)
  expect(worker.length).toBeLessThan(120_000)
})
