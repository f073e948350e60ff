/** How services number their pages. */
import type { ApiResponse } from './api-response.ts'

/** Names are those of query parameters; pointers (RFC 6901) lead into the body of the answer. */
export type Paging =
  | { readonly style: 'none' }
  | { readonly style: 'page'; readonly page: string; readonly size?: string; readonly start?: 0 | 1; readonly total?: string }
  | { readonly style: 'offset'; readonly offset: string; readonly size?: string; readonly total?: string }
  | { readonly style: 'cursor'; readonly cursor: string; readonly parameter: string; readonly size?: string }
  | { readonly style: 'link' }

/** Query parameters of a page, or the address that a link names. */
export type PageCursor = { readonly query: Readonly<Record<string, unknown>> } | { readonly url: string }

/** What is known when the next page is looked for. */
interface PageSeen {
  readonly answer: ApiResponse
  /** Items on this page, and on all so far. */
  readonly count: number
  readonly total: number
  readonly pageSize: number | undefined
  /** From 0. */
  readonly number: number
}

/** The query of the first page. */
export function firstQuery(paging: Paging, pageSize: number | undefined): Readonly<Record<string, unknown>> {
  const size = 'size' in paging && paging.size !== undefined && pageSize !== undefined ? { [paging.size]: pageSize } : {}
  if (paging.style === 'page') return { [paging.page]: paging.start ?? 1, ...size }
  return paging.style === 'offset' ? { [paging.offset]: 0, ...size } : size
}

/** The cursor of the page after this one; undefined after the last. */
export function cursorAfter(paging: Paging, seen: PageSeen): PageCursor | undefined {
  const first = firstQuery(paging, seen.pageSize)
  switch (paging.style) {
    case 'none':
      return undefined
    case 'page':
      return isLast(seen, paging.total) ? undefined : { query: { ...first, [paging.page]: (paging.start ?? 1) + seen.number + 1 } }
    case 'offset':
      return isLast(seen, paging.total) ? undefined : { query: { ...first, [paging.offset]: seen.total } }
    case 'cursor': {
      const next = valueAt(seen.answer.data, paging.cursor)
      const isEnd = next === undefined || next === null || next === '' || next === false
      return isEnd ? undefined : { query: { ...first, [paging.parameter]: next } }
    }
    case 'link': {
      const url = nextLink(seen.answer.headers.get('link'))
      return url === undefined ? undefined : { url }
    }
  }
}

/** An empty page, a short one, or as many items as there are. */
function isLast({ answer, count, total, pageSize }: PageSeen, pointer: string | undefined): boolean {
  if (count === 0) return true
  const all = pointer === undefined ? undefined : valueAt(answer.data, pointer)
  if (typeof all === 'number') return total >= all
  return pageSize !== undefined && count < pageSize
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
