import type { Entry } from '../../auth/session.ts'
import { endOfSpan, momentOf } from '../../http/moment.ts'
import { own } from '../../stac/json.ts'
import { policyOf } from './policy.ts'

/** A signed address that says nothing about its end is kept this long, in milliseconds. */
const UNKNOWN_LIFE = 5 * 60_000
/** Renewed this long before its end, or when half of what is left has passed. */
const MARGIN = 30_000

/**
 * The address with the earliest end that its query or the answer state: `X-Amz-Date` + `X-Amz-Expires`, the same of
 * Google, `se` and `ske` of Azure, `Expires`, a policy of CloudFront, and the answer's `msft:expiry`, `expires_at`, `expires`,
 * `expires_in`.
 */
export function expiryOf(address: string, answer: unknown, now: number): Entry<string> {
  const query = new URL(address).searchParams
  const ends = [
    endOfSpan(query.get('X-Amz-Date'), query.get('X-Amz-Expires')),
    endOfSpan(query.get('X-Goog-Date'), query.get('X-Goog-Expires')),
    ...['se', 'ske', 'Expires'].map((name) => momentOf(query.get(name))),
    momentOf(policyOf(query)?.end),
    ...['msft:expiry', 'expires_at', 'expires'].map((name) => momentOf(own(answer, name))),
    secondsFrom(now, own(answer, 'expires_in')),
  ].filter((end) => end !== undefined)
  if (ends.length === 0) return { value: address, renewAt: now + UNKNOWN_LIFE }
  return ending(address, Math.min(...ends), now)
}

/** The value with an earlier end, where the asset states one in `expires` (timestamps extension) that is still to come. */
export function endingWith<T>(entry: Entry<T>, asset: unknown, now: number): Entry<T> {
  const end = momentOf(own(asset, 'expires'))
  if (end === undefined || end <= now || end >= (entry.expiresAt ?? Number.POSITIVE_INFINITY)) return entry
  return ending(entry.value, end, now)
}

function ending<T>(value: T, expiresAt: number, now: number): Entry<T> {
  return { value, expiresAt, renewAt: expiresAt - Math.min(MARGIN, Math.max(0, expiresAt - now) / 2) }
}

function secondsFrom(now: number, value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0 ? now + Math.min(seconds, 31_536_000) * 1000 : undefined
}
