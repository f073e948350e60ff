import GeoTIFF from 'ol/source/GeoTIFF.js'
import XYZ from 'ol/source/XYZ.js'
import type { Auth } from 'stac-auth'
import { geoTiffSource, pictureLoader } from 'stac-auth/adapters/openlayers'
import type { Given } from 'stac-auth/adapters/requests'

/** A source for a GeoTIFF; others take the loader of pictures. */
export function cogSource(auth: Auth, tiff: Given | undefined) {
  return new GeoTIFF({ sources: [geoTiffSource(auth, tiff, console.error)] })
}

/** A source for tiles. */
export function tileSource(auth: Auth, tiles: Given | undefined, url: string) {
  return new XYZ({ url, tileLoadFunction: pictureLoader(auth, tiles, console.error) })
}
