/** Reports of use, and keys of developers: for keys of administrators. */

import { ValidationError } from '../client/errors.ts'
import { type Paged, type PagedOptions, paged } from '../client/paging.ts'
import {
  memberOf,
  named,
  type Result,
  type TranslationCallOptions,
  type TranslationService,
  type Validation,
} from './translation-service.ts'

/** Days of a report, `YYYY-MM-DD`, the last one included. */
export interface ReportRange {
  readonly start_date: string
  readonly end_date: string
}

/** Parameters of the usage report. */
export interface UsageReportParams extends ReportRange {
  /** Empty for all together. */
  readonly group_by?: 'key' | 'key_and_day' | ''
}

/** What was used. */
export interface UsageCounts {
  readonly total_characters: number
  readonly text_translation_characters: number
  readonly document_translation_characters: number
  readonly text_improvement_characters: number
  readonly speech_to_text_minutes: number
}

/** The usage of one key. */
export interface KeyUsage {
  /** The beginning and the end of the key. */
  readonly api_key: string
  readonly api_key_label: string
  readonly usage: UsageCounts
}

/** Dates are those of the service: without a zone for the range, in UTC for days. */
export interface UsageReport extends ReportRange {
  readonly total_usage: UsageCounts
  readonly group_by?: string
  readonly key_usages?: readonly KeyUsage[]
  readonly key_and_day_usages?: readonly (KeyUsage & { readonly usage_date: string })[]
}

/** Parameters of the report on custom tags. */
export interface CustomTagUsageParams extends ReportRange {
  /** Default `period`. */
  readonly aggregate_by?: 'period' | 'day'
  readonly page?: number
}

/** The usage of one custom tag. */
export interface CustomTagUsage {
  readonly custom_tag: string
  readonly usage_date?: string
  readonly breakdown: Pick<UsageCounts, 'total_characters' | 'text_translation_characters' | 'text_improvement_characters'>
}

/** The usage of all custom tags in a period. */
export interface CustomTagUsageReport extends ReportRange {
  readonly aggregate_by: string
  /** The next page; null after the last. */
  readonly next_page?: number | null
  readonly usage: readonly CustomTagUsage[]
}

/** Administration of an organization. A key without that right gets 403. */
export class Admin {
  readonly keys: DeveloperKeys
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
    this.keys = new DeveloperKeys(service)
  }

  /** What was used in a range of at most 366 days. */
  usage(
    { group_by, ...range }: UsageReportParams,
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly usage_report: UsageReport }>> {
    return this.#report('admin.usage', { ...range, ...(group_by && { group_by }) }, options)
  }

  /** One page of what was used under each tag. */
  customTagUsage(
    params: CustomTagUsageParams,
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly custom_tag_usage_report: CustomTagUsageReport }>> {
    return this.#report('admin.customTagUsage', { ...params }, options)
  }

  /** All of it, page by page from `page` on. Errors: `PAGE_LOOP` when the service names a page again. */
  iterateCustomTagUsage(
    { page: first, ...params }: CustomTagUsageParams,
    { limit, maxPages, signal, ...options }: TranslationCallOptions & PagedOptions = {},
  ): Paged<CustomTagUsage> {
    const source = {
      name: 'admin.customTagUsage',
      fetch: async (page = first, ending?: AbortSignal) =>
        (await this.customTagUsage({ ...params, page }, { ...options, signal: ending })).custom_tag_usage_report,
      items: (report: CustomTagUsageReport) => memberOf(report, 'usage', 'list', 'admin.customTagUsage') as readonly CustomTagUsage[],
      next: ({ next_page }: CustomTagUsageReport) => next_page ?? undefined,
    }
    return paged(source, { limit, maxPages, signal })
  }

  #report<T>(name: 'admin.usage' | 'admin.customTagUsage', query: ReportRange, options: TranslationCallOptions): Promise<Result<T>> {
    return named(name, async () => {
      checkDates(query, this.#service.validation(options))
      return this.#service.call<T>(name, { query: { ...query } }, options)
    })
  }
}

/** Most of an administrator's record of a key; never the key itself. */
export interface DeveloperKey {
  /** Two GUIDs with a colon between them. */
  readonly key_id: string
  readonly label: string
  readonly creation_time: string
  readonly deactivated_time: string | null
  readonly is_deactivated: boolean
  readonly usage_limits: { readonly characters: number | null; readonly speech_to_text_milliseconds: number | null }
}

/** Per month: `null` is without a limit, 0 is nothing, what is left out stays as it is. */
export interface DeveloperKeyLimits {
  readonly characters?: number | null
  readonly speech_to_text_milliseconds?: number | null
}

/** Creates, lists and changes keys. */
export class DeveloperKeys {
  readonly #service: TranslationService

  constructor(service: TranslationService) {
    this.#service = service
  }

  create(params: { readonly label?: string } = {}, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.create', { body: params }, options)
  }

  /** All of them, with those that are deactivated. */
  list(options: TranslationCallOptions = {}): Promise<Result<readonly DeveloperKey[]>> {
    return this.#service.call('admin.keys.list', {}, options)
  }

  /** At once and for ever. */
  deactivate(params: { readonly key_id: string }, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.deactivate', { body: params }, options)
  }

  rename(params: { readonly key_id: string; readonly label: string }, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.rename', { body: params }, options)
  }

  setLimits(params: { readonly key_id: string } & DeveloperKeyLimits, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.setLimits', { body: params }, options)
  }
}

const DAY = 86_400_000

const MOST_DAYS = 366

/**
 * Refuses a range that the service would refuse: more than 366 days between its ends. What is no date is left to the service.
 *
 * Errors: `REQUEST_INVALID`; `TypeError` for what is no text.
 */
function checkDates(range: { readonly start_date: string; readonly end_date: string }, validation: Validation): void {
  for (const name of ['start_date', 'end_date'] as const)
    if (typeof range[name] !== 'string') throw new TypeError(`${name} must be a string: YYYY-MM-DD`)
  if (validation !== 'strict') return
  const days = (Date.parse(range.end_date) - Date.parse(range.start_date)) / DAY
  if (days > MOST_DAYS) {
    const message = `a report covers at most ${MOST_DAYS} days, these are ${Math.floor(days)}; nothing was sent`
    throw new ValidationError('REQUEST_INVALID', message, { field: 'end_date', limit: MOST_DAYS })
  }
}

/** What the service counts; most of it for paid plans only. Limits of 10^12 mean none. */
export interface UsageRecord {
  readonly character_count: number
  readonly character_limit: number
  readonly products?: readonly UsageOfProduct[]
  readonly api_key_character_count?: number
  readonly api_key_character_limit?: number
  readonly speech_to_text_milliseconds_count?: number
  readonly speech_to_text_milliseconds_limit?: number
  readonly speech_to_text_minutes_count?: number
  readonly speech_to_text_minutes_limit?: number
  readonly document_count?: number
  readonly document_limit?: number
  readonly team_document_count?: number
  readonly team_document_limit?: number
  /** The period, in UTC. */
  readonly start_time?: string
  readonly end_time?: string
}

/** The usage of one product. */
export interface UsageOfProduct {
  readonly product_type: string
  /** `characters`, `milliseconds`, `minutes` and what may come. */
  readonly billing_unit: string
  readonly api_key_unit_count: number
  readonly account_unit_count: number
  /** @deprecated */
  readonly api_key_character_count?: number
  /** @deprecated */
  readonly character_count?: number
}

/** What is counted, and what follows from it; the functions are not enumerable. */
export interface Usage extends UsageRecord {
  /** Characters that may still be used, by account and key; `Infinity` without a limit. */
  remaining(): number
  /** True when one of the limits is reached; a limit of 0 that nothing was counted against is not. */
  anyLimitReached(): boolean
  /** True when so many characters may still be used: a guard before a large batch. */
  allows(characters: number): boolean
}

const NO_LIMIT = 1e12

/** What is used up in this period. Errors: those of every call; `RESPONSE_INVALID` for an answer that counts no characters. */
export async function usage(service: TranslationService, options: TranslationCallOptions = {}): Promise<Result<Usage>> {
  const record = await service.call<UsageRecord>('usage', {}, options)
  const counters = countersOf(record)
  const remaining = () => Math.min(...counters.filter(({ name }) => CHARACTERS.has(name)).map(({ count, limit }) => left(count, limit)))
  const functions = {
    remaining,
    anyLimitReached: () => counters.some(({ count, limit }) => limit > 0 && left(count, limit) === 0),
    allows: (characters: number) => characters <= remaining(),
  }
  return Object.defineProperties(
    record,
    Object.fromEntries(Object.entries(functions).map(([name, value]) => [name, { value, configurable: true }])),
  ) as Result<Usage>
}

const CHARACTERS = new Set(['character', 'api_key_character'])

/** All pairs of `<name>_count` and `<name>_limit`. */
function countersOf(record: object): readonly { readonly name: string; readonly count: number; readonly limit: number }[] {
  return Object.entries(record).flatMap(([key, count]) => {
    const name = key.endsWith('_count') ? key.slice(0, -'_count'.length) : undefined
    const limit: unknown = name === undefined ? undefined : (record as Record<string, unknown>)[`${name}_limit`]
    return name !== undefined && typeof count === 'number' && typeof limit === 'number' ? [{ name, count, limit }] : []
  })
}

function left(count: number, limit: number): number {
  return limit >= NO_LIMIT ? Number.POSITIVE_INFINITY : Math.max(0, limit - count)
}
