/** Milliseconds of a `Retry-After` (RFC 9110 §10.2.3): seconds or a date. Undefined for what is neither. */
export function retryAfter(text: string | null, now: number): number | undefined {
  const value = text?.trim() ?? ''
  if (/^\d{1,10}$/.test(value)) return Number(value) * 1000
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)) return undefined
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
