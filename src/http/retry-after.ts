/** How long a server wants to be left alone. */

const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * What an answer says about it, in milliseconds: `retry-after-ms`, else `Retry-After` (RFC 9110 §10.2.3) in seconds, which many servers
 * write with decimals, or as a date. That is counted from the answer's own `Date`, which is right where clocks differ, or from `now` in
 * epoch milliseconds. Undefined for nothing, nonsense (also more than ten digits), and what has passed.
 */
export function retryHint(headers: { get(name: string): string | null }, now: number): number | undefined {
  const precise = headers.get('retry-after-ms')?.trim()
  if (precise !== undefined && /^\d{1,13}(?:\.\d{1,9})?$/.test(precise)) return Number(precise)
  const date = Date.parse(headers.get('date') ?? '')
  const rest = restOf(headers.get('retry-after'), Number.isNaN(date) ? now : date)
  return rest === undefined || rest < 0 ? undefined : rest
}

function restOf(text: string | null, now: number): number | undefined {
  const value = text?.trim() ?? ''
  if (/^\d{1,10}(?:\.\d{1,9})?$/.test(value)) return Number(value) * 1000
  if (!DATE.test(value)) return undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : date - now
}
