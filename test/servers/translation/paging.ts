import { queryValue } from './read-body.ts'
import { refuse } from './refuse.ts'
import type { Call } from './state.ts'

/** The rows of the page that the query names: `page` from 0, `page_size` from 1 to 25, 10 when it is left out. */
export function pageOf<T>({ request }: Call, rows: readonly T[]): readonly T[] {
  const page = numberOf(request.query, 'page', 0, Number.MAX_SAFE_INTEGER, 0)
  const size = numberOf(request.query, 'page_size', 1, 25, 10)
  return rows.slice(page * size, (page + 1) * size)
}

function numberOf(query: Call['request']['query'], name: string, least: number, most: number, otherwise: number): number {
  const text = queryValue(query, name)
  if (text === undefined) return otherwise
  const value = /^\d+$/.test(text) ? Number(text) : -1
  return value >= least && value <= most ? value : refuse(400, `Value for '${name}' not supported.`)
}
