/** The layer of ol-stac with requests that stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { below, targetAddress } from '../auth/resource.ts'
import { ProtocolError } from '../errors.ts'
import { jsonOf, requireOk } from '../http/message.ts'
import { sameOrigin, type Target } from '../stac/target.ts'
import { geoTiffSource, pictureLoader } from './openlayers.ts'
import { type StacReference, targetOf } from './stac-js.ts'

type SourceOptions = Readonly<Record<string, unknown>>

/** Options of the layer of ol-stac. */
export interface StacLayerOptions {
  /** Documents that ol-stac requests itself: TileJSON, GeoJSON, capabilities. */
  readonly httpRequestFn: (url: string, form?: string, reference?: StacReference | null) => Promise<unknown>
  readonly getSourceOptions: (type: { toString(): string }, options: SourceOptions, reference: StacReference) => Promise<SourceOptions>
}

/**
 * Returns options for the layer of ol-stac: GeoTIFF, Zarr, PMTiles, tiles and images are requested by the references of the asset or link
 * that they belong to. URLs on another origin than the asset's are requested without credentials. A Zarr store takes headers once, when it
 * is opened, so its scheme must allow reusing them. Errors are passed to `onError`, or become errors of the layer.
 *
 * @example new STAC({ data, url, ...stacLayerOptions(auth) })
 */
export function stacLayerOptions(auth: Auth, onError?: (error: unknown) => void): StacLayerOptions {
  return {
    httpRequestFn: async (url, form = 'json', reference) => {
      const target = targetOf(reference)
      const response = await (belongsTo(target, url) ? auth.fetchFor(target)(url) : fetch(url))
      requireOk(response, url)
      return form === 'text' ? response.text() : jsonOf(response, url)
    },
    getSourceOptions: async (type, options, reference) => {
      const target = targetOf(reference)
      return target ? sourceOptions(auth, String(type), options, target, onError) : options
    },
  }
}

function sourceOptions(auth: Auth, type: string, options: SourceOptions, target: Target, onError?: (error: unknown) => void) {
  const url = String(options.url ?? '')
  if (type === 'GeoTIFF') return { ...options, sources: tiffSources(auth, options.sources, target, onError) }
  if (!belongsTo(target, url)) return options
  if (type === 'GeoZarr') return zarrOptions(auth, options, below(target, url))
  if (type.startsWith('PMTiles')) return { ...options, url: partsOf(auth, target, url) }
  const load = pictureLoader(auth, target, onError)
  return { ...options, ...(type === 'ImageStatic' ? { imageLoadFunction: load } : { tileLoadFunction: load }) }
}

function tiffSources(auth: Auth, sources: unknown, target: Target, onError?: (error: unknown) => void): readonly unknown[] {
  return (Array.isArray(sources) ? sources : []).map((source: SourceOptions) => {
    const url = String(source.url ?? '')
    return belongsTo(target, url) ? { ...source, ...geoTiffSource(auth, below(target, url), onError) } : source
  })
}

/** The Zarr store takes options of `fetch`, but no `fetch`. Redirects are refused, so that headers are not sent to another host. */
async function zarrOptions(auth: Auth, options: SourceOptions, target: Target): Promise<SourceOptions> {
  const { url, headers } = await auth.authorize(target)
  return { ...options, url, storeOptions: { headers, redirect: 'error', credentials: 'omit', referrerPolicy: 'no-referrer' } }
}

/** The `Source` interface of pmtiles. */
function partsOf(auth: Auth, target: Target, url: string) {
  const fetch = auth.fetchFor(target)
  return {
    getKey: () => url,
    getBytes: async (offset: number, length: number, signal?: AbortSignal) => {
      const response = await fetch(url, { headers: { range: `bytes=${offset}-${offset + length - 1}` }, ...(signal && { signal }) })
      if (response.status !== 206) throw new ProtocolError('RANGE_INVALID', `${new URL(url).host} answered ${response.status}`, { url })
      return { data: await response.arrayBuffer() }
    },
  }
}

/** Returns the origin of a URL template: braces occur only after the origin. */
function belongsTo(target: Target | undefined, url: string): boolean {
  return target !== undefined && sameOrigin(targetAddress(target), url)
}
