/** Many targets authorized as a stream, and values that must stay valid for some time. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Auth, AuthorizedRequest } from '../../src/auth/auth.ts'
import { createAuth } from '../../src/auth/create-auth.ts'
import { memoryStore } from '../../src/auth/session.ts'
import { SelectionError } from '../../src/errors.ts'
import { authorizeAll, type TargetInput } from '../../src/node/authorize-all.ts'
import { assetOf, type Target } from '../../src/stac/target.ts'
import { failureOf } from '../harness/failure.ts'
import { FakeClock } from '../harness/fake-clock.ts'
import { startTokenServer } from '../servers/token-server.ts'

const item = (count: number) => ({
  type: 'Feature',
  properties: {},
  assets: Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, { href: `https://data.example/${index}` }])),
})
const targets = (count: number): Target[] => Array.from({ length: count }, (_, index) => assetOf(item(count), `a${index}`))

/** An engine whose n-th call ends when `release(n)` is called. */
function slow() {
  const waiting = new Map<string, () => void>()
  let most = 0
  const authorize: Auth['authorize'] = (target) =>
    new Promise((resolve) => {
      waiting.set(target?.href ?? '', () => resolve({ method: 'GET', url: target?.href, headers: {} } as AuthorizedRequest))
      most = Math.max(most, waiting.size)
    })
  const release = (index: number) => {
    const href = `https://data.example/${index}`
    waiting.get(href)?.()
    waiting.delete(href)
  }
  return { auth: { authorize }, release, most: () => most, waiting }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('authorizeAll', () => {
  it('yields the requests in the order of the targets, whatever ends first', async () => {
    const { auth, release } = slow()
    const results = authorizeAll(auth, targets(3))
    const first = results.next()
    await turn()
    for (const index of [2, 1, 0]) release(index)
    const urls = [(await first).value?.request?.url]
    for await (const { request } of results) urls.push(request?.url)
    expect(urls).toEqual(['https://data.example/0', 'https://data.example/1', 'https://data.example/2'])
  })

  it('yields each request as soon as it is known when the order does not matter', async () => {
    const { auth, release } = slow()
    const results = authorizeAll(auth, targets(3), { ordered: false })
    const first = results.next()
    await turn()
    release(2)
    expect((await first).value?.request?.url).toBe('https://data.example/2')
    release(0)
    release(1)
    const rest: unknown[] = []
    for await (const { request } of results) rest.push(request?.url)
    expect(rest.sort()).toEqual(['https://data.example/0', 'https://data.example/1'])
  })

  it('has no more targets in progress than allowed, and reads no further', async () => {
    const { auth, release, most, waiting } = slow()
    let read = 0
    function* counted() {
      for (const target of targets(10)) {
        read++
        yield target
      }
    }
    const results = authorizeAll(auth, counted(), { concurrency: 3 })
    const first = results.next()
    for (let turns = 0; turns < 10; turns++) await turn()
    expect([read, waiting.size]).toEqual([3, 3])
    let next = 0
    const pump = setInterval(() => release(next++), 1)
    onTestFinished(() => clearInterval(pump))
    await first
    let count = 1
    for await (const _ of results) count++
    expect([count, most()]).toEqual([10, 3])
  })

  it('yields a result while the stream waits for its source', async () => {
    async function* endless() {
      yield* targets(1)
      await new Promise(() => {})
    }
    const auth = createAuth({ credentials: [] })
    const { value } = await authorizeAll(auth, endless()).next()
    expect(value).toMatchObject({ request: { url: 'https://data.example/0' } })
  })

  it('gives the error of a target in its place and goes on', async () => {
    const document = {
      ...item(0),
      assets: { a: { href: 'https://data.example/a', 'auth:refs': ['gone'] }, b: { href: 'https://data.example/b' } },
    }
    const passed = new SelectionError('DOC_NOT_JSON', 'the line is not JSON')
    const auth = createAuth({ credentials: [] })
    const results: unknown[] = []
    const inputs: TargetInput[] = [assetOf(document, 'a'), passed, [assetOf(document, 'a'), assetOf(document, 'b')], assetOf(document, 'b')]
    for await (const { target, request, error } of authorizeAll(auth, inputs)) results.push([target?.pointer, request?.url ?? error?.code])
    expect(results).toEqual([
      ['/assets/a', 'SCHEME_NOT_FOUND'],
      [undefined, 'DOC_NOT_JSON'],
      ['/assets/b', 'https://data.example/b'],
      ['/assets/b', 'https://data.example/b'],
    ])
  })

  it('passes on the error of the stream after the results before it', async () => {
    async function* broken() {
      yield* targets(2)
      throw new Error('the source ended')
    }
    const results = authorizeAll(createAuth({ credentials: [] }), broken())
    expect((await results.next()).value?.request?.url).toBe('https://data.example/0')
    expect((await results.next()).value?.request?.url).toBe('https://data.example/1')
    await expect(results.next()).rejects.toThrow('the source ended')
  })

  it('yields a fault of a strategy as the error of its target, without its text, and goes on', async () => {
    const authorize: Auth['authorize'] = async (target) => {
      if (target?.href === 'https://data.example/0') throw new TypeError('no header for s3cr3t')
      return { method: 'GET', url: target?.href, headers: {} } as AuthorizedRequest
    }
    const results: unknown[] = []
    for await (const { error, request } of authorizeAll({ authorize }, targets(2))) results.push(error ?? request?.url)
    expect(results).toEqual([expect.objectContaining({ code: 'INTERNAL' }), 'https://data.example/1'])
    expect(String(results)).not.toContain('s3cr3t')
  })

  it('throws an error of the configuration instead of repeating it for each target', async () => {
    const auth = createAuth({ credentials: [{ id: 'a', type: 'http', scheme: 'bearer', token: 't', sendTo: ['https://*.com/'] }] })
    expect(await failureOf(authorizeAll(auth, targets(3)).next())).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('ends when it is aborted while the stream waits, and closes the stream', async () => {
    const abort = new AbortController()
    let closed = false
    const source: AsyncIterable<Target> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          closed = true
          return { done: true, value: undefined }
        },
      }),
    }
    const next = authorizeAll(createAuth({ credentials: [] }), source, { signal: abort.signal }).next()
    await turn()
    abort.abort()
    expect([await failureOf(next), closed]).toEqual([expect.objectContaining({ code: 'ABORTED' }), true])
  })

  it.each([item(1), undefined, Promise.resolve([])])('refuses a value that is not a list of targets', async (wrong) => {
    await expect(authorizeAll(createAuth({ credentials: [] }), wrong as never).next()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'the second argument is not a list of targets',
      hint: 'pass targetsOf(document)',
    })
  })

  it.each([0, 1.5, 10_001, Number.NaN])('refuses %s targets at a time', async (concurrency) => {
    const next = authorizeAll(createAuth({ credentials: [] }), [], { concurrency }).next()
    expect(await failureOf(next)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('from 1 to 10000') })
  })
})

describe('minValidity', () => {
  const scheme = (tokenUrl: string) => ({ type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } })

  /** A client whose tokens live 600 seconds. */
  async function client(minValidity: number, session = memoryStore()) {
    let now = Date.now()
    const clock = new FakeClock({ now: () => now })
    const server = await startTokenServer({ client: { id: 'app', secret: 's3cr3t', scopes: ['read'] }, lifetime: 600, now: () => now })
    onTestFinished(() => server.close())
    const { tokenUrl } = server
    const sendTo = ['https://data.example/']
    const credential = {
      id: 'app',
      type: 'oauth2',
      flow: 'clientCredentials',
      tokenUrl,
      clientId: 'app',
      clientSecret: 's3cr3t',
      sendTo,
    } as const
    const document = {
      ...item(0),
      properties: { 'auth:schemes': { o: scheme(tokenUrl) } },
      assets: { a: { href: `${sendTo[0]}a`, 'auth:refs': ['o'] } },
    }
    const open = () => createAuth({ credentials: [credential], clock, session, minValidity })
    const auth = open()
    return {
      pass: (seconds: number) => {
        now += seconds * 1000
      },
      left: async (engine = auth) => {
        const { expiresAt = '' } = await engine.authorize(assetOf(document, 'a'))
        return Math.round((Date.parse(expiresAt) - now) / 1000)
      },
      open,
      server,
    }
  }

  it('replaces a token that ends sooner', async () => {
    const { left, pass, server } = await client(300_000)
    expect(await left()).toBe(600)
    pass(299)
    expect([await left(), server.exchanges.length]).toEqual([301, 1])
    pass(2)
    expect([await left(), server.exchanges.length]).toEqual([600, 2])
  })

  it('replaces a stored token that ends sooner', async () => {
    const { left, pass, open, server } = await client(300_000)
    expect(await left()).toBe(600)
    pass(250)
    expect(await left(open())).toBe(350)
    pass(60)
    expect([await left(open()), server.exchanges.length]).toEqual([600, 2])
  })

  it('uses tokens that never live that long until shortly before they end', async () => {
    const { left, pass, server } = await client(3_600_000)
    expect(await left()).toBe(600)
    pass(500)
    expect([await left(), server.exchanges.length]).toEqual([100, 1])
    pass(45)
    expect([await left(), server.exchanges.length]).toEqual([600, 2])
  })
})
