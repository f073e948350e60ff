/** Values as services really write them. Each function gives undefined for what does not fit; nothing is ever thrown. */

/** A point in time as it was written, with colons, and in milliseconds since the epoch. */
export interface Instant {
  readonly iso: string
  readonly epochMs: number
}

/** True or false, 0 or 1, as text or not. */
export function asBool(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === '1' || value === 'true') return true
  return value === false || value === 0 || value === '0' || value === 'false' ? false : undefined
}

/** A decimal number as text, digit by digit as it came; numbers are written out. */
export function asDecimal(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? plainDigits(value) : undefined
  return typeof value === 'string' && /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(value) ? value : undefined
}

/** A whole number: a `number` where it is exact, else a `bigint`. */
export function asInt(value: unknown): number | bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  if (typeof value !== 'string' || !/^-?\d{1,40}$/.test(value)) return undefined
  const exact = Number(value)
  return Number.isSafeInteger(exact) ? exact : BigInt(value)
}

const INSTANT = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$/

/** A date and time with its zone (`Z`, `+hh:mm` or `+hhmm`). */
export function asInstant(value: unknown): Instant | undefined {
  const [, time, fraction = '', zone = ''] = (typeof value === 'string' && INSTANT.exec(value)) || []
  if (time === undefined) return undefined
  const iso = `${time.replace(' ', 'T')}${fraction}${zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2')}`
  const epochMs = Date.parse(iso)
  return Number.isNaN(epochMs) ? undefined : { iso, epochMs }
}

/** Milliseconds of `HH:MM:SS`; there may be more than 24 hours. */
export function asDuration(value: unknown): number | undefined {
  const [, sign, hours, minutes, seconds] = (typeof value === 'string' && /^(-?)(\d{1,9}):([0-5]\d):([0-5]\d)$/.exec(value)) || []
  if (hours === undefined) return undefined
  const whole = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -whole : whole
}

/** Without an exponent. */
function plainDigits(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(100).replace(/0+$/, '')
}
