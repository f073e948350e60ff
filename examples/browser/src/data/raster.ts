/** GeoTIFF files: as many of their pixels as a map can show. */
import { fromCustomClient } from 'geotiff'
import { type Auth, ProtocolError, type Target } from 'stac-auth'
import { tiffClient } from 'stac-auth/adapters/geotiff'
import { coloured, painted } from './ramp.ts'

export interface Raster {
  readonly canvas: HTMLCanvasElement
  /** West, south, east and north, in degrees. */
  readonly extent: readonly [number, number, number, number]
  readonly width: number
  readonly height: number
  readonly bands: number
}

/** Pixels on the longer side; of larger files an overview is read. */
const MOST = 1024
const DEGREES = 4326

/**
 * Reads a file in colour (three bands of bytes), or its first band in false colours.
 * Errors: those of `fetch`, `MEDIA_TYPE_UNSUPPORTED` for files that do not lie on degrees of WGS 84.
 */
export async function readRaster(auth: Auth, target: Target | undefined): Promise<Raster> {
  let cause: unknown
  const tiff = await fromCustomClient(tiffClient(auth, target, (error) => (cause = error))).catch((error: unknown) => {
    throw cause ?? error
  })
  const image = await tiff.getImage()
  const keys = image.getGeoKeys()
  if (keys?.GeographicTypeGeoKey !== DEGREES) {
    throw new ProtocolError('MEDIA_TYPE_UNSUPPORTED', 'this page draws files on degrees of WGS 84 (EPSG:4326) only', {
      hint: 'download the file instead',
    })
  }
  const [width, height, bands] = [image.getWidth(), image.getHeight(), image.getSamplesPerPixel()]
  const scale = Math.min(1, MOST / Math.max(width, height))
  const size = { width: Math.round(width * scale), height: Math.round(height * scale) }
  const rasters = await tiff.readRasters({ ...size, interleave: false, fillValue: 0 }).catch((error: unknown) => {
    throw cause ?? error
  })
  const [west = 0, south = 0, east = 0, north = 0] = image.getBoundingBox()
  return {
    canvas: drawn(rasters as unknown as readonly ArrayLike<number>[], size),
    extent: [west, south, east, north],
    width,
    height,
    bands,
  }
}

function drawn(
  [red = [], green, blue]: readonly ArrayLike<number>[],
  { width, height }: { readonly width: number; readonly height: number },
) {
  if (green && blue && red instanceof Uint8Array) return painted(width, height, (at) => [red[at] ?? 0, green[at] ?? 0, blue[at] ?? 0])
  return coloured({ width, height, numbers: red })
}
