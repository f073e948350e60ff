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
