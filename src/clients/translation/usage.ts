/** What is used up. */
import type { Result } from './result.ts'
import type { TranslationCallOptions } from './translation-options.ts'
import type { TranslationService } from './translation-service.ts'

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
