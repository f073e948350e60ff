import { ValidationError } from '../errors.ts'
import type { Validation } from './translation-options.ts'

const DAY = 86_400_000
const MOST_DAYS = 366

/**
 * Refuses a range that the service would refuse: more than 366 days between its ends. What is no date is left to the service.
 *
 * Errors: `REQUEST_INVALID`; `TypeError` for what is no text.
 */
export function checkDates(range: { readonly start_date: string; readonly end_date: string }, validation: Validation): void {
  for (const name of ['start_date', 'end_date'] as const)
    if (typeof range[name] !== 'string') throw new TypeError(`${name} is a text: YYYY-MM-DD`)
  if (validation !== 'strict') return
  const days = (Date.parse(range.end_date) - Date.parse(range.start_date)) / DAY
  if (days > MOST_DAYS) {
    const message = `a report covers at most ${MOST_DAYS} days, these are ${Math.floor(days)}; nothing was sent`
    throw new ValidationError('REQUEST_INVALID', message, { field: 'end_date', limit: MOST_DAYS })
  }
}
