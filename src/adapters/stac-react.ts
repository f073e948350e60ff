/** The hooks of stac-react with requests that the engine makes. */
import type { Auth } from '../auth/auth.ts'
import { requireOk } from '../http/body.ts'
import { isObject, type JsonObject, own } from '../stac/json.ts'
import { parseDocument } from '../stac/parse-document.ts'

/** A `QueryClient` of TanStack Query, as far as it matters here. */
interface Queries {
  setQueryDefaults(key: readonly unknown[], defaults: { readonly gcTime: number; readonly staleTime: number }): void
  setQueryData(key: readonly unknown[], data: unknown): unknown
}

/**
 * Prepares a `QueryClient` for the `StacApiProvider` of stac-react with this `apiUrl` and without `options`: every request of its hooks
 * is sent by the engine, judged by its own URL. Headers, which the provider would take, are given to no one: it adds them to
 * whatever a `next` link or an Item names, on any host, and shows them in the names of its queries.
 *
 * Headers that a page link asks for are left out, for a catalog has no say in them. Errors: for the landing page, which is read here,
 * those of `auth.fetch`, `HTTP_<status>`, `DOC_NOT_JSON` and others of `parseDocument`; later ones come from the hooks.
 *
 * @example createElement(StacApiProvider, { apiUrl, queryClient: await authorizedQueries(auth, apiUrl, new QueryClient()) }, page)
 */
export async function authorizedQueries<Client extends Queries>(auth: Auth, apiUrl: string, queries: Client): Promise<Client> {
  const key = ['stacApi', apiUrl, undefined]
  const api = await apiAt(auth, apiUrl)
  // Were it ever dropped or asked for again, stac-react would do that by itself, without the engine.
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

/** What the hooks ask for; values of the search form, or the body of a page link. */
type Payload = Readonly<Record<string, unknown>>

/** Has the methods that the hooks call on what stac-react makes of a landing page. */
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

/** The parameters of a search (STAC API, Item Search); what is empty is not sent. */
function payloadOf({ dateRange, ...rest }: Payload): Payload {
  const datetime = isObject(dateRange) ? intervalOf(dateRange) : undefined
  const payload = { ...rest, bbox: boxOf(rest.bbox), ...(datetime !== undefined && { datetime }) }
  return Object.fromEntries(
    Object.entries(payload).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  )
}

/** Two days, or instants; an open side is two dots. */
function intervalOf({ from, to }: JsonObject): string | undefined {
  const moment = (day: unknown, time: string) => (typeof day !== 'string' || day === '' ? '..' : day.includes('T') ? day : day + time)
  return from || to ? `${moment(from, 'T00:00:00Z')}/${moment(to, 'T23:59:59Z')}` : undefined
}

/** Corners that were drawn the other way round are put in order, as stac-react does. */
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
