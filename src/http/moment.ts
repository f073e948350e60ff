/**
 * Epoch milliseconds of an ISO 8601 date (also with a blank instead of the `T`), or of epoch seconds; undefined for
 * anything else. A time without a zone is UTC (RFC 3339 §5.6 with less strictness).
 */
export function momentOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(Math.trunc(value)) : value
  if (typeof text !== 'string') return undefined
  const time = /^\d{9,11}$/.test(text) ? Number(text) * 1000 : dateOf(text)
  return Number.isFinite(time) ? time : undefined
}

/**
 * Epoch milliseconds of the end of a time that begins at `YYYYMMDDTHHMMSSZ` and lasts so many seconds, both as text, as signed
 * addresses of Amazon and Google have them; undefined when either is anything else.
 */
export function endOfSpan(start: string | null | undefined, seconds: string | null | undefined): number | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(start ?? '') ?? []
  if (year === undefined || !/^\d{1,9}$/.test(seconds ?? '')) return undefined
  const begin = dateOf(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isFinite(begin) ? begin + Number(seconds) * 1000 : undefined
}

function dateOf(text: string): number {
  const [, date, time, zone = 'Z'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?)?$/i.exec(text) ?? []
  return date === undefined ? Number.NaN : Date.parse(time === undefined ? date : `${date}T${time}${zone.toUpperCase()}`)
}
