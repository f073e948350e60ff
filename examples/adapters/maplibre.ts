import { addProtocol, Map as MapLibre, type MapOptions, removeProtocol } from 'maplibre-gl'
import type { Auth } from 'stac-auth'
import { mapRequests } from 'stac-auth/adapters/maplibre'
import type { Given } from 'stac-auth/adapters/requests'

/** A map with protected tiles; a `transformRequest` among its options is called first. */
export function mapOf(auth: Auth, tiles: Given | undefined, options: MapOptions) {
  const { protocol, transformRequest, load } = mapRequests(auth, tiles, { transformRequest: options.transformRequest })
  addProtocol(protocol, load)
  const map = new MapLibre({ ...options, transformRequest })
  map.on('remove', () => removeProtocol(protocol))
  return map
}
