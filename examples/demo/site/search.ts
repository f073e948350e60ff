/** Item search as the STAC API specification has it: GET with `bbox`, `datetime`, `limit` and pages, for everyone or behind a key. */
import { type Answer, type Inquiry, jsonAnswer } from '../../../test/servers/answering-server.ts'
import type { Guard } from '../../../test/servers/guards.ts'
import { type Json, link, within } from './item.ts'

/** Number of scenes that only the search finds. */
const SCENES = 40
const DEFAULT_LIMIT = 10
const MOST = 100
const DAY = 86_400_000

/** Answers of `/api/search`, and of `/api/members/search` for who passes the guard; undefined for other paths. */
export function searchAnswers(items: readonly Json[], guard: Guard): (request: Inquiry) => Answer | undefined {
  return (request) => {
    const { method, path } = request
    if (path !== '/api/search' && path !== '/api/members/search') return undefined
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' } }
    const answer = path === '/api/members/search' ? guard(request) : undefined
    if (answer && answer.status !== 200) return answer
    const found = searched(items, path, request.query)
    return typeof found === 'string'
      ? jsonAnswer(400, { code: 'InvalidParameterValue', description: found })
      : jsonAnswer(200, found, { 'content-type': 'application/geo+json' })
  }
}

/** Scenes all over the world, one a day. */
export function scatteredItems(): readonly Json[] {
  return Array.from({ length: SCENES }, (_, at) => {
    const west = -168 + ((at * 137.5) % 330)
    const south = -52 + ((at * 61) % 118)
    const id = `scene-${String(at + 1).padStart(2, '0')}`
    return {
      type: 'Feature',
      stac_version: '1.1.0',
      id,
      collection: 'scenes',
      ...within(west, south, west + 4, south + 3),
      properties: { title: `Scene ${at + 1}`, datetime: new Date(Date.UTC(2026, 0, 1) + at * DAY).toISOString() },
      assets: {},
      links: [link('self', `/api/items/${id}`), link('root', '/api', 'Meridian API')],
    }
  })
}

/** A page of the items, or what is wrong with the question. */
function searched(items: readonly Json[], path: string, query: URLSearchParams): Json | string {
  const [bbox, datetime, limit] = [query.get('bbox'), query.get('datetime'), query.get('limit') ?? String(DEFAULT_LIMIT)]
  const box = bbox?.split(',').map(Number)
  if (box && (box.length !== 4 || !box.every(Number.isFinite) || (box[1] ?? 0) > (box[3] ?? 0))) return 'bbox is not west,south,east,north'
  const span = datetime === null ? undefined : spanOf(datetime)
  if (datetime !== null && !span) return 'datetime is not a date-time or an interval of RFC 3339'
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > MOST) return `limit is not a number from 1 to ${MOST}`
  const start = Number(query.get('token') ?? '0')
  if (!Number.isInteger(start) || start < 0) return 'token is not one of this server'
  const found = items.filter((item) => (!box || overlaps(item, box)) && (!span || isWithin(item, span)))
  const features = found.slice(start, start + Number(limit))
  const page = (rel: string, token: number) => {
    const parameters = new URLSearchParams(query)
    parameters.set('token', String(token))
    return { rel, href: `${path}?${parameters}`, type: 'application/geo+json', method: 'GET' }
  }
  return {
    type: 'FeatureCollection',
    numberMatched: found.length,
    numberReturned: features.length,
    features,
    links: [
      link('root', '/api', 'Meridian API'),
      ...(start + features.length < found.length ? [page('next', start + features.length)] : []),
      ...(start > 0 ? [page('prev', Math.max(0, start - Number(limit)))] : []),
    ],
  }
}

type Span = readonly [from: number, to: number]

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

function spanOf(datetime: string): Span | undefined {
  const ends = datetime.split('/')
  const [from = '', to = from] = ends
  const isOpen = (end: string) => ends.length === 2 && (end === '..' || end === '')
  if (ends.length > 2 || (isOpen(from) && isOpen(to)) || ![from, to].every((end) => isOpen(end) || RFC3339.test(end))) return undefined
  const span: Span = [isOpen(from) ? Number.NEGATIVE_INFINITY : Date.parse(from), isOpen(to) ? Number.POSITIVE_INFINITY : Date.parse(to)]
  return span[0] <= span[1] ? span : undefined
}

function isWithin({ properties }: Json, [from, to]: Span): boolean {
  const time = Date.parse(String((properties as Json).datetime))
  return time >= from && time <= to
}

function overlaps({ bbox }: Json, [west = 0, south = 0, east = 0, north = 0]: readonly number[]): boolean {
  const [w = 0, s = 0, e = 0, n = 0] = bbox as readonly number[]
  return w <= east && e >= west && s <= north && n >= south
}
