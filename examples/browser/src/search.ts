/** Item search of a STAC API: its link, the request of a question, and the pages of the answer. */
import { type StacDocument, type Target, targetsOf } from 'stac-auth'
import { addressOf } from './access.ts'
import { type Box, documentsIn, memberOf, textIn } from './fields.ts'
import type { OpenDocument } from './reader.ts'

/** What to look for. */
export interface Question {
  readonly box?: Box
  /** Days as `2026-06-14`. */
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

/** A page of results: the document, and the links to the pages beside it. */
export interface ResultPage {
  readonly document: StacDocument
  readonly url: string
  readonly items: readonly StacDocument[]
  /** Number of items on all pages, if the server says it. */
  readonly matched?: number
  readonly next?: Target
  readonly prev?: Target
}

export const DEFAULT_LIMIT = 20
export const MOST = 1000

/** The link of the document that is asked with GET: `search` of an API, else `items` of a collection. */
export function searchLinkOf({ document, url, parents }: OpenDocument): Target | undefined {
  const links = [...targetsOf(document, { url, parents })].filter(
    (target) => target.kind === 'link' && target.scope.at === '' && isAsked(target) && addressOf(target)?.startsWith('http') === true,
  )
  return links.find(({ object }) => object.rel === 'search') ?? links.find(({ object }) => object.rel === 'items')
}

/** The link with the parameters of the question; those that it has already stay. */
export function questionUrl(link: Target, { box, from, to, limit }: Question): string {
  const url = new URL(addressOf(link) ?? '')
  if (box) url.searchParams.set('bbox', box.map((degrees) => Number(degrees.toFixed(5))).join(','))
  const datetime = intervalOf(from, to)
  if (datetime !== undefined) url.searchParams.set('datetime', datetime)
  url.searchParams.set('limit', String(limit))
  return url.href
}

/** Reads an answer. Of the links beside it only those are there that are asked with GET. */
export function resultPage(document: StacDocument, url: string): ResultPage {
  const beside = (rel: string) =>
    [...targetsOf(document, { url })].find(
      (target) => target.kind === 'link' && target.scope.at === '' && target.object.rel === rel && isAsked(target),
    )
  const [next, prev] = [beside('next'), beside('prev') ?? beside('previous')]
  const matched = memberOf(document, 'numberMatched') ?? memberOf(memberOf(document, 'context'), 'matched')
  return {
    document,
    url,
    items: documentsIn(document),
    ...(typeof matched === 'number' && Number.isInteger(matched) && matched >= 0 && { matched }),
    ...(next && { next }),
    ...(prev && { prev }),
  }
}

/** The question as text in the route, and back; what is no question is left out. */
export function questionText({ box, from, to, limit }: Question): string {
  const parts = {
    ...(box && { bbox: box.map((degrees) => Number(degrees.toFixed(5))).join(',') }),
    ...(from && { from }),
    ...(to && { to }),
  }
  return new URLSearchParams({ ...parts, limit: String(limit) }).toString()
}

export function questionIn(text: string): Question {
  const given = new URLSearchParams(text)
  const box = given.get('bbox')?.split(',').map(Number)
  const day = (name: string) => (/^\d{4}-\d\d-\d\d$/.test(given.get(name) ?? '') ? { [name]: given.get(name) } : {})
  const limit = Number(given.get('limit'))
  return {
    ...(box?.length === 4 && box.every(Number.isFinite) && { box: box as unknown as Box }),
    ...day('from'),
    ...day('to'),
    limit: Number.isInteger(limit) && limit >= 1 && limit <= MOST ? limit : DEFAULT_LIMIT,
  }
}

function isAsked({ object }: Target): boolean {
  return (textIn(object, 'method') ?? 'GET').toUpperCase() === 'GET'
}

/** An interval of RFC 3339 from the first second of a day to the last of another. */
function intervalOf(from: string | undefined, to: string | undefined): string | undefined {
  if (from === undefined && to === undefined) return undefined
  return `${from === undefined ? '..' : `${from}T00:00:00Z`}/${to === undefined ? '..' : `${to}T23:59:59Z`}`
}
