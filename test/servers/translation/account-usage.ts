import { jsonReply, type Reply } from '../service/reply.ts'
import { charactersLeft } from './account.ts'
import type { Call } from './state.ts'

/** What the service writes where there is no limit. */
const NO_LIMIT = 1_000_000_000_000

/** Operation 28: two counters for free keys, everything for the others. */
export function accountUsage({ key, state }: Call): Reply {
  const limit = Math.min(NO_LIMIT, charactersLeft(key) + key.used)
  const counters = { character_count: key.used, character_limit: limit }
  if (key.plan === 'free') return jsonReply(200, counters)
  const now = new Date(state.clock.now())
  const month = (offset: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString()
  return jsonReply(200, {
    ...counters,
    products: [
      product('write', charactersBilled(state.billed, key.key, 'text_improvement')),
      product('translate', key.used - charactersBilled(state.billed, key.key, 'text_improvement')),
    ],
    api_key_character_count: key.used,
    api_key_character_limit: key.characterLimit ?? NO_LIMIT,
    ...{ speech_to_text_milliseconds_count: 0, speech_to_text_milliseconds_limit: state.settings.usageVersion === '3.11' ? 0 : 3_600_000 },
    ...(state.settings.usageVersion === '3.11' && { speech_to_text_minutes_count: 0, speech_to_text_minutes_limit: 60 }),
    ...{ start_time: month(0), end_time: month(1) },
  })
}

function charactersBilled(billed: Call['state']['billed'], owner: string, kind: string): number {
  return billed.reduce((sum, entry) => (entry.key.key === owner && entry.kind === kind ? sum + entry.characters : sum), 0)
}

function product(product_type: string, count: number) {
  const counts = { api_key_unit_count: count, account_unit_count: count, api_key_character_count: count, character_count: count }
  return { product_type, billing_unit: 'characters', ...counts }
}
