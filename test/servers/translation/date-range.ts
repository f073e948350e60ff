import { requiredQuery } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'

/** Days of a report, the last one included; both ends as the service writes them, without a zone. */
export interface DateRange {
  readonly start: string
  readonly end: string
  readonly includes: (at: number) => boolean
}

const DAY = 86_400_000

/** The range that the query names; 400 when it is no range or has more than 366 days. */
export function dateRange(call: Call): DateRange {
  const [start, end] = [dayOf(call, 'start_date'), dayOf(call, 'end_date')]
  if (end < start) refuse(400, 'The end date is before the start date')
  if (end - start > 366 * DAY) refuse(400, 'Date range cannot exceed 366 days')
  return { start: written(start), end: written(end), includes: (at) => at >= start && at < end + DAY }
}

function dayOf(call: Call, name: string): number {
  const text = requiredQuery(call, name)
  const at = Date.parse(text)
  // A day that the month does not have would be read as one of the next.
  const exists = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
  return exists ? at : refuse(400, `Value for '${name}' is no date`)
}

function written(at: number): string {
  return new Date(at).toISOString().slice(0, 19)
}
