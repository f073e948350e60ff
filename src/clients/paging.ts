/** How services number their pages. */
import { ProtocolError } from '../errors.ts'
import type { ApiResponse } from './api-response.ts'
import type { PagesRead } from './paged.ts'

/** Names are those of query parameters; pointers (RFC 6901) lead into the body of the answer. */
export type Paging =
  | { readonly style: 'none' }
  | (Numbered & { readonly style: 'page'; readonly page: string; readonly start?: 0 | 1 })
  | (Numbered & { readonly style: 'offset'; readonly offset: string })
  | (Ending & { readonly style: 'cursor'; readonly cursor: string; readonly parameter: string; readonly size?: string })
  /** The `Link` header names the next page (RFC 8288); one without `rel=next` is the last. */
  | { readonly style: 'link' }
  /** The body names the URL of the next page: `/next`, `/_links/next/href` (HAL), `/@odata.nextLink` (OData). */
  | (Ending & { readonly style: 'url'; readonly url: string })

interface Ending {
  /** The service says `null`, `false` or an empty text on the last page: a page that says nothing is an error. */
  readonly explicitEnd?: true
}

/** Pages that say nothing of the next one. */
interface Numbered {
  readonly size?: string
  /** Where the answer says how many items there are; else the list ends with an empty page. */
  readonly total?: string
  /** The service never gives fewer items than it is asked for by `size` unless it has no more: the list ends with such a page, too. */
  readonly shortIsLast?: true
}

/** Query parameters of a page, or the address that a link names. */
export type PageCursor = { readonly query: Readonly<Record<string, unknown>> } | { readonly url: string }

/** What is known when the next page is looked for. */
interface PageSeen extends PagesRead {
  readonly answer: ApiResponse
  readonly pageSize: number | undefined
}

/** The query of the first page. */
export function firstQuery(paging: Paging, pageSize: number | undefined): Readonly<Record<string, unknown>> {
  const size = 'size' in paging && paging.size !== undefined && pageSize !== undefined ? { [paging.size]: pageSize } : {}
  if (paging.style === 'page') return { [paging.page]: paging.start ?? 1, ...size }
  return paging.style === 'offset' ? { [paging.offset]: 0, ...size } : size
}

/**
 * The cursor of the page after this one; undefined after the last. Errors: `RESPONSE_INVALID` for an answer that does not say it in the
 * way of its style, or names a next page in another way where this would be the end.
 */
export function cursorAfter(paging: Paging, seen: PageSeen): PageCursor | undefined {
  const cursor = declaredAfter(paging, seen)
  // An empty page is an end for styles that count; many services name a next page there all the same.
  const isCounted = paging.style === 'page' || paging.style === 'offset'
  if (cursor !== undefined || paging.style === 'none' || (isCounted && seen.count === 0)) return cursor
  const place = nextPlace(seen.answer)
  if (place === undefined) return undefined
  throw invalid(`${place} names a next page, and paging by ${paging.style} does not see it`)
}

function declaredAfter(paging: Paging, seen: PageSeen): PageCursor | undefined {
  const first = firstQuery(paging, seen.pageSize)
  switch (paging.style) {
    case 'none':
      return undefined
    case 'page':
      return isLast(seen, paging) ? undefined : { query: { ...first, [paging.page]: (paging.start ?? 1) + seen.number } }
    case 'offset':
      return isLast(seen, paging) ? undefined : { query: { ...first, [paging.offset]: seen.total } }
    case 'cursor': {
      const next = nextAt(seen.answer.data, paging.cursor, paging)
      return next === undefined ? undefined : { query: { ...first, [paging.parameter]: next } }
    }
    case 'link': {
      const url = nextLink(seen.answer.headers.get('link'))
      return url === undefined ? undefined : { url }
    }
    case 'url': {
      const url = nextAt(seen.answer.data, paging.url, paging)
      if (typeof url === 'string' || url === undefined) return url === undefined ? undefined : { url }
      throw invalid(`${paging.url} is a ${typeof url}, not the URL of a page`)
    }
  }
}

/** An empty page, a short one where that is said, or as many items as there are. A service may give fewer items than it is asked for. */
function isLast({ answer, count, total, pageSize }: PageSeen, { total: pointer, size, shortIsLast }: Numbered): boolean {
  if (count === 0) return true
  const all = pointer === undefined ? undefined : valueAt(answer.data, pointer)
  if (typeof all === 'number') return total >= all
  return shortIsLast === true && size !== undefined && pageSize !== undefined && count < pageSize
}

/** What a pointer finds; undefined at the end. Errors: `RESPONSE_INVALID`. */
function nextAt(data: unknown, pointer: string, { explicitEnd }: Ending): unknown {
  const next = valueAt(data, pointer)
  if (next === null || next === '' || next === false) return undefined
  if (next === undefined && explicitEnd) throw invalid(`${pointer} is missing, so nobody knows whether there is another page`)
  if (typeof next === 'object' || next === true) throw invalid(`${pointer} is ${Array.isArray(next) ? 'a list' : typeof next}, not a page`)
  return next
}

function invalid(what: string): ProtocolError {
  const hint = 'say in the profile how lists are paged: a pointer to a URL in the body, a cursor, the Link header, page or offset'
  return new ProtocolError('RESPONSE_INVALID', `the list is not complete: ${what}`, { hint })
}

/** Where bodies name their next page. */
const PLACES = [
  ['next'],
  ['nextLink'],
  ['next_page_url'],
  ['next_url'],
  ['@odata.nextLink'],
  ['_links', 'next'],
  ['links', 'next'],
  ['paging', 'next'],
  ['pagination', 'next'],
  ['meta', 'next'],
] as const

/** The place of a link to a next page, for people; undefined where there is none. */
export function nextPlace({ data, headers }: Pick<ApiResponse, 'data' | 'headers'>): string | undefined {
  if (nextLink(headers.get('link')) !== undefined) return 'the Link header'
  const path = PLACES.find((path) => isLink(path.reduce<unknown>((value, name) => memberOf(value, name), data)))
  if (path) return path.join('.')
  const links = memberOf(data, 'links')
  return Array.isArray(links) && links.some((link: unknown) => memberOf(link, 'rel') === 'next' && isLink(link)) ? 'links' : undefined
}

function isLink(value: unknown): boolean {
  const target = typeof value === 'object' ? memberOf(value, 'href') : value
  return typeof target === 'string' && target !== ''
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

/** RFC 6901, own members only. */
function valueAt(value: unknown, pointer: string): unknown {
  let at = value
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

/** The target of the first `rel=next` (RFC 8288 §3). */
export function nextLink(header: string | null): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s",;]+))?)*)/g)) {
    const [, quoted, plain = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i.exec(parameters) ?? []
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes('next')) return target
  }
  return undefined
}
