/** Lists that come in pages, one request at a time. */
import { isAuthError, ProtocolError } from '../errors.ts'
import { abortable } from './abortable.ts'
import { annotate } from './annotate.ts'
import { described } from './described.ts'
import { ValidationError } from './errors.ts'

/** How pages are asked for and what they hold. */
export interface PageSource<Page, Item, Cursor> {
  /** The page at a cursor, the first one without. */
  fetch(cursor: Cursor | undefined, signal: AbortSignal): Promise<Page>
  items(page: Page): readonly Item[]
  /** The cursor of the next page; undefined after the last. A source keeps nothing itself: many may read it at a time. */
  next(page: Page, cursor: Cursor | undefined, read: PagesRead): Cursor | undefined
  /** What is asked, for errors. */
  readonly name: string
}

/** How far one reader came. */
export interface PagesRead {
  /** Of the page, from 1. */
  readonly number: number
  /** Items on this page, and on all so far. */
  readonly count: number
  readonly total: number
}

export interface PagedOptions {
  /** Items at most. */
  readonly limit?: number
  /** Pages before it must be a mistake; default 10 000. */
  readonly maxPages?: number
  readonly signal?: AbortSignal
}

/** The items one by one. The next page is asked for when the last one is used up; leaving the loop aborts what is under way. */
export interface Paged<Item> extends AsyncIterable<Item> {
  /** Whole pages. */
  pages(): AsyncIterable<readonly Item[]>
  /** All of them; `max` (10 000) is the most that are taken, more is `REQUEST_TOO_LARGE`. */
  toArray(options?: { readonly max?: number }): Promise<Item[]>
}

/**
 * The items of a source. Errors: those of its requests, with the number of the page in `page`; `PAGE_LOOP` for a cursor that comes again
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
  const seen = new Set<string>()
  let cursor: Cursor | undefined
  let left = limit
  let total = 0
  for (let number = 1; left > 0; number++) {
    if (number > maxPages) throw loop(source.name, `has more than ${maxPages} pages`, number - 1)
    const page = await pageAt(source, cursor, signal, number)
    const all = source.items(page)
    const items = all.slice(0, left)
    total += all.length
    left -= items.length
    yield items
    cursor = source.next(page, cursor, { number, count: all.length, total })
    if (cursor === undefined) return
    const mark = JSON.stringify(cursor)
    if (seen.has(mark)) throw loop(source.name, `names a page again that was read before, on page ${number}`, number)
    seen.add(mark)
  }
}

async function pageAt<Page, Item, Cursor>(
  source: PageSource<Page, Item, Cursor>,
  cursor: Cursor | undefined,
  signal: AbortSignal,
  number: number,
): Promise<Page> {
  try {
    return await source.fetch(cursor, signal)
  } catch (error) {
    if (isAuthError(error)) annotate(error, { page: number })
    throw error
  }
}

async function* flattened<Item>(pages: AsyncIterable<readonly Item[]>): AsyncGenerator<Item, void> {
  for await (const page of pages) yield* page
}

/** @param page the last one that was read; each took a request at least */
function loop(name: string, why: string, page: number): unknown {
  const error = new ProtocolError('PAGE_LOOP', `${name} ${why}`)
  annotate(error, { page })
  return described(error, page, name)
}

function tooMany(name: string, max: number): ValidationError {
  const hint = 'iterate instead, or raise max'
  return new ValidationError('REQUEST_TOO_LARGE', `${name} has more than ${max} items`, { field: 'max', limit: max, hint })
}
