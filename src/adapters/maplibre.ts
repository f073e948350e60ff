/** MapLibre maps whose protected requests stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { jsonOf, requireOk } from '../http/response.ts'
import { type Given, type GivenOptions, type PeekedRequest, type Requests, requestsFor } from './requests.ts'

/** A transformed request, as in MapLibre's `RequestParameters`; undefined leaves it unchanged. */
type Transformed = { url: string; headers?: Record<string, string> } | undefined

/** The parts of MapLibre's `RequestParameters` that are used here. */
interface MapRequest {
  readonly url: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A function for the option `transformRequest`, which the map calls for every URL. */
type Transform<Kind, Result> = (url: string, type?: Kind) => Result

/** Options of `mapRequests`. */
export interface MapOptions<Kind, Result> extends GivenOptions {
  /** Your own function, which may be asynchronous. It is called first, for every URL; its headers are kept. */
  readonly transformRequest?: Transform<Kind, Result> | null | undefined
}

/** The functions for a map. */
export interface MapRequests<Kind = string, Result = Transformed> {
  /**
   * The protocol name to register with `addProtocol`, which is shared by all maps of a page. Each call returns another name, so that a map
   * never uses the credentials of another one, and no style or catalog can refer to it.
   */
  readonly protocol: string
  /** For the option `transformRequest`: redirects URLs on the origin of what was given to `load`; other URLs stay unchanged. */
  readonly transformRequest: Transform<Kind, Result | Transformed>
  /** For `addProtocol(protocol, load)`. */
  readonly load: (request: MapRequest, abort: AbortController) => Promise<MapAnswer>
}

interface MapAnswer {
  readonly data: ArrayBuffer | string | object
  readonly cacheControl?: string
  readonly expires?: string
}

/**
 * Returns the functions for tiles, styles and other data of what is given: URLs, targets, Assets or Links. A URL on the origin of one of
 * them is requested by the first that matches. A transformed request could only carry headers, which MapLibre would send through redirects;
 * with a protocol stac-auth sends the requests, so every scheme works.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`; errors of `fetch` become errors of the map.
 *
 * @example
 * const { protocol, transformRequest, load } = mapRequests(auth, linkOf(item, 'xyz'))
 * addProtocol(protocol, load)
 * new maplibregl.Map({ container, style, transformRequest })
 */
export function mapRequests<Kind = string, Result = Transformed>(
  auth: Auth,
  given: Given | undefined | readonly (Given | undefined)[],
  { transformRequest, ...options }: MapOptions<Kind, Result> = {},
): MapRequests<Kind, Result> {
  const all = requestsOf(auth, given, options)
  const protocol = `stac-auth-${crypto.getRandomValues(new Uint32Array(3)).join('-')}`
  return {
    protocol,
    transformRequest: composed(transformRequest, (address) => {
      const at = all.findIndex(({ covers }) => covers(address))
      return at < 0 ? undefined : { url: `${protocol}://${at}/${address}` }
    }),
    load: async ({ url, type, headers }, { signal }) => {
      const [, name, at, address = ''] = /^([^:]*):\/\/(\d+)\/(.*)$/s.exec(url) ?? []
      const requests = name === protocol ? all[Number(at)] : undefined
      if (!requests) throw new TypeError(`the request failed: ${url} is not a URL from transformRequest`)
      return answerOf(await requests.fetch(address, { signal, ...(headers && { headers }) }), address, type)
    },
  }
}

/**
 * Returns a function for `transformRequest` of maps without protocols, such as Mapbox GL JS. The map sends the requests itself, so only
 * schemes with an `Authorization` header or a key in the URL work, and only those whose request is known synchronously: call `auth.ready()`
 * first, and `auth.authorize` where a token must be obtained.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`; the function throws `SCHEME_UNSUPPORTED` for a key in another header.
 *
 * @example new maplibregl.Map({ container, style, transformRequest: peekedTransform(auth, 'https://tiles.example/') })
 */
export function peekedTransform<Kind = string, Result = Transformed>(
  auth: Auth,
  given: Given | undefined | readonly (Given | undefined)[],
  { transformRequest, ...options }: MapOptions<Kind, Result> = {},
): Transform<Kind, Result | Transformed> {
  const all = requestsOf(auth, given, options)
  return composed(transformRequest, (address) => all.find(({ covers }) => covers(address))?.peek(address))
}

/** Returns a function that calls the caller's function first; its result is kept unless `ours` changes that URL. */
function composed<Kind, Result>(
  theirs: Transform<Kind, Result> | null | undefined,
  ours: (url: string) => PeekedRequest | { url: string } | undefined,
): Transform<Kind, Result | Transformed> {
  return (url, type) => {
    const after = (request: Transformed): Transformed => {
      const changed = ours(request?.url ?? url)
      if (!changed) return request
      return 'headers' in changed || request?.headers
        ? { ...request, url: changed.url, headers: { ...request?.headers, ...('headers' in changed && changed.headers) } }
        : { ...request, url: changed.url }
    }
    const transformed: unknown = theirs?.(url, type)
    return transformed instanceof Promise ? (transformed.then(after) as Result) : after(transformed as Transformed)
  }
}

function requestsOf(auth: Auth, given: Given | undefined | readonly (Given | undefined)[], options: GivenOptions): readonly Requests[] {
  return (Array.isArray(given) ? given : [given]).map((one: Given | undefined) => requestsFor(auth, one, options))
}

async function answerOf(response: Response, url: string, type: string | undefined): Promise<MapAnswer> {
  requireOk(response, url)
  const read = type === 'json' ? jsonOf(response, url) : type === 'string' ? response.text() : response.arrayBuffer()
  const data = (await read) as MapAnswer['data']
  const { headers } = response
  const [cacheControl, expires] = [headers.get('cache-control'), headers.get('expires')]
  return { data, ...(cacheControl !== null && { cacheControl }), ...(expires !== null && { expires }) }
}
