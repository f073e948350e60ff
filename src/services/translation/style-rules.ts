/** Lists of style rules for translations into one language, and translation memories. */

import { ValidationError } from '../client/errors.ts'
import { type Paged, type PagedOptions, type PagesRead, paged } from '../client/paging.ts'
import { checkCount, checkTextLength } from './translate-text.ts'
import { named, type Result, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** A list of style rules for one target language (`/v3/style_rules`). */
export interface StyleRuleList {
  /** Identifier, for `style_id` of translations. */
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
  /** The instructions. In lists only with `detailed`. */
  readonly custom_instructions?: readonly StyleInstruction[]
}

/** A list of style rules to create. */
export interface StyleRuleListInput {
  /** Name of the list, at most 1024 characters. */
  readonly name: string
  /** Target language: `de`, `en`, `es`, `fr`, `it`, `ja`, `ko`, `zh`. */
  readonly language: string
  /** Options by category and rule: `{ numbers: { decimals: 'comma' } }`. */
  readonly configured_rules?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** At most 200 instructions. */
  readonly custom_instructions?: readonly Omit<StyleInstruction, 'id'>[]
}

const MOST_INSTRUCTIONS = 200

const LONGEST_NAME = 1024

const PAGE_SIZE = 10

/**
 * Lists of style rules and instructions. Errors besides those of each call: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`.
 *
 * @example
 * const { style_id } = await client.styleRules.create({ name: 'House style', language: 'de' })
 * await client.styleRules.setRules(style_id, { numbers: { decimals: 'comma' } })
 */
export class StyleRules {
  /** The instructions of a list, one by one. */
  readonly instructions: StyleInstructions
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
    this.instructions = new StyleInstructions(service)
  }

  /** Returns one page, from 0, of 1 to 25 lists (default 10); with `detailed` also their rules and instructions. */
  list(
    { detailed, ...page }: { readonly page?: number; readonly page_size?: number; readonly detailed?: boolean } = {},
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly style_rules: readonly StyleRuleList[] }>> {
    return named('styleRules.list', async () => {
      const { page_size } = page
      if (this.#service.validation(options) === 'strict' && page_size !== undefined) checkPageSize(page_size)
      const query = { ...page, ...(detailed !== undefined && { detailed: String(detailed) }) }
      return this.#service.call('styleRules.list', { query }, options)
    })
  }

  /** Returns the lists of all pages, from `page` on; the last page is one with fewer than `page_size` lists. */
  iterate(
    {
      page: first = 0,
      page_size = PAGE_SIZE,
      detailed,
    }: { readonly page?: number; readonly page_size?: number; readonly detailed?: boolean } = {},
    { limit, maxPages, signal, ...options }: TranslationCallOptions & PagedOptions = {},
  ): Paged<StyleRuleList> {
    const source = {
      name: 'styleRules.list',
      fetch: async (page = first, ending: AbortSignal) => {
        const wanted = { page, page_size, ...(detailed !== undefined && { detailed }) }
        return { page, lists: (await this.list(wanted, { ...options, signal: ending })).style_rules }
      },
      items: ({ lists }: StylePage) => lists,
      next: ({ page, lists }: StylePage) => (lists.length < page_size ? undefined : page + 1),
    }
    return paged<StylePage, StyleRuleList, number>(source, {
      ...(limit !== undefined && { limit }),
      ...(maxPages !== undefined && { maxPages }),
      ...(signal && { signal }),
    })
  }

  /** Creates a list. Retried as `unsafe`. */
  create(list: StyleRuleListInput, options: TranslationCallOptions = {}): Promise<Result<StyleRuleList>> {
    return named('styleRules.create', async () => {
      if (this.#service.validation(options) === 'strict') checkList(list)
      return this.#service.call('styleRules.create', { body: list }, options)
    })
  }

  /** Returns one list with its rules and instructions. */
  get(style_id: string, options: TranslationCallOptions = {}): Promise<Result<StyleRuleList>> {
    return this.#service.call('styleRules.get', { path: { style_id } }, options)
  }

  /** Changes the name of a list. */
  rename(style_id: string, { name }: { readonly name: string }, options: TranslationCallOptions = {}): Promise<Result<StyleRuleList>> {
    return named('styleRules.rename', async () => {
      if (this.#service.validation(options) === 'strict') checkTextLength(name, 'name', LONGEST_NAME)
      return this.#service.call('styleRules.rename', { path: { style_id }, body: { name } }, options)
    })
  }

  /** Deletes a list. */
  delete(style_id: string, options: TranslationCallOptions = {}): Promise<Result<object>> {
    return this.#service.call('styleRules.delete', { path: { style_id } }, options)
  }

  /** Replaces all rules of a list. */
  setRules(
    style_id: string,
    rules: NonNullable<StyleRuleList['configured_rules']>,
    options: TranslationCallOptions = {},
  ): Promise<Result<StyleRuleList>> {
    return this.#service.call('styleRules.setRules', { path: { style_id }, body: rules }, options)
  }
}

interface StylePage {
  readonly page: number
  readonly lists: readonly StyleRuleList[]
}

function checkList({ name, custom_instructions = [] }: StyleRuleListInput): void {
  checkTextLength(name, 'name', LONGEST_NAME)
  checkCount(custom_instructions, 'custom_instructions', { least: 0, most: MOST_INSTRUCTIONS })
  for (const [index, instruction] of custom_instructions.entries()) checkInstruction(instruction, `custom_instructions[${index}].`)
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

/**
 * The instructions of a list of style rules.
 *
 * @example await client.styleRules.instructions.create(style_id, { label: 'Units', prompt: 'Use metric units' })
 */
class StyleInstructions {
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Adds an instruction. Retried as `unsafe`. */
  create(
    style_id: string,
    instruction: Omit<StyleInstruction, 'id'>,
    options: TranslationCallOptions = {},
  ): Promise<Result<StyleInstruction>> {
    return named('styleRules.instructions.create', async () => {
      if (this.#service.validation(options) === 'strict') checkInstruction(instruction)
      return this.#service.call('styleRules.instructions.create', { path: { style_id }, body: instruction }, options)
    })
  }

  /** Returns one instruction. */
  get(style_id: string, instruction_id: string, options: TranslationCallOptions = {}): Promise<Result<StyleInstruction>> {
    return this.#service.call('styleRules.instructions.get', { path: { style_id, instruction_id } }, options)
  }

  /** Replaces an instruction. */
  replace(
    style_id: string,
    instruction_id: string,
    instruction: Omit<StyleInstruction, 'id'>,
    options: TranslationCallOptions = {},
  ): Promise<Result<StyleInstruction>> {
    return named('styleRules.instructions.replace', async () => {
      if (this.#service.validation(options) === 'strict') checkInstruction(instruction)
      return this.#service.call('styleRules.instructions.replace', { path: { style_id, instruction_id }, body: instruction }, options)
    })
  }

  /** Deletes an instruction. */
  delete(style_id: string, instruction_id: string, options: TranslationCallOptions = {}): Promise<Result<object>> {
    return this.#service.call('styleRules.instructions.delete', { path: { style_id, instruction_id } }, options)
  }
}

/** Checks an instruction. Errors: `REQUEST_TOO_LARGE`. */
function checkInstruction({ label, prompt }: Omit<StyleInstruction, 'id'>, at = ''): void {
  checkTextLength(label, `${at}label`, 100)
  checkTextLength(prompt, `${at}prompt`, 300)
}

/** A translation memory of the account (`GET /v3/translation_memories`). */
export interface TranslationMemory {
  /** Identifier, for `translation_memory_id` of translations. */
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

interface TranslationMemoryPage {
  readonly translation_memories: readonly TranslationMemory[]
  /** Some services leave it out; then a page with fewer items than its size is the last. */
  readonly total_count?: number
}

const NAME = 'translationMemories.list'

/**
 * The translation memories of the account.
 *
 * @example for await (const { name, segment_count } of client.translationMemories.iterate()) console.log(name, segment_count)
 */
export class TranslationMemories {
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Returns one page, from 0, of 1 to 25 memories (default 10). Errors: `REQUEST_INVALID` for another size; those of every call. */
  list(
    params: { readonly page?: number; readonly page_size?: number } = {},
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly translation_memories: readonly TranslationMemory[]; readonly total_count?: number }>> {
    return named(NAME, async () => {
      if (this.#service.validation(options) === 'strict' && params.page_size !== undefined) checkPageSize(params.page_size)
      return this.#service.call(NAME, { query: { ...params } }, options)
    })
  }

  /** Returns the memories of all pages. */
  iterate(
    { page_size }: { readonly page_size?: number } = {},
    { limit, maxPages, signal, ...options }: TranslationCallOptions & PagedOptions = {},
  ): Paged<TranslationMemory> {
    const source = {
      name: NAME,
      fetch: (page = 0, ending?: AbortSignal) =>
        this.list({ page, ...(page_size !== undefined && { page_size }) }, { ...options, signal: ending }),
      items: ({ translation_memories: items }: TranslationMemoryPage) => items,
      next: ({ total_count }: TranslationMemoryPage, page = 0, { count, total }: PagesRead) => {
        const isLast = typeof total_count === 'number' ? total >= total_count : count < (page_size ?? PAGE_SIZE)
        return count > 0 && !isLast ? page + 1 : undefined
      },
    }
    return paged(source, { limit, maxPages, signal })
  }
}

const LARGEST_PAGE = 25

/** Checks the size of a page. Errors: `REQUEST_INVALID` unless it is 1 to 25. */
function checkPageSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= LARGEST_PAGE) return
  const message = `a page has 1 to ${LARGEST_PAGE} items; nothing was sent`
  throw new ValidationError('REQUEST_INVALID', message, { field: 'page_size', limit: LARGEST_PAGE })
}
