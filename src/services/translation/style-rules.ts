/** Lists of style rules: how translations into one language are to be written. */

import { ValidationError } from '../client/errors.ts'
import { type Paged, type PagedOptions, type PagesRead, paged } from '../client/paging.ts'
import { checkCount, checkTextLength } from './translate-text.ts'
import { type Nothing, named, type Result, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** Category, rule and option: `{ numbers: { decimals: 'comma' } }`. */
export type ConfiguredRules = Readonly<Record<string, Readonly<Record<string, string>>>>

/** A list of style rules. */
export interface StyleRuleList {
  readonly style_id: string
  readonly name: string
  readonly creation_time: string
  readonly updated_time: string
  /** `de`, `en`, `es`, `fr`, `it`, `ja`, `ko`, `zh`. */
  readonly language: string
  /** Grows with every change. */
  readonly version: number
  /** Only in lists that were asked for with `detailed`, and in single ones. */
  readonly configured_rules?: ConfiguredRules
  readonly custom_instructions?: readonly StyleInstruction[]
}

/** A list of style rules to create. */
export interface StyleRuleListInput {
  readonly name: string
  readonly language: string
  readonly configured_rules?: ConfiguredRules
  /** At most 200. */
  readonly custom_instructions?: readonly StyleInstructionInput[]
}

/** One page of style rule lists. */
export interface StyleRulePage {
  /** From 0. */
  readonly page?: number
  /** 1 to 25; default 10. */
  readonly page_size?: number
  /** With rules and instructions. */
  readonly detailed?: boolean
}

const MOST_INSTRUCTIONS = 200

const LONGEST_NAME = 1024

const PAGE_SIZE = 10

/** Lists of rules and the instructions in them. Errors besides those of each call: `REQUEST_INVALID`, `REQUEST_TOO_LARGE`. */
export class StyleRules {
  readonly instructions: StyleInstructions
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
    this.instructions = new StyleInstructions(service)
  }

  /** One page. */
  list(
    { detailed, ...page }: StyleRulePage = {},
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly style_rules: readonly StyleRuleList[] }>> {
    return named('styleRules.list', async () => {
      const { page_size } = page
      if (this.#service.validation(options) === 'strict' && page_size !== undefined) checkPageSize(page_size)
      const query = { ...page, ...(detailed !== undefined && { detailed: String(detailed) }) }
      return this.#service.call('styleRules.list', { query }, options)
    })
  }

  /** All of them, page by page until one is shorter than it may be. */
  iterate(
    { page: first = 0, page_size = PAGE_SIZE, detailed }: StyleRulePage = {},
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

  create(list: StyleRuleListInput, options: TranslationCallOptions = {}): Promise<Result<StyleRuleList>> {
    return named('styleRules.create', async () => {
      if (this.#service.validation(options) === 'strict') checkList(list)
      return this.#service.call('styleRules.create', { body: list }, options)
    })
  }

  get(style_id: string, options: TranslationCallOptions = {}): Promise<Result<StyleRuleList>> {
    return this.#service.call('styleRules.get', { path: { style_id } }, options)
  }

  rename(style_id: string, { name }: { readonly name: string }, options: TranslationCallOptions = {}): Promise<Result<StyleRuleList>> {
    return named('styleRules.rename', async () => {
      if (this.#service.validation(options) === 'strict') checkTextLength(name, 'name', LONGEST_NAME)
      return this.#service.call('styleRules.rename', { path: { style_id }, body: { name } }, options)
    })
  }

  delete(style_id: string, options: TranslationCallOptions = {}): Promise<Result<Nothing>> {
    return this.#service.call('styleRules.delete', { path: { style_id } }, options)
  }

  /** Puts these rules in the place of all that the list has. */
  setRules(style_id: string, rules: ConfiguredRules, options: TranslationCallOptions = {}): Promise<Result<StyleRuleList>> {
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

/** An instruction to add to a style rule list. */
export interface StyleInstructionInput {
  /** At most 100 characters. */
  readonly label: string
  /** At most 300 characters. */
  readonly prompt: string
  readonly source_language?: string
}

/** An instruction of a style rule list. */
export interface StyleInstruction extends StyleInstructionInput {
  readonly id: string
}

/** The instructions of lists, one by one. */
export class StyleInstructions {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  create(style_id: string, instruction: StyleInstructionInput, options: TranslationCallOptions = {}): Promise<Result<StyleInstruction>> {
    return named('styleRules.instructions.create', async () => {
      if (this.#service.validation(options) === 'strict') checkInstruction(instruction)
      return this.#service.call('styleRules.instructions.create', { path: { style_id }, body: instruction }, options)
    })
  }

  get(style_id: string, instruction_id: string, options: TranslationCallOptions = {}): Promise<Result<StyleInstruction>> {
    return this.#service.call('styleRules.instructions.get', { path: { style_id, instruction_id } }, options)
  }

  replace(
    style_id: string,
    instruction_id: string,
    instruction: StyleInstructionInput,
    options: TranslationCallOptions = {},
  ): Promise<Result<StyleInstruction>> {
    return named('styleRules.instructions.replace', async () => {
      if (this.#service.validation(options) === 'strict') checkInstruction(instruction)
      return this.#service.call('styleRules.instructions.replace', { path: { style_id, instruction_id }, body: instruction }, options)
    })
  }

  delete(style_id: string, instruction_id: string, options: TranslationCallOptions = {}): Promise<Result<Nothing>> {
    return this.#service.call('styleRules.instructions.delete', { path: { style_id, instruction_id } }, options)
  }
}

/** Errors: `REQUEST_TOO_LARGE`. */
function checkInstruction({ label, prompt }: StyleInstructionInput, at = ''): void {
  checkTextLength(label, `${at}label`, 100)
  checkTextLength(prompt, `${at}prompt`, 300)
}

/** A translation memory of the account. */
export interface TranslationMemory {
  readonly translation_memory_id: string
  readonly name: string
  readonly source_language: string
  readonly target_languages: readonly string[]
  readonly segment_count: number
}

/** One page of translation memories. */
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

const LARGEST_PAGE = 25

/** Errors: `REQUEST_INVALID` for anything but 1 to 25 items on a page. */
function checkPageSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= LARGEST_PAGE) return
  const message = `a page has 1 to ${LARGEST_PAGE} items; nothing was sent`
  throw new ValidationError('REQUEST_INVALID', message, { field: 'page_size', limit: LARGEST_PAGE })
}
