/** Catalogs for tests: documents by address, a clock that needs no time, and a record of what was asked. */

import type { CrawlResponse } from '../../src/crawl/ask.ts'
import { type CrawlOptions, crawl, type Visit } from '../../src/crawl/index.ts'
import type { SkippedLink } from '../../src/crawl/job.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { FakeClock } from '../harness/fake-clock.ts'

export const ORIGIN = 'https://catalog.example'

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The address that answered after redirects. */
  readonly url?: string
}

export type Site = Readonly<Record<string, Reply | ((request: HttpRequest, count: number) => Reply | Promise<Reply>)>>

/** Serves the replies by address; addresses are whole, or paths at {@link ORIGIN}. */
export function serving(site: Site) {
  const requests: HttpRequest[] = []
  const counts = new Map<string, number>()
  const send = async (request: HttpRequest): Promise<CrawlResponse> => {
    requests.push(request)
    const count = (counts.get(request.url) ?? 0) + 1
    counts.set(request.url, count)
    const found = site[request.url] ?? site[request.url.replace(ORIGIN, '')] ?? { status: 404 }
    const { status = 200, headers = {}, body = '', url = request.url } = typeof found === 'function' ? await found(request, count) : found
    const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
    return {
      status,
      url,
      headers: { get: (name) => headers[name] ?? null },
      bytes: async () => bytes,
      discard: async () => {},
    }
  }
  return { send, requests, asked: () => requests.map(({ url }) => url.replace(ORIGIN, '')) }
}

/** A clock whose waits are over at once. */
export const skippingClock = () => new FakeClock({ now: 1_000_000, waits: 'skipped' })

export interface Walk {
  readonly visits: readonly Visit[]
  readonly left: readonly SkippedLink[]
  readonly asked: readonly string[]
  readonly requests: readonly HttpRequest[]
}

/** Walks a site to its end. */
export async function walk(site: Site, options: Partial<CrawlOptions> = {}): Promise<Walk> {
  const { send, requests, asked } = serving(site)
  const visits: Visit[] = []
  const left: SkippedLink[] = []
  for await (const visit of crawl({ start: [`${ORIGIN}/`], send, clock: skippingClock(), random: () => 1, ...options })) {
    if (visit.kind === 'stop') left.push(visit.left)
    else {
      visits.push(visit)
      left.push(...visit.outcome.left)
    }
  }
  return { visits, left, asked: asked(), requests }
}

export const link = (rel: string, href: string, more: object = {}) => ({ rel, href, ...more })
export const catalog = (...links: object[]) => ({ body: { type: 'Catalog', id: 'c', links } })
export const item = (id: string, more: object = {}) => ({ type: 'Feature', id, properties: {}, links: [], assets: {}, ...more })
export const page = (ids: readonly string[], ...links: object[]) => ({
  body: { type: 'FeatureCollection', features: ids.map((id) => item(id)), links },
})
