import { jsonReply, type Reply } from '../service/reply.ts'
import type { Billed } from './account.ts'
import { dateRange } from './date-range.ts'
import { queryValue } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'
import { charactersOf, day, grouped } from './usage-report.ts'

/** Operation 2: what was billed under each tag, page by page from 1. */
export function tagReport(call: Call): Reply {
  const { request, state } = call
  const range = dateRange(call)
  const aggregate = queryValue(request.query, 'aggregate_by') ?? 'period'
  if (aggregate !== 'period' && aggregate !== 'day') refuse(400, "Invalid aggregate_by. Allowed values: 'period', 'day'")
  const text = queryValue(request.query, 'page') ?? '1'
  if (!/^[1-9]\d{0,8}$/.test(text)) refuse(400, 'Invalid page')
  const tagged = state.billed.filter(({ tag, at }) => tag !== undefined && range.includes(at))
  const groups = grouped(tagged, (entry) => (aggregate === 'day' ? `${entry.tag} ${day(entry)}` : String(entry.tag)))
  const size = state.settings.tagPageSize
  const page = Number(text)
  return jsonReply(200, {
    custom_tag_usage_report: {
      ...{ aggregate_by: aggregate, start_date: range.start, end_date: range.end },
      next_page: groups.length > page * size ? page + 1 : null,
      usage: groups.slice((page - 1) * size, page * size).map((entries) => tagUsage(entries, aggregate === 'day')),
    },
  })
}

function tagUsage(entries: readonly [Billed, ...Billed[]], daily: boolean) {
  return {
    custom_tag: entries[0].tag,
    ...(daily && { usage_date: day(entries[0]) }),
    breakdown: {
      total_characters: charactersOf(entries),
      text_translation_characters: charactersOf(entries, 'text_translation'),
      text_improvement_characters: charactersOf(entries, 'text_improvement'),
    },
  }
}
