import { fromCustomClient } from 'geotiff'
import type { Auth } from 'stac-auth'
import { tiffClient } from 'stac-auth/adapters/geotiff'
import type { Given } from 'stac-auth/adapters/requests'

/** The pixels of a corner of a GeoTIFF, of which only the parts that are needed are loaded. */
export async function readCorner(auth: Auth, tiff: Given | undefined) {
  const image = await (await fromCustomClient(tiffClient(auth, tiff))).getImage()
  const [band] = await image.readRasters({ window: [0, 0, 8, 8], interleave: false })
  return band
}
