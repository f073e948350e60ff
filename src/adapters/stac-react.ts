/** The hooks of stac-react with requests that stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { requireOk } from '../http/response.ts'
import { isObject, type JsonObject, own } from '../stac/document.ts'
import { parseDocument } from '../stac/parse-document.ts'

/** The parts of TanStack Query's `QueryClient` that are used here. */
interface Queries {
  setQueryDefaults(key: readonly unknown[], defaults: { readonly gcTime: number; readonly staleTime: number }): void
  setQueryData(key: readonly unknown[], data: unknown): unknown
}

/**
 * Prepares a `QueryClient` for the `StacApiProvider` of stac-react with this `apiUrl` and without `options`. stac-auth sends each request
 * of its hooks, with credentials selected by its own URL. The provider also accepts headers, but it sends them to every URL in a `next`
 * link or Item, on any host, and shows them in its query keys.
 *
 * Headers in a `next` link are ignored, because a catalog must not set headers. Errors: for the landing page, which is read here, errors
 * of `auth.fetch`, `HTTP_<status>`, `DOC_NOT_JSON` and other errors of `parseDocument`; later errors are reported by the hooks.
 *
 * @example createElement(StacApiProvider, { apiUrl, queryClient: await authorizedQueries(auth, apiUrl, new QueryClient()) }, page)
 */
export async function authorizedQueries<Client extends Queries>(auth: Auth, apiUrl: string, queries: Client): Promise<Client> {
  if (typeof apiUrl !== 'string') throw new TypeError('authorizedQueries needs a URL as a string: the apiUrl of the StacApiProvider')
  const key = ['stacApi', apiUrl, undefined]
  const api = await apiAt(auth, apiUrl)
  // If the query were evicted or refetched, stac-react would send the request itself, without credentials.
  queries.setQueryDefaults(key, { gcTime: Number.POSITIVE_INFINITY, staleTime: Number.POSITIVE_INFINITY })
  queries.setQueryData(key, api)
  return queries
}

async function apiAt(auth: Auth, apiUrl: string): Promise<AuthorizedApi> {
  const response = await auth.fetch(apiUrl)
  requireOk(response, apiUrl)
  const links = own(parseDocument(new Uint8Array(await response.arrayBuffer())), 'links')
  const posts = Array.isArray(links) && links.some((link) => isObject(link) && link.rel === 'search' && link.method === 'POST')
  return new AuthorizedApi(auth, (response.url || apiUrl).replace(/\/$/, ''), posts)
}

/** The query parameters of the hooks: values of the search form, or the body of a `next` link. */
type Payload = Readonly<Record<string, unknown>>

/** A landing page with the methods that the hooks call. */
class AuthorizedApi {
  readonly baseUrl: string
  readonly #auth: Auth
  readonly #posts: boolean

  constructor(auth: Auth, baseUrl: string, posts: boolean) {
    this.baseUrl = baseUrl
    this.#auth = auth
    this.#posts = posts
  }

  get(href: string): Promise<Response> {
    return this.#auth.fetch(href)
  }

  getCollections(): Promise<Response> {
    return this.get(`${this.baseUrl}/collections`)
  }

  getCollection(id: string): Promise<Response> {
    return this.get(`${this.baseUrl}/collections/${encodeURIComponent(id)}`)
  }

  search(form: Payload): Promise<Response> {
    const payload = payloadOf(form)
    if (!this.#posts) return this.get(`${this.baseUrl}/search?${queryOf(payload)}`)
    const headers = { 'content-type': 'application/json' }
    return this.#auth.fetch(`${this.baseUrl}/search`, { method: 'POST', headers, body: JSON.stringify(payload) })
  }
}

/** Returns the parameters of a search (STAC API, Item Search); empty ones are omitted. */
function payloadOf({ dateRange, ...rest }: Payload): Payload {
  const datetime = isObject(dateRange) ? intervalOf(dateRange) : undefined
  const payload = { ...rest, bbox: boxOf(rest.bbox), ...(datetime !== undefined && { datetime }) }
  return Object.fromEntries(
    Object.entries(payload).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  )
}

/** Returns an interval of two dates or date-times with `..` for an open end; `undefined` without dates. */
function intervalOf({ from, to }: JsonObject): string | undefined {
  const moment = (day: unknown, time: string) => (typeof day !== 'string' || day === '' ? '..' : day.includes('T') ? day : day + time)
  return from || to ? `${moment(from, 'T00:00:00Z')}/${moment(to, 'T23:59:59Z')}` : undefined
}

/** Sorts the corners of a bounding box, as stac-react does. */
function boxOf(bbox: unknown): unknown {
  if (!Array.isArray(bbox) || bbox.length !== 4) return bbox
  const [west, south, east, north] = bbox
  return [Math.min(west, east), Math.min(south, north), Math.max(west, east), Math.max(south, north)]
}

function queryOf({ sortby, ...payload }: Payload): URLSearchParams {
  const query = new URLSearchParams(Object.entries(payload).map(([name, value]) => [name, String(value)]))
  if (Array.isArray(sortby))
    query.set('sortby', sortby.map(({ field, direction }) => `${direction === 'asc' ? '+' : '-'}${field}`).join(','))
  return query
}
