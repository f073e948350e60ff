/** Lists of style rules for translations into one language, and translation memories. */

import type { Paged, PagedOptions } from '../client/paging.ts'
import { methodsOf, pagesOf, type ServiceMethod, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** A list of style rules for one target language (`/v3/style_rules`). */
export interface StyleRuleList {
  /** For `style_id` of translations. */
  readonly style_id: string
  /** Name of the list. */
  readonly name: string
  /** Time of the creation: ISO 8601. */
  readonly creation_time: string
  /** Time of the last change: ISO 8601. */
  readonly updated_time: string
  /** `de`, `en`, `es`, `fr`, `it`, `ja`, `ko`, `zh`. */
  readonly language: string
  /** Grows with every change. */
  readonly version: number
  /** Options by category and rule: `{ numbers: { decimals: 'comma' } }`. In lists only with `detailed`. */
  readonly configured_rules?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** In lists only with `detailed`. */
  readonly custom_instructions?: readonly StyleInstruction[]
}

/** A list of style rules to create: a name of at most 1024 characters, at most 200 instructions. */
export interface StyleRuleListInput extends Pick<StyleRuleList, 'name' | 'language' | 'configured_rules'> {
  /** At most 200 instructions. */
  readonly custom_instructions?: readonly StyleInstructionInput[]
}

/** An instruction of a list of style rules. */
export interface StyleInstruction {
  /** Identifier within the list. */
  readonly id: string
  /** Name of the instruction, at most 100 characters. */
  readonly label: string
  /** The instruction, at most 300 characters. */
  readonly prompt: string
  /** Source language of the instruction. */
  readonly source_language?: string
}

type StyleInstructionInput = Omit<StyleInstruction, 'id'>

/** A page, from 0, of 1 to 25 items (default 10). */
interface PageParams {
  /** The page, from 0. */
  readonly page?: number
  /** 1 to 25, default 10. */
  readonly page_size?: number
}

type StylePageParams = PageParams & { readonly detailed?: boolean }

const PAGE_SIZE = 10

/**
 * Lists of style rules and instructions. Errors besides those of each call: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`.
 *
 * @example
 * const { style_id } = await client.styleRules.create({ name: 'House style', language: 'de' })
 * await client.styleRules.setRules(style_id, { numbers: { decimals: 'comma' } })
 */
export interface StyleRules {
  /** The instructions of a list, one by one. */
  readonly instructions: StyleInstructions
  /** Returns one page of lists; with `detailed` also their rules and instructions. */
  readonly list: ServiceMethod<[params?: StylePageParams], { readonly style_rules: readonly StyleRuleList[] }>
  /** Returns the lists of all pages, from `page` on; the last page is one with fewer than `page_size` lists. */
  iterate(params?: StylePageParams, options?: TranslationCallOptions & PagedOptions): Paged<StyleRuleList>
  /** Creates a list. Retried as `unsafe`. */
  readonly create: ServiceMethod<[list: StyleRuleListInput], StyleRuleList>
  /** Returns one list with its rules and instructions. */
  readonly get: ServiceMethod<[style_id: string], StyleRuleList>
  /** Changes the name of a list. */
  readonly rename: ServiceMethod<[style_id: string, params: { readonly name: string }], StyleRuleList>
  /** Deletes a list. */
  readonly delete: ServiceMethod<[style_id: string], object>
  /** Replaces all rules of a list. */
  readonly setRules: ServiceMethod<[style_id: string, rules: NonNullable<StyleRuleList['configured_rules']>], StyleRuleList>
}

/**
 * The instructions of a list of style rules.
 *
 * @example await client.styleRules.instructions.create(style_id, { label: 'Units', prompt: 'Use metric units' })
 */
interface StyleInstructions {
  /** Adds an instruction. Retried as `unsafe`. */
  readonly create: ServiceMethod<[style_id: string, instruction: StyleInstructionInput], StyleInstruction>
  /** Returns one instruction. */
  readonly get: ServiceMethod<[style_id: string, instruction_id: string], StyleInstruction>
  /** Replaces an instruction. */
  readonly replace: ServiceMethod<[style_id: string, instruction_id: string, instruction: StyleInstructionInput], StyleInstruction>
  /** Deletes an instruction. */
  readonly delete: ServiceMethod<[style_id: string, instruction_id: string], object>
}

export function styleRulesOf(service: TranslationService): StyleRules {
  const methods = methodsOf<Omit<StyleRules, 'instructions' | 'iterate'>>(service, 'styleRules')
  return {
    ...methods,
    instructions: methodsOf(service, 'styleRules.instructions'),
    iterate: ({ page: first = 0, page_size = PAGE_SIZE, detailed } = {}, options) =>
      pagesOf(
        {
          name: 'styleRules.list',
          fetch: async (page = first, call = {}) => (await methods.list({ page, page_size, detailed }, call)).style_rules,
          items: (lists) => lists,
          next: (lists, page = first) => (lists.length < page_size ? undefined : page + 1),
        },
        options,
      ),
  }
}

/** A translation memory of the account (`GET /v3/translation_memories`). */
export interface TranslationMemory {
  /** For `translation_memory_id` of translations. */
  readonly translation_memory_id: string
  /** Name of the memory. */
  readonly name: string
  /** Language of its source texts. */
  readonly source_language: string
  /** Languages of its translations. */
  readonly target_languages: readonly string[]
  /** Number of segments. */
  readonly segment_count: number
}

/** A page of memories. Some services leave the total out; then a page with fewer items than its size is the last. */
interface TranslationMemoryPage {
  /** The memories of the page. */
  readonly translation_memories: readonly TranslationMemory[]
  /** The number on all pages; some services leave it out. */
  readonly total_count?: number
}

/**
 * The translation memories of the account.
 *
 * @example for await (const { name, segment_count } of client.translationMemories.iterate()) console.log(name, segment_count)
 */
export interface TranslationMemories {
  /** Returns one page of memories. Errors: `REQUEST_INVALID` for another size; those of every call. */
  readonly list: ServiceMethod<[params?: PageParams], TranslationMemoryPage>
  /** Returns the memories of all pages. */
  iterate(params?: Pick<PageParams, 'page_size'>, options?: TranslationCallOptions & PagedOptions): Paged<TranslationMemory>
}

export function translationMemoriesOf(service: TranslationService): TranslationMemories {
  const methods = methodsOf<Pick<TranslationMemories, 'list'>>(service, 'translationMemories')
  return {
    ...methods,
    iterate: ({ page_size } = {}, options) =>
      pagesOf<TranslationMemoryPage, TranslationMemory>(
        {
          name: 'translationMemories.list',
          fetch: (page = 0, call = {}) => methods.list({ page, page_size }, call),
          items: ({ translation_memories }) => translation_memories,
          next: ({ total_count }, page = 0, { count, total }) => {
            const isLast = typeof total_count === 'number' ? total >= total_count : count < (page_size ?? PAGE_SIZE)
            return count > 0 && !isLast ? page + 1 : undefined
          },
        },
        options,
      ),
  }
}
