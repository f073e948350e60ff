/** Lists that come in pages: the first request, the next one, and when to stop although there is a next one. */
import type { ErrorCode } from '../errors.ts'
import { isForbiddenHeader } from '../http/field-name.ts'
import { queryValues, withQueryParameter } from '../http/message.ts'
import { isObject, type JsonObject, own, ownString } from '../stac/json.ts'
import { type Job, keyOf, type Left, originOf, type Page } from './job.ts'
import { isUnreadable, linksOf, UNREADABLE, viaOf } from './links.ts'
import { resolveLink } from './resolve.ts'
import { type CrawlLimits, DEFAULTS } from './settings.ts'

/** Longer requests for a next page are no requests for a page. */
const LONGEST_NEXT = 8192

/** The first page of a list; with `room`, of a list that is read in part. */
export function firstPage(url: string, limits: CrawlLimits, room?: number): Pick<Job, 'url' | 'method' | 'headers' | 'key' | 'page'> {
  const size = Math.min(limits.pageSize ?? DEFAULTS.pageSize, room ?? Number.POSITIVE_INFINITY)
  const limited = queryValues(url, 'limit').length > 0 ? url : withQueryParameter(url, 'limit', String(size))
  const request = { url: limited, method: 'GET', headers: {} } as const
  return { ...request, key: keyOf(request), page: { number: 1, original: { headers: {} }, ...(room !== undefined && { room }) } }
}

/** A list as it was linked to, such as that of all Collections. */
export function listAt(url: string): Pick<Job, 'url' | 'method' | 'headers' | 'key' | 'page'> {
  const request = { url, method: 'GET', headers: {} } as const
  return { ...request, key: keyOf(request), page: { number: 1, original: { headers: {} } } }
}

/** What follows a page: a job, the reason why there is none, or nothing. */
export interface Following {
  readonly job?: Job
  readonly left?: Left
}

/** True when the page shows nothing but what an earlier page has shown. */
export function isRepeated(page: Page, first: string | undefined): boolean {
  return first !== undefined && (first === page.before || first === page.mark)
}

/**
 * The page after this one. A `next` link may name its method, headers, body and `merge` (the STAC API's paging): a POST only
 * to the origin of the page itself, headers only where they are nobody's secret and frame nothing.
 *
 * @param document the page, read from `url`
 * @param inner the documents in it
 * @param first what tells its first document from others
 */
export function following(
  job: Job,
  document: JsonObject,
  url: string,
  inner: readonly unknown[],
  first: string | undefined,
  limits: CrawlLimits,
): Following {
  const [link] = linksOf(document, 'next')
  if (!job.page || !link) return {}
  const { page } = job
  const stop = (code: ErrorCode, message: string, more: Partial<Left> = {}): Following => ({
    left: { url, code, message, asked: false, count: 1, ...more },
  })
  const room = page.room === undefined ? undefined : page.room - inner.length
  if (room !== undefined && room <= 0) return stop('CRAWL_LIMIT', 'a sample was asked for', { limit: 'sample', asked: true })
  if (inner.length === 0) return stop('PAGE_LOOP', 'the page is empty, and yet it has a next one')
  const request = requestOf(link, job, url)
  if ('code' in request) return { left: request }
  const key = keyOf(request)
  if (key === job.key) return stop('PAGE_LOOP', 'the page is its own next one')
  if (page.number >= (limits.maxPages ?? Number.POSITIVE_INFINITY))
    return stop('CRAWL_LIMIT', `${limits.maxPages} pages were asked for`, { limit: 'pages', asked: true })
  const mark = (page.number & (page.number - 1)) === 0 ? first : page.mark
  const next: Page = {
    number: page.number + 1,
    original: page.original,
    ...(first !== undefined && { before: first }),
    ...(mark !== undefined && { mark }),
    ...(room !== undefined && { room }),
  }
  return { job: { ...job, body: undefined, ...request, key, level: job.level + 1, page: next, via: viaOf(link, url) } }
}

function requestOf(link: JsonObject, { page }: Job, base: string): Pick<Job, 'url' | 'method' | 'headers' | 'body'> | Left {
  const refused = (code: ErrorCode, message: string): Left => ({
    url: base,
    code,
    message: `its next link ${message}`,
    asked: false,
    count: 1,
  })
  if (isUnreadable(link)) return refused('SCHEME_INVALID', UNREADABLE)
  const href = ownString(link, 'href') ?? ''
  const body = own(link, 'body')
  if (href.length + (isObject(body) ? JSON.stringify(body).length : 0) > LONGEST_NEXT) return refused('URL_INVALID', 'is longer than 8 kB')
  const url = resolveLink(href, base)
  if (typeof url !== 'string') return refused(url.code, `has an address that ${url.message}`)
  const method = (ownString(link, 'method') ?? 'GET').toUpperCase()
  if (method !== 'GET' && method !== 'POST') return refused('LINK_REQUEST_FORBIDDEN', 'wants to choose another method than GET and POST')
  if (method === 'POST' && originOf(url) !== originOf(base))
    return refused('LINK_REQUEST_FORBIDDEN', 'wants to send a body to another origin')
  const merge = own(link, 'merge') === true
  const stated = Object.entries(isObject(own(link, 'headers')) ? (own(link, 'headers') as JsonObject) : {})
  const wrong = stated.find(
    ([name, value]) => typeof value !== 'string' || isForbiddenHeader(name) || isSecret(name) || /[\r\n\0]/.test(value),
  )
  if (wrong) return refused('LINK_REQUEST_FORBIDDEN', 'wants to choose a header that is not for documents to choose')
  const given = Object.fromEntries(stated.map(([name, value]) => [name.toLowerCase(), String(value)]))
  const headers = merge ? { ...page?.original.headers, ...given } : given
  if (method === 'GET') return { url, method, headers }
  const original = merge && page?.original.body !== undefined ? (JSON.parse(page.original.body) as JsonObject) : {}
  return {
    url,
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...original, ...(isObject(body) && body) }),
  }
}

/** Names under which material travels: an entry sets them, a document never does. */
function isSecret(name: string): boolean {
  return /^(?:authorization|x-api-key|api-?key|dpop)$|token|secret|signature/i.test(name)
}
