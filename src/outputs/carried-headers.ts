import type { AuthorizedRequest } from '../auth/auth.ts'

/** Fields that `fetch`, curl and GDAL drop by themselves on the way to another origin. */
const DROPPED = new Set(['authorization', 'cookie'])

/** Names of the headers with material that a client which follows redirects would carry on to another origin. */
export function carriedHeaders({ material }: AuthorizedRequest): readonly string[] {
  return material.headers.filter((name) => !DROPPED.has(name.toLowerCase()))
}
