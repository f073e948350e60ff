import type { ApiResponse } from './api-response.ts'
import { nextLink } from './paging.ts'

/** Where bodies name their next page. */
const PLACES = [['next'], ['links', 'next'], ['paging', 'next'], ['pagination', 'next'], ['meta', 'next']] as const

/** What to tell of a list that seems to go on although its service is not known to have pages. The link is not followed. */
export function unreadPage({ data, headers }: ApiResponse): string | undefined {
  const inBody = PLACES.find((path) => isLink(path.reduce<unknown>((value, name) => memberOf(value, name), data)))
  const place = nextLink(headers.get('link')) !== undefined ? 'the Link header' : inBody?.join('.')
  return place && `${place} names a next page, which was not read: say in the profile how lists are paged`
}

function isLink(value: unknown): boolean {
  const target = typeof value === 'object' ? memberOf(value, 'href') : value
  return typeof target === 'string' && target !== ''
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}
