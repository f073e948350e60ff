/** Loaders for sources of OpenLayers whose requests the engine makes. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { requireOk } from '../http/body.ts'
import type { Target } from '../stac/target.ts'

/** One of the `sources` of OpenLayers's `GeoTIFF` source. */
export interface GeoTiffSource {
  readonly url: string
  readonly loader: (url: string, headers: HeadersInit, signal: AbortSignal) => Promise<Response>
}

/** The `Image` or `ImageTile` of OpenLayers, as far as it matters here. */
interface Picture {
  getImage(): HTMLImageElement
  /** Tiles have one, images do not. */
  setState?: (state: number) => void
}

/** OpenLayers's `TileState.ERROR`; its `ImageState.ERROR` is the same number. */
const ERROR = 3

/**
 * One of the `sources` of OpenLayers's `GeoTIFF` source. Errors: `TARGET_NOT_FOUND`, `URL_*`. Those of `fetch` are told to `onError`, for
 * the source only says that a request failed.
 *
 * @example const source = new GeoTIFF({ sources: [geoTiffSource(auth, assetOf(item, 'visual'))] })
 */
export function geoTiffSource(auth: Auth, target: Target | undefined, onError: (error: unknown) => void = () => {}): GeoTiffSource {
  const fetch = auth.fetchFor(target)
  return {
    url: targetAddress(target),
    loader: (url, headers, signal) =>
      fetch(url, { headers, signal }).catch((error: unknown) => {
        onError(error)
        throw error
      }),
  }
}

/**
 * The `tileLoadFunction` of tiled sources (XYZ, WMTS, WMS) and the `imageLoadFunction` of pictures: each URL is judged by itself,
 * by the references of the target. What fails is told to `onError` (errors of `fetch`, `HTTP_<status>`) and shown as a missing picture.
 *
 * @example new XYZ({ url, tileLoadFunction: pictureLoader(auth, linkOf(item, 'xyz')) })
 */
export function pictureLoader(
  auth: Auth,
  target: Target | undefined,
  onError: (error: unknown) => void = () => {},
): (picture: object, address: string) => void {
  const fetch = auth.fetchFor(target)
  const load = async (image: HTMLImageElement, address: string) => {
    const response = await fetch(address)
    requireOk(response, address)
    const url = URL.createObjectURL(await response.blob())
    const free = () => URL.revokeObjectURL(url)
    image.addEventListener('load', free, { once: true })
    image.addEventListener('error', free, { once: true })
    image.src = url
  }
  return (given, address) => {
    const picture = given as Picture
    const image = picture.getImage()
    load(image, address).catch((error: unknown) => {
      if (picture.setState) picture.setState(ERROR)
      else image.dispatchEvent(new Event('error'))
      onError(error)
    })
  }
}
