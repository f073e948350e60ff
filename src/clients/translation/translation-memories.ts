/** Translation memories: what there is; translations name them in `translation_memory_id`. */
import { type Paged, type PagedOptions, type PagesRead, paged } from '../paged.ts'
import { checkPageSize } from './check-page-size.ts'
import { named } from './named.ts'
import type { Result } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

export interface TranslationMemory {
  readonly translation_memory_id: string
  readonly name: string
  readonly source_language: string
  readonly target_languages: readonly string[]
  readonly segment_count: number
}

export interface TranslationMemoryPage {
  readonly translation_memories: readonly TranslationMemory[]
  /** Left out by some services: then a page that is shorter than it may be is the last. */
  readonly total_count?: number
}

/** Pages count from 0 and have 1 to 25 items, 10 by default. */
export interface TranslationMemoryListParams {
  readonly page?: number
  readonly page_size?: number
}

const NAME = 'translationMemories.list'
const PAGE_SIZE = 10

/** Lists translation memories. */
export class TranslationMemories {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** One page. Errors: `REQUEST_INVALID` for a size that no page has; those of every call. */
  list(params: TranslationMemoryListParams = {}, options: TranslationCallOptions = {}): Promise<Result<TranslationMemoryPage>> {
    return named(NAME, async () => {
      if (this.#service.validation(options) === 'strict' && params.page_size !== undefined) checkPageSize(params.page_size)
      return this.#service.call(NAME, { query: { ...params } }, options)
    })
  }

  /** All of them, page by page. */
  iterate(
    { page_size }: Pick<TranslationMemoryListParams, 'page_size'> = {},
    { limit, maxPages, signal, ...options }: TranslationCallOptions & PagedOptions = {},
  ): Paged<TranslationMemory> {
    const source = {
      name: NAME,
      fetch: (page = 0, ending?: AbortSignal) => this.list({ page, page_size }, { ...options, signal: ending }),
      items: ({ translation_memories: items }: TranslationMemoryPage) => items,
      next: ({ total_count }: TranslationMemoryPage, page = 0, { count, total }: PagesRead) => {
        const isLast = typeof total_count === 'number' ? total >= total_count : count < (page_size ?? PAGE_SIZE)
        return count > 0 && !isLast ? page + 1 : undefined
      },
    }
    return paged(source, { limit, maxPages, signal })
  }
}
