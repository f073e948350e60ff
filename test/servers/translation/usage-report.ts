import { jsonReply, type Reply } from '../service/reply.ts'
import type { Billed } from './account.ts'
import { dateRange } from './date-range.ts'
import { queryValue } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'

/** Operation 1: what was billed, all together and by key or by key and day. */
export function usageReport(call: Call): Reply {
  const { request, state } = call
  const range = dateRange(call)
  const group = queryValue(request.query, 'group_by') || undefined
  if (group !== undefined && group !== 'key' && group !== 'key_and_day')
    refuse(400, "Invalid group_by. Allowed values: 'key', 'key_and_day'")
  const billed = state.billed.filter(({ at }) => range.includes(at))
  return jsonReply(200, {
    usage_report: {
      total_usage: usage(billed),
      ...(group && { group_by: group }),
      start_date: range.start,
      end_date: range.end,
      ...(group === 'key' && { key_usages: grouped(billed, ({ key }) => key.key).map((entries) => keyUsage(entries)) }),
      ...(group === 'key_and_day' && {
        key_and_day_usages: grouped(billed, (entry) => `${day(entry)} ${entry.key.key}`).map(keyAndDayUsage),
      }),
    },
  })
}

/** The lists of what belongs together, in order of first appearance. */
export function grouped(billed: readonly Billed[], keyOf: (entry: Billed) => string): readonly (readonly [Billed, ...Billed[]])[] {
  const groups = new Map<string, [Billed, ...Billed[]]>()
  for (const entry of billed) {
    const group = groups.get(keyOf(entry))
    if (group) group.push(entry)
    else groups.set(keyOf(entry), [entry])
  }
  return [...groups.values()]
}

/** The day of an entry in UTC, as the reports write it. */
export function day({ at }: Billed): string {
  return `${new Date(at).toISOString().slice(0, 10)}T00:00:00Z`
}

/** Characters of one kind, or of all. */
export function charactersOf(billed: readonly Billed[], kind?: Billed['kind']): number {
  return billed.reduce((sum, entry) => (kind === undefined || entry.kind === kind ? sum + entry.characters : sum), 0)
}

function keyUsage(entries: readonly [Billed, ...Billed[]]) {
  const [{ key }] = entries
  return { api_key: `${key.key.slice(0, 4)}****${key.key.slice(-4)}`, api_key_label: key.label, usage: usage(entries) }
}

function keyAndDayUsage(entries: readonly [Billed, ...Billed[]]) {
  return { ...keyUsage(entries), usage_date: day(entries[0]) }
}

function usage(billed: readonly Billed[]) {
  return {
    total_characters: charactersOf(billed),
    text_translation_characters: charactersOf(billed, 'text_translation'),
    document_translation_characters: charactersOf(billed, 'document_translation'),
    text_improvement_characters: charactersOf(billed, 'text_improvement'),
    speech_to_text_minutes: 0,
  }
}
