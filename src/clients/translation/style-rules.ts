/** Lists of style rules: how translations into one language are to be written. */
import { type Paged, type PagedOptions, paged } from '../paged.ts'
import { checkPageSize } from './check-page-size.ts'
import { checkCount, checkTextLength } from './check-text-length.ts'
import { named } from './named.ts'
import type { Nothing, Result } from './result.ts'
import { checkInstruction, type StyleInstruction, type StyleInstructionInput, StyleInstructions } from './style-instructions.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/** Category, rule and option: `{ numbers: { decimals: 'comma' } }`. */
export type ConfiguredRules = Readonly<Record<string, Readonly<Record<string, string>>>>

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

export interface StyleRuleListInput {
  readonly name: string
  readonly language: string
  readonly configured_rules?: ConfiguredRules
  /** At most 200. */
  readonly custom_instructions?: readonly StyleInstructionInput[]
}

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
