/** Usage reports and developer keys; both need the key of an administrator. */

import { ValidationError } from '../client/errors.ts'
import { type Paged, type PagedOptions, paged } from '../client/paging.ts'
import { memberOf, named, type Result, type TranslationCallOptions, type TranslationService } from './translation-service.ts'

/** The usage of an organization, by key and day if requested (`GET /v2/admin/analytics`). */
export interface UsageReport {
  /** First day of the report: ISO 8601 without a zone. */
  readonly start_date: string
  /** Last day of the report: ISO 8601 without a zone. */
  readonly end_date: string
  /** The sum of all keys and days: characters, and minutes of speech as a decimal number. */
  readonly total_usage: {
    readonly total_characters: number
    readonly text_translation_characters: number
    readonly document_translation_characters: number
    readonly text_improvement_characters: number
    readonly speech_to_text_minutes: number
  }
  /** `key` or `key_and_day`; absent for the sum only. */
  readonly group_by?: string
  /** Usage by key, with `group_by: 'key'`. `api_key` is masked. */
  readonly key_usages?: readonly {
    readonly api_key: string
    readonly api_key_label: string
    readonly usage: UsageReport['total_usage']
  }[]
  /** Usage by key and day (`YYYY-MM-DD` in UTC), with `group_by: 'key_and_day'`. `api_key` is masked. */
  readonly key_and_day_usages?: readonly {
    readonly api_key: string
    readonly api_key_label: string
    readonly usage: UsageReport['total_usage']
    readonly usage_date: string
  }[]
}

/** Parameters of the report on custom tags. */
export interface CustomTagUsageParams {
  /** First day, `YYYY-MM-DD`. */
  readonly start_date: string
  /** Last day, `YYYY-MM-DD`, included; at most 366 days after the first. */
  readonly end_date: string
  /** One row for each tag (`period`, the default), or one for each tag and day. */
  readonly aggregate_by?: 'period' | 'day'
  /** The page; default: the first. */
  readonly page?: number
}

/** One page of the usage by custom tag (`GET /v2/admin/analytics/custom-tags`). */
export interface CustomTagUsageReport {
  /** First day of the report: ISO 8601 without a zone. */
  readonly start_date: string
  /** Last day of the report: ISO 8601 without a zone. */
  readonly end_date: string
  /** `period` or `day`. */
  readonly aggregate_by: string
  /** The next page; null after the last. */
  readonly next_page?: number | null
  /** Characters by tag; `usage_date` (`YYYY-MM-DD`) only by day. */
  readonly usage: readonly {
    readonly custom_tag: string
    readonly usage_date?: string
    readonly breakdown: Pick<UsageReport['total_usage'], 'total_characters' | 'text_translation_characters' | 'text_improvement_characters'>
  }[]
}

type CustomTagUsage = CustomTagUsageReport['usage'][number]

/**
 * Administration of an organization: usage reports and keys. Needs the key of an administrator; others get `HTTP_403`.
 *
 * @example
 * const { usage_report } = await client.admin.usage({ start_date: '2026-01-01', end_date: '2026-01-31' })
 * console.log(usage_report.total_usage.total_characters)
 */
export class Admin {
  /** The keys of the organization. */
  readonly keys: DeveloperKeys
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
    this.keys = new DeveloperKeys(service)
  }

  /**
   * Returns the usage between two days (`YYYY-MM-DD`, the last one included), in total or also by `group_by`. Errors: `REQUEST_INVALID` for
   * more than 366 days.
   */
  usage(
    { group_by, ...range }: { readonly start_date: string; readonly end_date: string; readonly group_by?: 'key' | 'key_and_day' | '' },
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly usage_report: UsageReport }>> {
    return this.#report('admin.usage', { ...range, ...(group_by && { group_by }) }, options)
  }

  /** Returns one page of the usage by custom tag. Errors: `REQUEST_INVALID` for more than 366 days. */
  customTagUsage(
    params: CustomTagUsageParams,
    options: TranslationCallOptions = {},
  ): Promise<Result<{ readonly custom_tag_usage_report: CustomTagUsageReport }>> {
    return this.#report('admin.customTagUsage', { ...params }, options)
  }

  /** Returns the rows of all pages, from `page` on. Errors: those of `customTagUsage`; `PAGE_LOOP` if the service names a page twice. */
  iterateCustomTagUsage(
    { page: first, ...params }: CustomTagUsageParams,
    { limit, maxPages, signal, ...options }: TranslationCallOptions & PagedOptions = {},
  ): Paged<CustomTagUsageReport['usage'][number]> {
    const source = {
      name: 'admin.customTagUsage',
      fetch: async (page = first, ending?: AbortSignal) =>
        (await this.customTagUsage({ ...params, page }, { ...options, signal: ending })).custom_tag_usage_report,
      items: (report: CustomTagUsageReport) => memberOf(report, 'usage', 'list', 'admin.customTagUsage') as readonly CustomTagUsage[],
      next: ({ next_page }: CustomTagUsageReport) => next_page ?? undefined,
    }
    return paged(source, { limit, maxPages, signal })
  }

  #report<T>(
    name: 'admin.usage' | 'admin.customTagUsage',
    query: Pick<UsageReport, 'start_date' | 'end_date'>,
    options: TranslationCallOptions,
  ): Promise<Result<T>> {
    return named(name, async () => {
      checkDates(query, this.#service.validation(options))
      return this.#service.call<T>(name, { query: { ...query } }, options)
    })
  }
}

/** A key of the organization, as administrators see it; never the key itself. */
export interface DeveloperKey {
  /** Two GUIDs with a colon between them. */
  readonly key_id: string
  /** Name of the key; not unique. */
  readonly label: string
  /** Time of the creation: ISO 8601. */
  readonly creation_time: string
  /** Time of the deactivation: ISO 8601; null for an active key. */
  readonly deactivated_time: string | null
  /** True for a key that no longer works. */
  readonly is_deactivated: boolean
  /** Limits per month: null for none, 0 for nothing. */
  readonly usage_limits: { readonly characters: number | null; readonly speech_to_text_milliseconds: number | null }
}

/**
 * The keys of an organization: created, listed and changed.
 *
 * @example
 * const { key_id } = await client.admin.keys.create({ label: 'catalog' })
 * await client.admin.keys.setLimits({ key_id, characters: 500_000 })
 */
class DeveloperKeys {
  readonly #service: TranslationService

  /** @internal */
  constructor(service: TranslationService) {
    this.#service = service
  }

  /** Creates a key; without a label the service chooses one. Retried as `unsafe`. */
  create(params: { readonly label?: string } = {}, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.create', { body: params }, options)
  }

  /** Returns all keys, also deactivated ones. */
  list(options: TranslationCallOptions = {}): Promise<Result<readonly DeveloperKey[]>> {
    return this.#service.call('admin.keys.list', {}, options)
  }

  /** Deactivates a key at once and permanently. */
  deactivate(params: { readonly key_id: string }, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.deactivate', { body: params }, options)
  }

  /** Changes the label of a key. */
  rename(params: { readonly key_id: string; readonly label: string }, options: TranslationCallOptions = {}): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.rename', { body: params }, options)
  }

  /** Changes the limits of a key per month: null for none, 0 for nothing; a limit that is left out stays unchanged. */
  setLimits(
    params: { readonly key_id: string; readonly characters?: number | null; readonly speech_to_text_milliseconds?: number | null },
    options: TranslationCallOptions = {},
  ): Promise<Result<DeveloperKey>> {
    return this.#service.call('admin.keys.setLimits', { body: params }, options)
  }
}

const DAY = 86_400_000

const MOST_DAYS = 366

/**
 * Refuses a range of more than 366 days, as the service does. An invalid date is left to the service.
 *
 * Errors: `REQUEST_INVALID`; `TypeError` for a value that is not a string.
 */
function checkDates(
  range: { readonly start_date: string; readonly end_date: string },
  validation: TranslationCallOptions['validate'],
): void {
  for (const name of ['start_date', 'end_date'] as const)
    if (typeof range[name] !== 'string') throw new TypeError(`${name} must be a string: YYYY-MM-DD`)
  if (validation !== 'strict') return
  const days = (Date.parse(range.end_date) - Date.parse(range.start_date)) / DAY
  if (days > MOST_DAYS) {
    const message = `a report covers at most ${MOST_DAYS} days, these are ${Math.ceil(days)}; nothing was sent`
    throw new ValidationError('REQUEST_INVALID', message, { field: 'end_date', limit: MOST_DAYS })
  }
}

/**
 * The usage of the account in the current period (`GET /v2/usage`); most fields are for paid plans only. Limits of 10^12 mean none. The
 * functions are not enumerable.
 */
export interface Usage {
  /** Characters used by the account. */
  readonly character_count: number
  /** Limit of the account in characters. */
  readonly character_limit: number
  /** Units used of each product: `billing_unit` is `characters`, `milliseconds`, `minutes` or another one. */
  readonly products?: readonly {
    readonly product_type: string
    readonly billing_unit: string
    readonly api_key_unit_count: number
    readonly account_unit_count: number
    /** @deprecated `api_key_unit_count` replaces it. */
    readonly api_key_character_count?: number
    /** @deprecated `account_unit_count` replaces it. */
    readonly character_count?: number
  }[]
  /** Characters used by this key. */
  readonly api_key_character_count?: number
  /** Limit of this key in characters. */
  readonly api_key_character_limit?: number
  /** Milliseconds of speech used. */
  readonly speech_to_text_milliseconds_count?: number
  /** Limit of speech in milliseconds. */
  readonly speech_to_text_milliseconds_limit?: number
  /** Minutes of speech used. */
  readonly speech_to_text_minutes_count?: number
  /** Limit of speech in minutes. */
  readonly speech_to_text_minutes_limit?: number
  /** Documents used. */
  readonly document_count?: number
  /** Limit of documents. */
  readonly document_limit?: number
  /** Documents used by the team. */
  readonly team_document_count?: number
  /** Limit of documents of the team. */
  readonly team_document_limit?: number
  /** Begin of the period: ISO 8601 in UTC. */
  readonly start_time?: string
  /** End of the period: ISO 8601 in UTC. */
  readonly end_time?: string
  /** Returns the characters that may still be used, by account and key; `Infinity` without a limit. */
  remaining(): number
  /** Returns true if a limit is reached; a limit of 0 against which nothing is counted does not count. */
  anyLimitReached(): boolean
  /** Returns true if that many characters may still be used. */
  allows(characters: number): boolean
}

const NO_LIMIT = 1e12

/**
 * Returns the usage of the current period. Errors: those of every call; `RESPONSE_INVALID` for a response without a number of characters.
 */
export async function usage(service: TranslationService, options: TranslationCallOptions = {}): Promise<Result<Usage>> {
  const record = await service.call<Usage>('usage', {}, options)
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

/** Returns all pairs of `<name>_count` and `<name>_limit`. */
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
