import STACLayer from 'ol-stac'
import type { Auth } from 'stac-auth'
import { stacLayerOptions } from 'stac-auth/adapters/ol-stac'

/** A layer of OpenLayers for everything that a document shows; the document at `url` may be protected as well. */
export function documentLayer(auth: Auth, url: string, onError: (error: unknown) => void) {
  return new STACLayer({ url, ...stacLayerOptions(auth, { onError }) })
}
