import { addProtocol, Map as MapLibre, type StyleSpecification } from 'maplibre-gl'
import type { Auth, Target } from 'stac-auth'
import { mapRequests } from 'stac-auth/adapters/maplibre'

/** A map with protected tiles. */
export function mapOf(auth: Auth, tiles: Target | undefined, container: string, style: StyleSpecification) {
  const { protocol, transformRequest, load } = mapRequests(auth, tiles)
  addProtocol(protocol, load)
  return new MapLibre({ container, style, transformRequest })
}
