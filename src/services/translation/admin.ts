/** Usage reports and developer keys, which need the key of an administrator, and the usage of the account. */

import { ProtocolError } from '../../errors.ts'
import type { Paged, PagedOptions } from '../client/paging.ts'
import {
  memberOf,
  methodsOf,
  pagesOf,
  type Result,
  type ServiceMethod,
  type TranslationCallOptions,
  type TranslationService,
} from './translation-service.ts'

/** The usage of an organization (`GET /v2/admin/analytics`): characters, and minutes of speech as a decimal number. */
export interface UsageReport extends ReportRange {
  /** The sum of all keys and days. */
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
  readonly key_usages?: readonly KeyUsage[]
  /** Usage by key and day (`YYYY-MM-DD` in UTC), with `group_by: 'key_and_day'`. */
  readonly key_and_day_usages?: readonly (KeyUsage & { readonly usage_date: string })[]
}

interface KeyUsage {
  /** Masked: its first and last characters only. */
  readonly api_key: string
  /** Name of the key. */
  readonly api_key_label: string
  /** The sum of the key. */
  readonly usage: UsageReport['total_usage']
}

/** The days of a report: `YYYY-MM-DD` in parameters, ISO 8601 without a zone in the report. */
interface ReportRange {
  /** First day. */
  readonly start_date: string
  /** Last day, included; at most 366 days after the first. */
  readonly end_date: string
}

export interface CustomTagUsageParams extends ReportRange {
  /** One row for each tag (`period`, the default), or one for each tag and day. */
  readonly aggregate_by?: 'period' | 'day'
  /** The page; default: the first. */
  readonly page?: number
}

/** One page of the usage by custom tag (`GET /v2/admin/analytics/custom-tags`). */
export interface CustomTagUsageReport extends ReportRange {
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
 * Administration of an organization: usage reports and keys. Needs the key of an administrator; others get `HTTP_403`.
 *
 * @example
 * const { usage_report } = await client.admin.usage({ start_date: '2026-01-01', end_date: '2026-01-31' })
 * console.log(usage_report.total_usage.total_characters)
 */
export interface Admin {
  /** The keys of the organization. */
  readonly keys: DeveloperKeys
  /** Returns the usage between two days, in total or also by `group_by`. Errors: `REQUEST_INVALID` for more than 366 days. */
  readonly usage: ServiceMethod<
    [params: ReportRange & { readonly group_by?: 'key' | 'key_and_day' | '' }],
    { readonly usage_report: UsageReport }
  >
  /** Returns one page of the usage by custom tag. Errors: `REQUEST_INVALID` for more than 366 days. */
  readonly customTagUsage: ServiceMethod<[params: CustomTagUsageParams], { readonly custom_tag_usage_report: CustomTagUsageReport }>
  /** Returns the rows of all pages, from `page` on. Errors: those of `customTagUsage`; `PAGE_LOOP` if the service names a page twice. */
  iterateCustomTagUsage(params: CustomTagUsageParams, options?: TranslationCallOptions & PagedOptions): Paged<CustomTagUsage>
}

/**
 * The keys of an organization.
 *
 * @example
 * const { key_id } = await client.admin.keys.create({ label: 'catalog' })
 * await client.admin.keys.setLimits({ key_id, characters: 500_000 })
 */
interface DeveloperKeys {
  /** Creates a key; without a label the service chooses one. Retried as `unsafe`. */
  readonly create: ServiceMethod<[params?: { readonly label?: string }], DeveloperKey>
  /** Returns all keys, also deactivated ones. */
  readonly list: ServiceMethod<[], readonly DeveloperKey[]>
  /** Deactivates a key at once and permanently. */
  readonly deactivate: ServiceMethod<[params: { readonly key_id: string }], DeveloperKey>
  /** Changes the label of a key. */
  readonly rename: ServiceMethod<[params: { readonly key_id: string; readonly label: string }], DeveloperKey>
  /** Changes the limits of a key per month: null for none, 0 for nothing; a limit that is left out stays unchanged. */
  readonly setLimits: ServiceMethod<
    [params: { readonly key_id: string; readonly characters?: number | null; readonly speech_to_text_milliseconds?: number | null }],
    DeveloperKey
  >
}

export function adminOf(service: TranslationService): Admin {
  const methods = methodsOf<Pick<Admin, 'usage' | 'customTagUsage'>>(service, 'admin')
  return {
    ...methods,
    keys: methodsOf(service, 'admin.keys'),
    iterateCustomTagUsage: (params, options) =>
      pagesOf(
        {
          name: 'admin.customTagUsage',
          fetch: async (page = params.page, call = {}) => (await methods.customTagUsage({ ...params, page }, call)).custom_tag_usage_report,
          items: (report) => memberOf(report, 'usage', 'list', 'admin.customTagUsage') as readonly CustomTagUsage[],
          next: ({ next_page }) => next_page ?? undefined,
        },
        options,
      ),
  }
}

/**
 * The usage of the account in the current period (`GET /v2/usage`); most fields are for paid plans only. Limits of 10^12 mean none. The
 * functions are not enumerable.
 */
export interface Usage {
  /** Characters used by the account. */
  readonly character_count: number
  /** Limit of the account in characters; absent or null for none. */
  readonly character_limit?: number | null
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

/** A limit of that many or more means none. */
const NO_LIMIT = 1e12

/** Adds the functions to the usage. Errors: `RESPONSE_INVALID` for a limit that is not a number, because nothing would hold it. */
export function withFunctions(record: Result<Usage>): Result<Usage> {
  const { character_limit: limit = null } = record
  if (limit !== null && typeof limit !== 'number')
    throw new ProtocolError('RESPONSE_INVALID', `usage: the limit in the response is a ${typeof limit}, not a number`)
  const counters = countersOf(record)
  const remaining = () => Math.min(...counters.flatMap(({ name, left }) => (CHARACTERS.has(name) ? [left] : [])))
  const functions: Pick<Usage, 'remaining' | 'anyLimitReached' | 'allows'> = {
    remaining,
    anyLimitReached: () => counters.some((counter) => counter.limit > 0 && counter.left === 0),
    allows: (characters) => characters <= remaining(),
  }
  for (const [name, value] of Object.entries(functions)) Object.defineProperty(record, name, { value, configurable: true })
  return record
}

const CHARACTERS = new Set(['character', 'api_key_character'])

/** Returns what is left of each pair of `<name>_count` and `<name>_limit`. */
function countersOf(record: object): readonly { readonly name: string; readonly limit: number; readonly left: number }[] {
  const members = new Map<string, unknown>(Object.entries(record))
  return [...members].flatMap(([key, count]) => {
    const name = /^(.*)_count$/.exec(key)?.[1]
    const limit = members.get(`${name}_limit`)
    if (name === undefined || typeof count !== 'number' || typeof limit !== 'number') return []
    return [{ name, limit, left: limit >= NO_LIMIT ? Number.POSITIVE_INFINITY : Math.max(0, limit - count) }]
  })
}
