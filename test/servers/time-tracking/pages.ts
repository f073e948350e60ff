import type { Reply } from '../service/reply.ts'
import type { ServiceRequest } from '../service/service-request.ts'
import { enveloped, refuse } from './answers.ts'
import type { Switches } from './options.ts'

/** Names of parameters that a list may have, by how it is paged. */
export const PAGE_PARAMETERS: Readonly<Record<Switches['paging'], readonly string[]>> = {
  none: [],
  page: ['page', 'per_page'],
  cursor: ['cursor', 'per_page'],
  link: ['page', 'per_page'],
}

/** One page of the rows, and how to get at the next. */
export function pageOf(switches: Switches, { query, path }: ServiceRequest, rows: readonly unknown[], origin: string): Reply {
  const { paging, pageSize } = switches
  if (paging === 'none') return enveloped(switches, rows)
  const number = (name: string, otherwise: number) => {
    const text = query.find(([key]) => key === name)?.[1] ?? String(otherwise)
    return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : refuse(switches, 400, `Invalid ${name}`)
  }
  const size = number('per_page', pageSize)
  const page = paging === 'cursor' ? pageOfCursor(switches, query) : number('page', 1)
  const part = rows.slice((page - 1) * size, page * size)
  const hasNext = page * size < rows.length
  if (paging === 'page') return enveloped(switches, part, { meta: { total: rows.length } })
  if (paging === 'cursor') return enveloped(switches, part, { next: hasNext ? cursorOf(page + 1) : null })
  const reply = enveloped(switches, part)
  if (!hasNext) return reply
  const target = switches.link === 'foreign' ? 'https://elsewhere.example' : origin
  const link = `<${target}${path}?page=${switches.link === 'loop' ? page : page + 1}&per_page=${size}>; rel="next"`
  return { ...reply, headers: { ...reply.headers, Link: link } }
}

function pageOfCursor(switches: Switches, query: ServiceRequest['query']): number {
  const text = query.find(([key]) => key === 'cursor')?.[1]
  if (text === undefined) return 1
  const page = Number(Buffer.from(text, 'base64url').toString().replace('page:', ''))
  return Number.isSafeInteger(page) && page > 0 ? page : refuse(switches, 400, 'Invalid cursor')
}

function cursorOf(page: number): string {
  return Buffer.from(`page:${page}`).toString('base64url')
}
