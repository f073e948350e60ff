/** Lists of style rules for translations into one language, and translation memories. */

import type { Paged, PagedOptions } from '../client/paging.ts'
import type { Words } from './languages.ts'
import { methodsOf, pagesOf, type ServiceMethod, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** The rules of each category; the service adds more. Their options are in the reference of the service. */
interface StyleRuleNames {
  /** Dates and times. */
  readonly dates_and_times:
    | Words<'calendar_era centuries date_format dates_in_numerical_form decades hours_minutes_seconds_separator'>
    | Words<'hours_minutes_separator midnight_in_numerals single_digit_days_and_months single_digit_hours time_format writing_dates'>
    | Words<'years'>
  /** Addresses, telephone numbers and spaces. */
  readonly formatting:
    | Words<'email_address_format phone_number_country_code_format phone_number_format space_between_arabic_numerals_and_unit'>
    | Words<'space_between_chinese_and_english space_between_chinese_characters_and_arabic_numerals'>
  /** Numbers, currencies and units. */
  readonly numbers:
    | Words<'approximate_numbers currency_format decimal_numbers_less_than_one decimal_separator dimensions_separator'>
    | Words<'equation_formula_reference kanji_numbers large_number_format large_sums_of_money large_sums_of_money_format'>
    | Words<'list_of_measurements_with_units mathematical_expression_spacing number_format number_separator'>
    | Words<'numbers_of_5_digits_or_more numbers_up_to_4_digits percentage_format reference_to_symbol spelling_out_units'>
    | Words<'temperature_format thousands_separator units_of_measure_spacing use_of_hiragana_and_kanji writing_numbers zero_format'>
  /** Punctuation. */
  readonly punctuation:
    | Words<'abbreviations acronyms ampersand_abbreviation_spacing ampersand_usage apostrophe bracket chinese_mixed_with_english'>
    | Words<'colon colon_between_hours_and_minutes_or_chapters_and_verses colon_in_heading colon_to_replace_versus_or_to'>
    | Words<'comma_after_conjunctive_adverbs comma_after_i_e_and_e_g comma_after_short_introductory_phrase comma_and_semicolon'>
    | Words<'corner_bracket_and_periods corner_brackets_and_periods dash ellipsis em_dash emphasis exclamation_marks'>
    | Words<'explanatory_note_indicator full_sentence_in_round_brackets highlighting_specific_expressions'>
    | Words<'japanese_reference_materials parentheses_for_supplementary_information passage_of_time_and_movement_between_locations'>
    | Words<'periods_and_commas periods_in_academic_degrees periods_in_direct_quotes periods_in_uppercase_initialisms_and_acronyms'>
    | Words<'plus_sign_usage possessives_of_proper_names_ending_in_s_style quotation_mark quotation_mark_and_apostrophe'>
    | Words<'quotation_style range_indicator related_phrases_indicator round_brackets salutation sentence_break_indicator'>
    | Words<'serial_comma setting_off_non_quoted_phrases slash slash_usage spacing_and_punctuation'>
    | Words<'text_in_round_brackets_referring_to_previous_sentence text_in_round_brackets_supplementing_preceding_text'>
    | Words<'titles_of_books_and_newspapers titles_of_creative_works_trade_names_laws_and_regulations uppercase_acronyms'>
  /** Spelling and grammar. */
  readonly spelling_and_grammar:
    | Words<'abbreviating_french_word_numero abbreviation_usage accents_and_cedillas'>
    | Words<'accents_in_verbs_conjugated_like_french_word_céder accents_with_subject_verb_inversion active_passive_voice all_caps'>
    | Words<'complete_sentences compound_nouns conjunctions contractions established_loanwords eszett foreign_word_translation'>
    | Words<'french_verbs_ending_in_eler_and_eter i_and_u_with_circumflex_accents informal_address_pronouns latin_abbreviations'>
    | Words<'passive_voice past_participle_of_french_word_laisser_followed_by_infinitive personal_titles pluralizing_foreign_words'>
    | Words<'quotation_modification spanish_word_solo special_characters spelled_out_numbers umlauts unestablished_loanwords'>
  /** Style and tone. */
  readonly style_and_tone:
    | Words<'abbreviations addressing_non_binary_people addressing_the_reader anglicisms binary_representation_of_gender'>
    | Words<'complex_sentences country_names declarative_endings default_first_person_pronoun default_second_person_pronoun'>
    | Words<'directional_language double_negatives formality gender_neutral_language_readability gender_unspecified'>
    | Words<'gender_unspecified_or_mixed idioms_colloquialisms_and_culture_specific_references'>
    | Words<'inflected_words_masculine_noun_agreement instructions_style mixing_styles modal_verbs personal_vs_impersonal_style'>
    | Words<'positive_vs_negative_language proximity_agreement reader_action_required redundant_introductory_phrases'>
    | Words<'redundant_phrases referring_to_non_binary_people short_vs_long_words simple_words_and_sentences'>
    | Words<'text_position_references tone verbal_vs_nominal_style'>
  /** Vocabulary. */
  readonly vocabulary: Words<'abbreviations loanwords'>
}

/** Options by category and rule: `{ punctuation: { serial_comma: 'use' } }`. Editors suggest the known rules. */
export type ConfiguredRules = {
  readonly [Category in keyof StyleRuleNames]?: { readonly [Rule in StyleRuleNames[Category]]?: string } & Readonly<Record<string, string>>
} & Readonly<Record<string, Readonly<Record<string, string>>>>

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
  /** In lists only with `detailed`. */
  readonly configured_rules?: ConfiguredRules
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
 * await client.styleRules.setRules(style_id, { numbers: { decimal_separator: 'use_comma_as_decimal_separator' } })
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
  readonly setRules: ServiceMethod<[style_id: string, rules: ConfiguredRules], StyleRuleList>
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
