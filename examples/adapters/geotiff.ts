import { fromCustomClient } from 'geotiff'
import type { Auth, Target } from 'stac-auth'
import { tiffClient } from 'stac-auth/adapters/geotiff'

/** The pixels of a corner of a GeoTIFF, of which only the parts that are needed are loaded. */
export async function readCorner(auth: Auth, tiff: Target | undefined) {
  const image = await (await fromCustomClient(tiffClient(auth, tiff))).getImage()
  const [band] = await image.readRasters({ window: [0, 0, 8, 8], interleave: false })
  return band
}
