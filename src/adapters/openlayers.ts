/** Loaders for OpenLayers sources whose requests stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { isNot, objectUrl } from '../http/response.ts'
import { type Given, type GivenOptions, requestsFor } from './requests.ts'

/** A member of `sources` of the OpenLayers `GeoTIFF` source. */
export interface GeoTiffSource {
  /** The URL of the file. */
  readonly url: string
  /** Sends the authorized requests. */
  readonly loader: (url: string, headers: HeadersInit, signal: AbortSignal) => Promise<Response>
}

/** The parts of OpenLayers' `Image` and `ImageTile` that are used here. */
interface Picture {
  getImage(): HTMLImageElement
  /** Tiles have this method, images do not. */
  setState?: (state: number) => void
}

/** Options of load functions for tiles and pictures. */
export interface PictureOptions extends GivenOptions {
  /** Your own function for URLs on other origins; without it they are requested like the others. */
  readonly load?: ((picture: never, address: string) => void) | undefined
}

/** `TileState.ERROR` of OpenLayers, equal to `ImageState.ERROR`. */
const ERROR = 3

/**
 * Returns a member of `sources` of the OpenLayers `GeoTIFF` source, for a URL, a target, or an Asset or Link.
 *
 * Errors: `TARGET_NOT_FOUND`, `URL_*`. Errors of `fetch` are passed to `onError`, because the source reports only that a request failed.
 *
 * @example const source = new GeoTIFF({ sources: [geoTiffSource(auth, assetOf(item, 'visual'))] })
 */
export function geoTiffSource(
  auth: Auth,
  given: Given | undefined,
  onError: (error: unknown) => void = () => {},
  options?: GivenOptions,
): GeoTiffSource {
  const { url, fetch } = requestsFor(auth, given, options)
  return {
    url,
    loader: (tileUrl, headers, signal) =>
      fetch(tileUrl, { headers, signal }).catch((error: unknown) => {
        onError(error)
        throw error
      }),
  }
}

/**
 * Returns a function for `tileLoadFunction` of tiled sources (XYZ, WMTS, WMS) and `imageLoadFunction` of image sources. Each URL is
 * requested by what is given (a URL, a target, or an Asset or Link), if the credential's `sendTo` contains it. Errors (of `fetch`,
 * `HTTP_<status>`, `RESPONSE_INVALID`) are passed to `onError`, and the image is missing.
 *
 * @example new XYZ({ url, tileLoadFunction: pictureLoader(auth, linkOf(item, 'xyz')) })
 */
export function pictureLoader(
  auth: Auth,
  source: Given | undefined,
  onError: (error: unknown) => void = () => {},
  { load: others, ...options }: PictureOptions = {},
): (picture: object, address: string) => void {
  const { fetch, covers } = requestsFor(auth, source, options)
  const load = async (image: HTMLImageElement, address: string) => {
    const url = await objectUrl(fetch, address)
    const ended = ({ type }: Event) => {
      URL.revokeObjectURL(url)
      // A WMS reports its errors with the status 200.
      if (type === 'error') onError(isNot('a picture', address))
    }
    image.addEventListener('load', ended, { once: true })
    image.addEventListener('error', ended, { once: true })
    image.src = url
  }
  return (given, address) => {
    if (others && !covers(address)) {
      others(given as never, address)
      return
    }
    const picture = given as Picture
    const image = picture.getImage()
    load(image, address).catch((error: unknown) => {
      if (picture.setState) picture.setState(ERROR)
      else image.dispatchEvent(new Event('error'))
      onError(error)
    })
  }
}
