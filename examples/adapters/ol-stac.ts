import STACLayer from 'ol-stac'
import type { Auth } from 'stac-auth'
import { stacLayerOptions } from 'stac-auth/adapters/ol-stac'

/** A layer of OpenLayers for everything that an Item shows. */
export function itemLayer(auth: Auth, item: object, url: string, onError: (error: unknown) => void) {
  return new STACLayer({ data: item, url, ...stacLayerOptions(auth, onError) })
}
