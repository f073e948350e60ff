/** How long a server wants to be left alone. */

const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Milliseconds of a `Retry-After` (RFC 9110 §10.2.3): seconds, which many servers write with decimals, or a date, counted from
 * `now` in epoch milliseconds. Undefined for what is neither; less than nothing for a date that has passed.
 */
export function retryAfter(text: string, now: number): number | undefined {
  const value = text.trim()
  if (/^\d{1,10}(?:\.\d{1,9})?$/.test(value)) return Number(value) * 1000
  if (!DATE.test(value)) return undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : date - now
}

/**
 * What an answer says about it, in milliseconds: `retry-after-ms`, else `Retry-After`; a date is counted from the answer's own
 * `Date`, which is right where clocks differ. Undefined for nothing, nonsense, and what has passed.
 */
export function retryHint(headers: { get(name: string): string | null }, now: number): number | undefined {
  const precise = headers.get('retry-after-ms')?.trim()
  if (precise !== undefined && /^\d{1,13}(?:\.\d{1,9})?$/.test(precise)) return Number(precise)
  const stated = headers.get('retry-after')
  if (stated === null) return undefined
  const date = Date.parse(headers.get('date') ?? '')
  const hint = retryAfter(stated, Number.isNaN(date) ? now : date)
  return hint === undefined || hint < 0 ? undefined : hint
}
