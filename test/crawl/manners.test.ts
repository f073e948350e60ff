import { describe, expect, it } from 'vitest'
import { crawl } from '../../src/crawl/index.ts'
import { NetworkError, TimeoutError } from '../../src/errors.ts'
import { catalog, item, link, ORIGIN, type Reply, type Site, serving, skippingClock, walk } from './site.ts'

/** Answers like that so many times, then with an empty catalog. */
const first = (times: number, reply: () => Reply) => (_request: unknown, count: number) => (count <= times ? reply() : catalog())
const codes = async (site: Site, options = {}) => {
  const clock = skippingClock()
  const { visits, asked } = await walk(site, { clock, ...options })
  return { codes: visits.map(({ outcome }) => outcome.failure?.code), asked: asked.length, slept: clock.waits }
}

describe('what may succeed later', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 529])('%i is retried with exponential backoff', async (status) => {
    expect(await codes({ '/': first(4, () => ({ status })) })).toEqual({ codes: [undefined], asked: 5, slept: [500, 1000, 2000, 4000] })
  })

  it.each([
    [500, 'HTTP_500'],
    [429, 'RATE_LIMITED'],
  ])('%i is reported after four retries', async (status, code) => {
    expect(await codes({ '/': { status } })).toMatchObject({ codes: [code], asked: 5 })
  })

  it('network errors are retried, but not those that are final', async () => {
    const failing = (error: Error) => ({ '/': first(1, () => Promise.reject(error) as never) })
    expect(await codes(failing(new NetworkError('NETWORK_RESET', 'reset', { retryable: true })))).toMatchObject({
      asked: 2,
      codes: [undefined],
    })
    expect(await codes(failing(new TimeoutError('TIMEOUT_HEADERS', 'slow', { retryable: true })))).toMatchObject({
      asked: 2,
      codes: [undefined],
    })
    expect(await codes(failing(new NetworkError('TLS_EXPIRED', 'old')))).toMatchObject({ asked: 1, codes: ['TLS_EXPIRED'] })
  })

  it.each([400, 401, 403, 404, 410, 301, 304, 501, 505])('a status such as %i is not retried', async (status) => {
    expect(await codes({ '/': { status } })).toMatchObject({ codes: [`HTTP_${status}`], asked: 1 })
  })

  it('varies its pauses', async () => {
    expect((await codes({ '/': first(2, () => ({ status: 500 })) }, { random: () => 0 })).slept).toEqual([250, 500])
  })
})

describe('Retry-After', () => {
  const later = (value: string) => () => ({ status: 429, headers: { 'retry-after': value } })

  it('Retry-After is waited for, by the whole origin', async () => {
    const clock = skippingClock()
    const times: number[] = []
    const site: Site = {
      '/': catalog(...['a', 'b', 'c'].map((name) => link('item', `/${name}`))),
      ...Object.fromEntries(
        ['a', 'b', 'c'].map((name) => [
          `/${name}`,
          (_request: unknown, count: number) => {
            times.push(clock.now())
            return count === 1 ? later('7')() : { body: item(name) }
          },
        ]),
      ),
    }
    const start = clock.now()
    const { visits } = await walk(site, { clock })
    expect(visits.map(({ outcome }) => outcome.failure)).toEqual([undefined, undefined, undefined, undefined])
    expect(times.filter((time) => time > start).every((time) => time >= start + 7000)).toBe(true)
    expect(times).toHaveLength(6)
  })

  it.each(['121', '999999999', 'Fri, 31 Dec 2999 23:59:59 GMT'])(
    'Retry-After of more than two minutes is not waited for: %s',
    async (value) => {
      expect(await codes({ '/': first(1, later(value)) })).toEqual({ codes: ['RATE_LIMITED'], asked: 1, slept: [] })
    },
  )

  it('Retry-After is waited for no longer than `maxRetryAfter` milliseconds', async () => {
    const answer = { '/': first(1, later('7')) }
    expect(await codes(answer, { maxRetryAfter: 6999 })).toEqual({ codes: ['RATE_LIMITED'], asked: 1, slept: [] })
    expect(await codes(answer, { maxRetryAfter: 7000 })).toEqual({ codes: [undefined], asked: 2, slept: [7000] })
  })

  it('Retry-After may be a date; malformed and past values are ignored', async () => {
    expect((await codes({ '/': first(1, later('Thu, 01 Jan 1970 00:16:50 GMT')) })).slept).toEqual([10_000])
    for (const value of ['-5', '0x10', '99999999999999', 'soon', '1e3', '', 'Thu, 01 Jan 1970 00:00:00 GMT'])
      expect((await codes({ '/': first(1, later(value)) })).slept).toEqual([500])
  })
})

describe('a server', () => {
  const wide = (count: number, reply: Site[string]): Site => ({
    '/': catalog(...Array.from({ length: count }, (_, index) => link('item', `/${index}`))),
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`/${index}`, reply])),
  })

  it.each([
    [{}, { one: 8, all: 16 }],
    [{ perHost: 3 }, { one: 3, all: 6 }],
    [{ concurrency: 5 }, { one: 5, all: 5 }],
    [
      { concurrency: 5, perHost: 3 },
      { one: 3, all: 5 },
    ],
  ])('with %j, so many requests are made at a time to one of two servers and to both: %j', async (options, most) => {
    const active: Record<string, number> = {}
    const peak = { one: 0, all: 0 }
    const reply = async ({ url }: { readonly url: string }) => {
      const { host } = new URL(url)
      active[host] = (active[host] ?? 0) + 1
      peak.one = Math.max(peak.one, active[host])
      peak.all = Math.max(
        peak.all,
        Object.values(active).reduce((sum, count) => sum + count),
      )
      await new Promise((resolve) => setTimeout(resolve, 1))
      active[host]--
      return { body: item('i') }
    }
    const urls = Array.from({ length: 80 }, (_, index) => `https://${'ab'[index % 2]}.example/${index}`)
    const documents = Object.fromEntries(urls.map((url) => [url, reply]))
    const { visits } = await walk({ '/': catalog(...urls.map((url) => link('item', url))), ...documents }, { origins: 'cross', ...options })
    expect(visits).toHaveLength(81)
    expect(peak).toEqual(most)
  })

  it('hands each exchange a signal of its own, so that a failure ends no other exchange', async () => {
    const { send } = serving(wide(40, { body: item('i') }))
    const signals = new Set<AbortSignal | undefined>()
    const watched: typeof send = async (request, { signal }: { signal?: AbortSignal } = {}) => {
      signals.add(signal)
      if (request.url.endsWith('/7')) throw new NetworkError('TLS_EXPIRED', 'old')
      return send(request)
    }
    const { visits } = await walk({}, { send: watched })
    expect(visits.flatMap(({ error }) => error?.code ?? [])).toEqual(['TLS_EXPIRED'])
    expect(signals.size).toBe(41)
  })

  it('a server is not asked for more than a slow reader takes', async () => {
    const { send, requests } = serving(wide(500, { body: item('i') }))
    let taken = 0
    let ahead = 0
    for await (const _visit of crawl({ start: [`${ORIGIN}/`], send })) {
      taken++
      await new Promise((resolve) => setTimeout(resolve, 1))
      ahead = Math.max(ahead, requests.length - taken)
    }
    expect(taken).toBe(501)
    expect(ahead).toBeLessThan(60)
  })

  it('a server is asked no faster than allowed', async () => {
    const clock = skippingClock()
    const start = clock.now()
    await walk(wide(20, { body: item('i') }), { clock, rate: 10 })
    expect(clock.now() - start).toBeGreaterThanOrEqual(1990)
  })

  it('a server with little capacity is crawled to the end, with ever lower concurrency', async () => {
    let active = 0
    const reply = async () => {
      const busy = ++active > 2
      await new Promise((resolve) => setTimeout(resolve, 1))
      active--
      return busy ? { status: 429 } : { body: item('i') }
    }
    const { visits } = await walk(wide(100, reply))
    expect(visits.filter(({ error }) => error)).toEqual([])
  })

  it('hears who asks', async () => {
    const { requests } = await walk({ '/': catalog() }, { userAgent: 'stac-auth/1 (+ada@example.org)' })
    expect(requests[0]?.headers['user-agent']).toBe('stac-auth/1 (+ada@example.org)')
  })

  it('a server that sends a page instead of a document, or nothing, has not answered', async () => {
    const { visits } = await walk({
      '/': catalog(link('child', 'a'), link('child', 'b'), link('child', 'c')),
      '/a': { body: '<html>Sign in' },
      '/b': {},
      '/c': { body: '[]' },
    })
    expect(visits.map(({ outcome }) => outcome.failure?.code)).toEqual([undefined, 'DOC_NOT_JSON', 'DOC_NOT_JSON', 'DOC_NOT_JSON'])
    expect(JSON.stringify(visits.map(({ outcome }) => outcome))).not.toContain('Sign in')
  })

  it('a server that sends JSON which is not a document is reported: what is below it is not known', async () => {
    const { left } = await walk({ '/': catalog(link('child', 'a')), '/a': { body: { message: 'Unauthorized' } } })
    expect(left).toMatchObject([{ code: 'RESPONSE_INVALID', url: `${ORIGIN}/a`, asked: false }])
  })
})

describe('robots.txt', () => {
  const site = (robots: Reply): Site => ({
    '/robots.txt': robots,
    '/': catalog(link('child', '/open/a'), link('child', '/closed/b'), link('child', '/closed/but/c?x=1')),
    '/open/a': catalog(),
    '/closed/b': catalog(),
    '/closed/but/c?x=1': catalog(),
  })
  const asked = async (robots: Reply) => (await walk(site(robots), { robots: true })).asked.slice(1)
  const all = ['/', '/open/a', '/closed/b', '/closed/but/c?x=1']

  it.each([
    ['for everyone', 'User-agent: *\nDisallow: /closed/\nAllow: /closed/but/ # yes', ['/', '/open/a', '/closed/but/c?x=1']],
    [
      'for us, whatever is for everyone',
      'User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-Agent: STAC-auth\nDisallow: /*c?',
      ['/', '/open/a', '/closed/b'],
    ],
    ['to the end', 'User-agent: *\nDisallow: /*/b$\nDisallow: /open$', ['/', '/open/a', '/closed/but/c?x=1']],
    ['that forbid nothing', 'User-agent: *\nDisallow:', all],
    ['of others', 'User-agent: other\nDisallow: /', all],
  ])('robots.txt has rules %s', async (_name, body, expected) => {
    expect((await asked({ body })).sort()).toEqual([...expected].sort())
  })

  it('robots.txt that is not there forbids nothing, and that cannot be read forbids all', async () => {
    expect(await asked({ status: 404 })).toEqual(all)
    const { left, visits } = await walk(site({ status: 503 }), { robots: true })
    expect([visits.length, left]).toMatchObject([1, [{ code: 'CRAWL_LIMIT', limit: 'robots', asked: true }]])
  })

  it.each([
    ['a rule after thousands of spaces', `User-agent: *\nDisallow:${' '.repeat(8000)}x\nDisallow: /closed/`],
    [
      'many agents with many rules',
      `${Array.from({ length: 16_000 }, (_, index) => `User-agent: a${index}\n`).join('')}${'Allow: /\n'.repeat(20_000)}User-agent: *\nDisallow: /closed/`,
    ],
  ])('robots.txt is read in linear time and memory: %s', async (_name, body) => {
    expect(await asked({ body })).toEqual(['/', '/open/a'])
  })

  it('robots.txt is requested only when that is wanted', async () => {
    expect((await walk(site({ body: 'User-agent: *\nDisallow: /' }))).asked).toEqual(all)
    expect(serving({}).requests).toEqual([])
  })
})

describe('many requests that wait at the same time', () => {
  it('many requests that wait at once make Node print no warning, and all end with the crawl', async () => {
    const links = Array.from({ length: 41 }, (_, index) => link('item', `i${index}.json`))
    const failing = Object.fromEntries(links.map((_, index) => [`/i${index}.json`, { status: 503 }]))
    const { send, asked } = serving({ '/': catalog(...links), ...failing })
    const end = new AbortController()
    const warnings: Error[] = []
    const hear = (warning: Error) => void warnings.push(warning)
    process.on('warning', hear)
    try {
      const visits = crawl({ start: [`${ORIGIN}/`], send, concurrency: 50, signal: end.signal })
      await visits.next()
      const next = visits.next()
      await expect.poll(() => asked().length).toBeGreaterThan(41)
      end.abort()
      await expect(next).rejects.toMatchObject({ code: 'ABORTED' })
      await new Promise((resolve) => setImmediate(resolve))
      expect(warnings).toEqual([])
    } finally {
      process.off('warning', hear)
    }
  })
})
