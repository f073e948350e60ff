/** Maps of MapLibre whose protected requests the engine makes. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { jsonOf, requireOk } from '../http/body.ts'
import { sameOrigin } from '../stac/scope.ts'
import type { Target } from '../stac/target.ts'

/** MapLibre's `RequestParameters`, as far as it matters here. */
interface MapRequest {
  readonly url: string
  readonly type?: string
}

export interface MapRequests {
  /**
   * The name to give to `addProtocol`, which all maps of a page share. Each call has its own, so that no map is answered by the engine of
   * another one, and that no style or catalog can name it.
   */
  readonly protocol: string
  /** For the option of that name: leads URLs on the origin of a target to `load`, leaves all others alone. */
  readonly transformRequest: (url: string) => { url: string } | undefined
  /** For `addProtocol(protocol, load)`. */
  readonly load: (request: MapRequest, abort: AbortController) => Promise<MapAnswer>
}

interface MapAnswer {
  readonly data: ArrayBuffer | string | object
  readonly cacheControl?: string
  readonly expires?: string
}

/**
 * What a map needs for tiles, styles and other data of these targets: each URL on the origin of one of them is asked for by its
 * references (those of the first that fits), judged by itself. A transformed request could only carry headers, and MapLibre would
 * take them along through redirects; a protocol leaves the sending to the engine, so every scheme works.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`; those of `fetch` come as error of the map.
 *
 * @example
 * const { protocol, transformRequest, load } = mapRequests(auth, linkOf(item, 'xyz'))
 * addProtocol(protocol, load)
 * new Map({ container, style, transformRequest })
 */
export function mapRequests(auth: Auth, ...targets: readonly (Target | undefined)[]): MapRequests {
  const addresses = targets.map(targetAddress)
  const fetches = targets.map((target) => auth.fetchFor(target))
  const protocol = `stac-auth-${crypto.getRandomValues(new Uint32Array(3)).join('-')}`
  return {
    protocol,
    transformRequest: (url) => {
      const at = addresses.findIndex((address) => sameOrigin(address, url))
      return at < 0 ? undefined : { url: `${protocol}://${at}/${url}` }
    },
    load: async ({ url, type }, { signal }) => {
      const [, own, at, address = ''] = /^([^:]*):\/\/(\d+)\/(.*)$/s.exec(url) ?? []
      const fetch = own === protocol ? fetches[Number(at)] : undefined
      if (!fetch) throw new TypeError(`not a URL of transformRequest: ${url}`)
      return answerOf(await fetch(address, { signal }), address, type)
    },
  }
}

async function answerOf(response: Response, url: string, type: string | undefined): Promise<MapAnswer> {
  requireOk(response, url)
  const read = type === 'json' ? jsonOf(response, url) : type === 'string' ? response.text() : response.arrayBuffer()
  const data = (await read) as MapAnswer['data']
  const { headers } = response
  const [cacheControl, expires] = [headers.get('cache-control'), headers.get('expires')]
  return { data, ...(cacheControl !== null && { cacheControl }), ...(expires !== null && { expires }) }
}
