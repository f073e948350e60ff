/** How services number their pages. */
import type { ApiResponse } from './api-response.ts'
import type { PagesRead } from './paged.ts'

/** Names are those of query parameters; pointers (RFC 6901) lead into the body of the answer. */
export type Paging =
  | { readonly style: 'none' }
  | (Numbered & { readonly style: 'page'; readonly page: string; readonly start?: 0 | 1 })
  | (Numbered & { readonly style: 'offset'; readonly offset: string })
  | { readonly style: 'cursor'; readonly cursor: string; readonly parameter: string; readonly size?: string }
  | { readonly style: 'link' }

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

/** The cursor of the page after this one; undefined after the last. */
export function cursorAfter(paging: Paging, seen: PageSeen): PageCursor | undefined {
  const first = firstQuery(paging, seen.pageSize)
  switch (paging.style) {
    case 'none':
      return undefined
    case 'page':
      return isLast(seen, paging) ? undefined : { query: { ...first, [paging.page]: (paging.start ?? 1) + seen.number } }
    case 'offset':
      return isLast(seen, paging) ? undefined : { query: { ...first, [paging.offset]: seen.total } }
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

/** An empty page, a short one where that is said, or as many items as there are. A service may give fewer items than it is asked for. */
function isLast({ answer, count, total, pageSize }: PageSeen, { total: pointer, size, shortIsLast }: Numbered): boolean {
  if (count === 0) return true
  const all = pointer === undefined ? undefined : valueAt(answer.data, pointer)
  if (typeof all === 'number') return total >= all
  return shortIsLast === true && size !== undefined && pageSize !== undefined && count < pageSize
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
