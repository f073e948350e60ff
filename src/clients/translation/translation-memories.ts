/** Translation memories: what there is; translations name them in `translation_memory_id`. */
import { type Paged, type PagedOptions, paged } from '../paged.ts'
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
  readonly total_count: number
}

/** Pages count from 0 and have 1 to 25 items, 10 by default. */
export interface TranslationMemoryListParams {
  readonly page?: number
  readonly page_size?: number
}

const NAME = 'translationMemories.list'

/** Lists translation memories. */
export class TranslationMemories {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  /** One page. */
  list(params: TranslationMemoryListParams = {}, options: TranslationCallOptions = {}): Promise<Result<TranslationMemoryPage>> {
    return this.#service.call(NAME, { query: { ...params } }, options)
  }

  /** All of them, page by page. */
  iterate(
    { page_size }: Pick<TranslationMemoryListParams, 'page_size'> = {},
    { limit, maxPages, signal, ...options }: TranslationCallOptions & PagedOptions = {},
  ): Paged<TranslationMemory> {
    let seen = 0
    const source = {
      name: NAME,
      fetch: (page = 0, ending?: AbortSignal) => this.list({ page, page_size }, { ...options, signal: ending }),
      items: ({ translation_memories: items }: TranslationMemoryPage) => items,
      next: ({ translation_memories: items, total_count }: TranslationMemoryPage, page = 0) => {
        seen = page === 0 ? items.length : seen + items.length
        return items.length > 0 && seen < total_count ? page + 1 : undefined
      },
    }
    return paged(source, { limit, maxPages, signal })
  }
}
