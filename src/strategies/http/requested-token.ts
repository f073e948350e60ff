/** A bearer token that was requested from an endpoint, its expiry, and its form in a store. */
import type { Credential } from '../../auth/credential.ts'
import { isAccessToken, momentOf } from '../../http/headers.ts'

/** A token as it is stored. */
export interface RequestedToken {
  readonly value: string
  /** Epoch milliseconds of the request. */
  readonly askedAt: number
  /** Epoch milliseconds; absent when unknown. */
  readonly expiresAt?: number
  /** SHA-256, in hex, of what identifies the user. */
  readonly user: string
}

/** Returns the session key with everything that a token depends on; the session adds the credential's id. */
export function tokenKey({ tokenUrl, with: by, tokenField }: Credential): string {
  return JSON.stringify(['requested token', tokenUrl, by, tokenField])
}

/** Encodes a token as JSON for a store. */
export function encodeToken(token: RequestedToken): string {
  return JSON.stringify(token)
}

/** Decodes a token from a store; undefined for anything else. */
export function decodeToken(text: string | undefined): RequestedToken | undefined {
  if (text === undefined) return undefined
  let token: Readonly<Record<string, unknown>> | null
  try {
    token = JSON.parse(text)
  } catch {
    return undefined
  }
  const isToken =
    typeof token === 'object' &&
    typeof token?.value === 'string' &&
    isAccessToken(token.value) &&
    typeof token.askedAt === 'number' &&
    typeof token.user === 'string' &&
    ['number', 'undefined'].includes(typeof token.expiresAt)
  return isToken ? (token as unknown as RequestedToken) : undefined
}

/** Longest lifetime in milliseconds: one year. */
const YEAR = 31_536_000_000

/** Smaller numbers are lifetimes in seconds, larger ones moments. */
const FIRST_MOMENT = 100_000_000

/**
 * Returns the epoch milliseconds of the end of a token: of seconds from now, of epoch seconds or milliseconds, of an ISO 8601 date, or of a
 * day as `MM/DD/YYYY`, the end of that day in UTC. Undefined, that is unknown, for anything else and for a moment that is not in the future.
 *
 * @param value a number, or text
 */
export function expiryIn(value: unknown, now: number): number | undefined {
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && /^\d{1,13}(?:\.\d+)?$/.test(value) ? Number(value) : undefined
  const end =
    number === undefined ? (endOfDay(value) ?? momentOf(value)) : number < FIRST_MOMENT ? now + Math.trunc(number) * 1000 : epoch(number)
  return end !== undefined && end > now ? Math.min(end, now + YEAR) : undefined
}

function epoch(number: number): number {
  return number >= 100_000_000_000 ? number : Math.trunc(number) * 1000
}

/** The day may end in any zone: a token that is refused earlier is requested anew. */
function endOfDay(value: unknown): number | undefined {
  const [, month = '', day = '', year] = typeof value === 'string' ? (/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(value) ?? []) : []
  if (year === undefined) return undefined
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const isDate = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  return isDate ? date.getTime() + 86_400_000 : undefined
}
