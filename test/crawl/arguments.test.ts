import { expect, it } from 'vitest'
import { type CrawlOptions, crawl } from '../../src/crawl/index.ts'

const send = () => Promise.reject(new Error('nothing is sent'))

it.each([[{ start: 'https://catalog.example/', send }], [{ start: ['https://catalog.example/'] }], ['https://catalog.example/']])(
  'a crawl of %o is a TypeError that shows the arguments',
  async (options) => {
    const visits = crawl(options as unknown as CrawlOptions)
    await expect(visits.next()).rejects.toThrow(new TypeError('crawl needs { start: [url], send: auth.send }'))
  },
)

it.each([{ perHost: 0 }, { perHost: -1 }, { perHost: null }, { concurrency: 0 }, { concurrency: -1 }])(
  'a crawl with %o ends',
  async (limits) => {
    const document = { type: 'Feature', stac_version: '1.1.0', id: 'a', properties: {}, links: [], assets: {} }
    const bytes = async () => new TextEncoder().encode(JSON.stringify(document))
    const sent = async ({ url }: { url: string }) => ({ status: 200, url, headers: new Headers(), bytes, discard: async () => {} })
    const visits = []
    for await (const visit of crawl({ start: ['https://catalog.example/a.json'], send: sent, ...limits } as CrawlOptions))
      visits.push(visit)
    expect(visits).toMatchObject([{ kind: 'visit', document }])
  },
)
