import type { ApiResponse } from './api-response.ts'
import { nextPlace } from './paging.ts'

/** What to tell of a list that seems to go on although its service is not known to have pages. The link is not followed. */
export function unreadPage(answer: ApiResponse): string | undefined {
  const place = nextPlace(answer)
  return place && `${place} names a next page, which was not read: say in the profile how lists are paged`
}
