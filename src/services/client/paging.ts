/** Paging styles of services, and iteration over the items of all pages. */
import { isAuthError, ProtocolError } from '../../errors.ts'
import { annotate, described, ValidationError } from './errors.ts'
import type { ApiResponse } from './response.ts'

/**
 * How a service refers to the next page of a list. `page`, `offset`, `size` and `parameter` are names of query parameters; `total`,
 * `cursor` and `url` are JSON pointers (RFC 6901) into the body. A list that names a next page in another way is `RESPONSE_INVALID`.
 */
export type Paging =
  | { readonly style: 'none' }
  /** Pages with numbers. */
  | {
      readonly style: 'page'
      readonly page: string
      /** Number of the first page; default 1. */
      readonly start?: 0 | 1
      readonly size?: string
      /** Pointer to the total number of items; without it the list ends with an empty page. */
      readonly total?: string
      /** A page of fewer items than `size` requests also ends the list. */
      readonly shortIsLast?: true
    }
  /** Pages that begin at the number of an item; other members as with `page`. */
  | {
      readonly style: 'offset'
      readonly offset: string
      readonly size?: string
      readonly total?: string
      readonly shortIsLast?: true
    }
  /** The body contains the value of `parameter` for the next page. */
  | {
      readonly style: 'cursor'
      readonly cursor: string
      readonly parameter: string
      readonly size?: string
      /** The service writes `null`, `false` or an empty string on the last page: a page with no cursor at all is an error. */
      readonly explicitEnd?: true
    }
  /** The `Link` header names the next page (RFC 8288); one without `rel=next` is the last. */
  | { readonly style: 'link' }
  /** The body names the URL of the next page: `/next`, `/_links/next/href` (HAL), `/@odata.nextLink` (OData). */
  | { readonly style: 'url'; readonly url: string; readonly explicitEnd?: true }

/** Styles whose pages do not refer to the next page. */
type Numbered = Extract<Paging, { readonly style: 'page' | 'offset' }>

type Ending = Pick<Extract<Paging, { readonly style: 'url' }>, 'explicitEnd'>

/** The query parameters of a page, or the URL that a link names. */
export type PageCursor = { readonly query: Readonly<Record<string, unknown>> } | { readonly url: string }

/** The last page, from which the cursor of the next one is derived. */
interface PageSeen extends PagesRead {
  readonly answer: ApiResponse
  readonly pageSize: number | undefined
}

/** Returns the query of the first page. */
export function firstQuery(paging: Paging, pageSize: number | undefined): Readonly<Record<string, unknown>> {
  const size = 'size' in paging && paging.size !== undefined && pageSize !== undefined ? { [paging.size]: pageSize } : {}
  if (paging.style === 'page') return { [paging.page]: paging.start ?? 1, ...size }
  return paging.style === 'offset' ? { [paging.offset]: 0, ...size } : size
}

/**
 * Returns the cursor of the next page; `undefined` after the last. Errors: `RESPONSE_INVALID` for a response without what its style
 * requires, or for a last page that names a next page in another way.
 */
export function cursorAfter(paging: Paging, seen: PageSeen): PageCursor | undefined {
  const cursor = declaredAfter(paging, seen)
  // An empty page ends the list for styles that count, although many services name a next page there.
  const isCounted = paging.style === 'page' || paging.style === 'offset'
  if (cursor !== undefined || paging.style === 'none' || (isCounted && seen.count === 0)) return cursor
  const place = nextPlace(seen.answer)
  if (place === undefined) return undefined
  throw invalid(`${place} names a next page that paging by ${paging.style} does not read`)
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

/**
 * Returns true after an empty page, after a short one with `shortIsLast`, and when as many items were read as there are. A short page alone
 * is not the end: a service may return fewer items than requested.
 */
function isLast({ answer, count, total, pageSize }: PageSeen, { total: pointer, size, shortIsLast }: Numbered): boolean {
  if (count === 0) return true
  const all = pointer === undefined ? undefined : valueAt(answer.data, pointer)
  if (typeof all === 'number') return total >= all
  return shortIsLast === true && size !== undefined && pageSize !== undefined && count < pageSize
}

/** Returns the value at a pointer; `undefined` on the last page. Errors: `RESPONSE_INVALID`. */
function nextAt(data: unknown, pointer: string, { explicitEnd }: Ending): unknown {
  const next = valueAt(data, pointer)
  if (next === null || next === '' || next === false) return undefined
  if (next === undefined && explicitEnd) throw invalid(`${pointer} is missing, so it is unknown whether there is another page`)
  if (typeof next === 'object' || next === true) throw invalid(`${pointer} is ${Array.isArray(next) ? 'a list' : typeof next}, not a page`)
  return next
}

function invalid(what: string): ProtocolError {
  const hint = 'configure in the profile how lists are paged: a pointer to a URL in the body, a cursor, the Link header, page or offset'
  return new ProtocolError('RESPONSE_INVALID', `the list is incomplete: ${what}`, { hint })
}

/** Paths of members that commonly name the next page. */
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

/** Returns where a response links to a next page, for messages; `undefined` if it does not. */
export function nextPlace({ data, headers }: Pick<ApiResponse, 'data' | 'headers'>): string | undefined {
  if (nextLink(headers.get('link')) !== undefined) return 'the Link header'
  const path = PLACES.find((place) => isLink(place.reduce<unknown>((value, name) => memberOf(value, name), data)))
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

/** Resolves a JSON pointer (RFC 6901), own members only. */
function valueAt(value: unknown, pointer: string): unknown {
  let at = value
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

/** Returns the target of the first `rel=next` (RFC 8288 §3). */
export function nextLink(header: string | null): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s",;]+))?)*)/g)) {
    const [, quoted, plain = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]+))/i.exec(parameters) ?? []
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes('next')) return target
  }
  return undefined
}

/** Requests pages and returns their items. */
export interface PageSource<Page, Item, Cursor> {
  /** Requests the page at a cursor; without one, the first page. */
  fetch(cursor: Cursor | undefined, signal: AbortSignal): Promise<Page>
  items(page: Page): readonly Item[]
  /** Returns the cursor of the next page; `undefined` after the last. A source keeps no state, so several readers can use it at a time. */
  next(page: Page, cursor: Cursor | undefined, read: PagesRead): Cursor | undefined
  /** Name of the operation, for errors. */
  readonly name: string
}

/** The progress of one reader. */
export interface PagesRead {
  /** Number of the page, from 1. */
  readonly number: number
  /** Number of items on this page; `total` is the number on all pages so far. */
  readonly count: number
  readonly total: number
}

/** Options of a list that is read page by page. */
export interface PagedOptions {
  /** Maximum number of items; default: all. */
  readonly limit?: number
  /** Maximum number of pages, beyond which the list is `PAGE_LOOP`; default 10 000. */
  readonly maxPages?: number
  /** Aborts the loop and its request (`ABORTED`). */
  readonly signal?: AbortSignal
}

/**
 * The items of a list, for `for await`. The next page is requested when all items of the last one were read; leaving the loop aborts the
 * running request.
 *
 * Errors: those of a call, with the number of the page in `page`; `PAGE_LOOP` for a page that was already read and for too many pages;
 * `REQUEST_INVALID` for a `limit` that is not a number of 0 or more.
 */
export interface Paged<Item> extends AsyncIterable<Item> {
  /** Returns the same page by page. */
  pages(): AsyncIterable<readonly Item[]>
  /** Returns all items. Errors: `REQUEST_TOO_LARGE` for more than `max`, by default 10 000. */
  toArray(options?: { readonly max?: number }): Promise<Item[]>
}

/**
 * Returns the items of a source. Errors: those of its requests, with the number of the page in `page`; `PAGE_LOOP` for a repeated cursor
 * and for too many pages.
 */
export function paged<Page, Item, Cursor>(source: PageSource<Page, Item, Cursor>, options: PagedOptions = {}): Paged<Item> {
  const pages = () => abortable((signal) => walk(source, options, signal), options.signal)
  return {
    pages: () => ({ [Symbol.asyncIterator]: pages }),
    [Symbol.asyncIterator]: () => abortable((signal) => flattened(walk(source, options, signal)), options.signal),
    async toArray({ max = 10_000 } = {}) {
      const all: Item[] = []
      for await (const item of this) {
        if (all.length >= max) throw tooMany(source.name, max)
        all.push(item)
      }
      return all
    },
  }
}

async function* walk<Page, Item, Cursor>(
  source: PageSource<Page, Item, Cursor>,
  { limit = Number.POSITIVE_INFINITY, maxPages = 10_000 }: PagedOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Item[], void> {
  if (!(limit >= 0)) throw new ValidationError('REQUEST_INVALID', 'limit is not valid; nothing was sent', { field: 'limit' })
  const seen = new Set<string>()
  let cursor: Cursor | undefined
  let left = limit
  let total = 0
  let fetched = 0
  for (let number = 1; left >= 1; number++) {
    try {
      if (number > maxPages) throw loop(source.name, `has more than ${maxPages} pages`, number - 1)
      const page = await source.fetch(cursor, signal)
      fetched++
      const all = source.items(page)
      const items = all.slice(0, left)
      total += all.length
      left -= items.length
      yield items
      cursor = source.next(page, cursor, { number, count: all.length, total })
    } catch (error) {
      if (isAuthError(error) && !('page' in error)) annotate(error, { page: number })
      // Each page took a request at least.
      throw described(error, fetched, source.name)
    }
    if (cursor === undefined) return
    const mark = JSON.stringify(cursor)
    if (seen.has(mark)) throw loop(source.name, `names a page that was already read, on page ${number}`, number)
    seen.add(mark)
  }
}

async function* flattened<Item>(pages: AsyncIterable<readonly Item[]>): AsyncGenerator<Item, void> {
  for await (const page of pages) yield* page
}

function loop(name: string, why: string, page: number): unknown {
  const error = new ProtocolError('PAGE_LOOP', `${name} ${why}`)
  annotate(error, { page })
  return described(error, page, name)
}

function tooMany(name: string, max: number): ValidationError {
  const hint = 'iterate instead, or raise max'
  return new ValidationError('REQUEST_TOO_LARGE', `${name} has more than ${max} items`, { field: 'max', limit: max, hint })
}

/**
 * Returns an iterator over a generator that aborts the running request on `return`. A generator alone handles `return` only after its
 * request ends.
 *
 * @param caller ends it as well
 */
export function abortable<T>(
  make: (signal: AbortSignal) => AsyncGenerator<T, void>,
  caller: AbortSignal | undefined,
): AsyncIterator<T, void> {
  const controller = new AbortController()
  const abort = () => controller.abort(caller?.reason)
  if (caller?.aborted) abort()
  else caller?.addEventListener('abort', abort, { once: true })
  const release = () => caller?.removeEventListener('abort', abort)
  const generator = make(controller.signal)
  const ended = (step: IteratorResult<T, void>) => {
    if (step.done) release()
    return step
  }
  return {
    next: () =>
      generator.next().then(ended, (error: unknown) => {
        release()
        throw error
      }),
    return: () => {
      release()
      controller.abort()
      return generator.return().then(ended, () => ({ done: true, value: undefined }))
    },
  }
}
