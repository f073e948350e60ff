/** MapLibre maps whose protected requests stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { jsonOf, requireOk } from '../http/message.ts'
import { sameOrigin, type Target } from '../stac/target.ts'

/** The parts of MapLibre's `RequestParameters` that are used here. */
interface MapRequest {
  readonly url: string
  readonly type?: string
}

export interface MapRequests {
  /**
   * The protocol name to register with `addProtocol`, which is shared by all maps of a page. Each call returns another name, so that a map
   * never uses the credentials of another one, and no style or catalog can refer to it.
   */
  readonly protocol: string
  /** For the option `transformRequest`: redirects URLs on the origin of a target to `load`; other URLs stay unchanged. */
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
 * Returns what a map needs for tiles, styles and other data of these targets. Each URL on the origin of a target is requested by the
 * references of the first target that fits. A transformed request could only carry headers, which MapLibre would send through redirects;
 * with a protocol stac-auth sends the requests, so every scheme works.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`; errors of `fetch` become errors of the map.
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
      if (!fetch) throw new TypeError(`the request failed: ${url} is not a URL from transformRequest`)
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
