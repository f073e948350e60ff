/** Reports of use, and keys of developers: for keys of administrators. */
import { type Paged, type PagedOptions, paged } from '../paged.ts'
import { checkDates } from './check-dates.ts'
import { DeveloperKeys } from './developer-keys.ts'
import { named } from './named.ts'
import { memberOf, type Result } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

/** Days of a report, `YYYY-MM-DD`, the last one included. */
export interface ReportRange {
  readonly start_date: string
  readonly end_date: string
}

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

export interface CustomTagUsageParams extends ReportRange {
  /** Default `period`. */
  readonly aggregate_by?: 'period' | 'day'
  readonly page?: number
}

export interface CustomTagUsage {
  readonly custom_tag: string
  readonly usage_date?: string
  readonly breakdown: Pick<UsageCounts, 'total_characters' | 'text_translation_characters' | 'text_improvement_characters'>
}

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
