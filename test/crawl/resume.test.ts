import { describe, expect, it } from 'vitest'
import { type CrawlOptions, crawlInto, type Visit } from '../../src/crawl/index.ts'
import { MemorySink } from './memory-sink.ts'
import { catalog, item, link, ORIGIN, page, type Site, serving, skippingClock } from './site.ts'

const SITE: Site = {
  '/': {
    ...catalog(link('child', 'a'), link('child', 'b'), link('child', 'missing'), link('child', 'https://other.example/')),
    headers: { etag: '"1"' },
  },
  '/a': catalog(...Array.from({ length: 20 }, (_, index) => link('item', `/i${index}`))),
  '/b': { body: { type: 'Collection', id: 'b', 'auth:schemes': {}, links: [link('items', '/items')] } },
  '/items?limit=250': page(['x', 'y'], link('next', '/items?limit=250&p=2')),
  '/items?limit=250&p=2': page(['z']),
  ...Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`/i${index}`, { body: item(`i${index}`), headers: { etag: `"${index}"` } }]),
  ),
}

type Result = readonly [string, number, readonly string[]]
const resultOf = ({ job, document, parents }: Visit): Result => [
  job.url,
  Number(document !== undefined),
  parents.map(({ id }) => String(id)),
]

async function run(sink: MemorySink<Result>, site: Site = SITE, options: Partial<CrawlOptions> = {}, stopAfter = Number.POSITIVE_INFINITY) {
  const { send, asked, requests } = serving(site)
  const told: unknown[] = []
  let visits = 0
  const crash = new Error('stopped')
  await crawlInto(sink, { start: [`${ORIGIN}/`], send, clock: skippingClock(), ...options }, resultOf, (each) => {
    if (++visits > stopAfter) throw crash
    told.push('visit' in each ? [each.visit.job.key, each.result, each.visit.outcome.failure, each.visit.outcome.left] : each)
  }).catch((error) => {
    if (error !== crash) throw error
  })
  return { told, asked: asked(), requests }
}

const sorted = (told: readonly unknown[]) => told.map((each) => JSON.stringify(each)).sort()

describe('a crawl that was stopped', () => {
  it.each([0, 1, 2, 5, 11, 25])('continues where it was and gives what one run gives: after %i visits', async (stopAfter) => {
    const whole = await run(new MemorySink())
    const sink = new MemorySink<Result>()
    const before = await run(sink, SITE, {}, stopAfter)
    const after = await run(sink)
    expect(sorted(after.told)).toEqual(sorted(whole.told))
    expect(before.asked.length).toBeLessThan(whole.asked.length + 1)
    expect(after.asked.filter((path) => before.asked.slice(0, stopAfter).includes(path))).toEqual([])
  })

  it('chooses the same documents within limits', async () => {
    const whole = await run(new MemorySink(), SITE, { maxDocuments: 8 })
    const sink = new MemorySink<Result>()
    await run(sink, SITE, { maxDocuments: 8 }, 4)
    expect(sorted((await run(sink, SITE, { maxDocuments: 8 })).told)).toEqual(sorted(whole.told))
  })
})

describe('a crawl that is done again', () => {
  const conditional = (site: Site): Site =>
    Object.fromEntries(
      Object.entries(site).map(([path, reply]) => [
        path,
        (request, count) => {
          const answer = typeof reply === 'function' ? reply(request, count) : reply
          const etag = 'headers' in answer ? answer.headers?.etag : undefined
          return etag !== undefined && request.headers['if-none-match'] === etag ? { status: 304 } : answer
        },
      ]),
    )

  it('asks whether something has changed, and takes over what has not', async () => {
    const first = new MemorySink<Result>()
    const before = await run(first, conditional(SITE))
    const again = await run(new MemorySink(first), conditional(SITE))
    expect(sorted(again.told)).toEqual(sorted(before.told))
    expect(again.requests.filter(({ headers }) => headers['if-none-match'])).toHaveLength(21)
  })

  it.each([
    ['other schemes', { 'auth:schemes': { key: {} } }],
    ['no schemes any more', {}],
  ])('reads again what is below a document with %s', async (_name, schemes) => {
    const below = (more: object): Site => ({
      '/': { body: { type: 'Catalog', id: 'c', ...more, links: [link('child', '/b')] } },
      '/b': { ...catalog(link('item', '/i')), headers: { etag: '"b"' } },
      '/i': { body: item('i'), headers: { etag: '"i"' } },
    })
    const first = new MemorySink<Result>()
    await run(first, conditional(below({ 'auth:schemes': {} })))
    const changed = conditional(below(schemes))
    const again = await run(new MemorySink(first), changed)
    expect(sorted(again.told)).toEqual(sorted((await run(new MemorySink(), changed)).told))
    expect(again.requests.filter(({ headers }) => headers['if-none-match'])).toEqual([])
  })

  it('sees what has changed', async () => {
    const first = new MemorySink<Result>()
    await run(first, conditional(SITE))
    const changed = { ...SITE, '/': { ...catalog(link('item', '/new')), headers: { etag: '"2"' } }, '/new': { body: item('new') } }
    expect((await run(new MemorySink(first), conditional(changed))).asked).toEqual(['/', '/new'])
  })
})

it('an abort ends the crawl at once', async () => {
  const { send } = serving({ '/': () => new Promise(() => {}) })
  const controller = new AbortController()
  const running = crawlInto(new MemorySink(), { start: [`${ORIGIN}/`], send, signal: controller.signal }, resultOf)
  controller.abort('SIGINT')
  await expect(running).rejects.toMatchObject({ code: 'ABORTED' })
})

it('a failure of the program itself is not taken for one of the network', async () => {
  const send = async () => ({
    status: 200,
    url: ORIGIN,
    headers: { get: () => null },
    bytes: async () => new Uint8Array(),
    discard: async () => {},
  })
  const frontier = {
    add: () => {},
    take: () => {
      throw new TypeError('broken')
    },
    finish: () => {},
    scopes: () => [],
    waiting: 0,
  }
  await expect(crawlInto(new MemorySink(), { start: [`${ORIGIN}/`], send, frontier }, resultOf)).rejects.toThrow('broken')
})

it('continues asking while results are made, as long as it may, and keeps their order', async () => {
  const names = ['a', 'b', 'c', 'd']
  const items = names.map((name) => [`/${name}`, { body: item(name) }])
  const { send } = serving({ '/': catalog(...names.map((href) => link('item', href))), ...Object.fromEntries(items) })
  const ends: (() => void)[] = []
  const [made, told]: [string[], string[]] = [[], []]
  const sink = new MemorySink<string>()
  const begin = (path: string) =>
    new Promise<string>((resolve) => {
      ends.push(() => {
        made.push(path)
        resolve(path)
      })
      // Nothing is made before all are begun, and the last one that was begun is made first.
      if (ends.length === 5) for (const end of ends.toReversed()) end()
    })
  await crawlInto(
    sink,
    { start: [`${ORIGIN}/`], send, clock: skippingClock(), isFull: () => ends.length === 5 },
    ({ job }) => begin(job.url.slice(ORIGIN.length)),
    (each) => told.push('result' in each ? each.result : 'stop'),
  )
  expect(made).toEqual(['/d', '/c', '/b', '/a', '/'])
  expect(told).toEqual(['/', '/a', '/b', '/c', '/d'])
  expect([...sink.values()].map(({ result }) => result)).toEqual(told)
})
