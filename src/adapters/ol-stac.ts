/** The layer of ol-stac with requests that stac-auth sends. */
import type { Auth } from '../auth/auth.ts'
import { below } from '../auth/resource.ts'
import { ProtocolError } from '../errors.ts'
import { jsonOf, requireOk } from '../http/message.ts'
import type { Target } from '../stac/target.ts'
import { geoTiffSource, pictureLoader } from './openlayers.ts'
import { type GivenOptions, type Requests, requestsFor } from './requests.ts'
import { type StacReference, targetOf } from './stac-js.ts'

type SourceOptions = Readonly<Record<string, unknown>>

type OnError = (error: unknown) => void

/** Requests a document; the reference is that of an Asset or Link, if ol-stac knows one. */
type RequestFunction = (url: string, form?: string, reference?: StacReference | null) => Promise<unknown>

/** Completes the options of a source. */
type SourceFunction = (type: never, options: never, reference: never) => unknown

/** Options of the layer of ol-stac. */
export interface StacLayerOptions {
  /** Requests of ol-stac itself: the document at `url` of the layer, TileJSON, GeoJSON, capabilities. */
  readonly httpRequestFn: RequestFunction
  readonly getSourceOptions: (type: { toString(): string }, options: SourceOptions, reference: StacReference) => Promise<SourceOptions>
}

/** Functions that the layer had before, and for whom errors are. */
export interface StacLayerSettings extends GivenOptions {
  readonly onError?: OnError | undefined
  /** Your own function; it is called first. */
  readonly getSourceOptions?: SourceFunction | null | undefined
  /** Your own function for URLs that belong to another origin than their Asset or Link. */
  readonly httpRequestFn?: RequestFunction | null | undefined
}

/** URLs of documents that credentials may be for; others, such as `blob:`, belong to the page. */
const IS_REMOTE = /^(?:https?|s3):/i

/**
 * Returns options for the layer of ol-stac: GeoTIFF, Zarr, PMTiles, tiles and images are requested by the references of the Asset or Link
 * that they belong to, and the document at `url` of the layer with the credential whose `sendTo` contains its URL. URLs on another origin
 * than their Asset's are requested without credentials. A Zarr store takes headers only, so its scheme must allow reusing them. Errors are
 * passed to `onError`, and become errors of the layer.
 *
 * @example new STAC({ url, ...stacLayerOptions(auth) })
 */
export function stacLayerOptions(auth: Auth, settings: StacLayerSettings = {}): StacLayerOptions {
  const { onError, getSourceOptions, httpRequestFn } = settings
  return {
    httpRequestFn: reportingTo(onError, async (url, form = 'json', reference) => {
      const target = targetOf(reference, settings)
      const requests = target || IS_REMOTE.test(url) ? requestsFor(auth, target ?? url) : undefined
      const isOurs = requests?.covers(url)
      if (httpRequestFn && !isOurs) return httpRequestFn(url, form, reference)
      const response = await (requests && isOurs ? requests.fetch(url) : fetch(url))
      requireOk(response, url)
      return form === 'text' ? response.text() : jsonOf(response, url)
    }),
    getSourceOptions: async (type, given, reference) => {
      const completed = await getSourceOptions?.(type as never, given as never, reference as never)
      const options = (completed ?? given) as SourceOptions
      const target = targetOf(reference, settings)
      return target ? sourceOptions(auth, String(type), options, target, onError) : options
    },
  }
}

/** Returns the function with its errors reported: a layer tells its own only when it is part of a map. */
function reportingTo(onError: OnError = () => {}, request: RequestFunction): RequestFunction {
  return async (...given) => {
    try {
      return await request(...given)
    } catch (error) {
      onError(error)
      throw error
    }
  }
}

function sourceOptions(auth: Auth, type: string, options: SourceOptions, target: Target, onError?: OnError) {
  const url = String(options.url ?? '')
  const requests = requestsFor(auth, target)
  if (type === 'GeoTIFF') return { ...options, sources: tiffSources(auth, options.sources, requests, target, onError) }
  if (!requests.covers(url)) return options
  if (type === 'GeoZarr') return zarrOptions(auth, options, below(target, url))
  if (type.startsWith('PMTiles')) return { ...options, url: partsOf(requests, url) }
  const load = pictureLoader(auth, target, onError)
  return { ...options, ...(type === 'ImageStatic' ? { imageLoadFunction: load } : { tileLoadFunction: load }) }
}

function tiffSources(auth: Auth, sources: unknown, { covers }: Requests, target: Target, onError?: OnError): readonly unknown[] {
  return (Array.isArray(sources) ? sources : []).map((source: SourceOptions) => {
    const url = String(source.url ?? '')
    return covers(url) ? { ...source, ...geoTiffSource(auth, below(target, url), onError) } : source
  })
}

/**
 * The Zarr store takes options of `fetch`, but no `fetch`, and reads its headers for every request. Redirects are refused, so that headers
 * are not sent to another host.
 */
async function zarrOptions(auth: Auth, options: SourceOptions, target: Target): Promise<SourceOptions> {
  const { url, headers } = await auth.authorize(target)
  const isKnown = auth.peek(target) !== undefined
  const storeOptions = {
    /** The headers of today where the engine knows them at once; after a logout there are none. */
    get headers() {
      return isKnown ? auth.peek(target)?.headers : headers
    },
    redirect: 'error',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  }
  return { ...options, url, storeOptions }
}

/** The `Source` interface of pmtiles. */
function partsOf({ fetch }: Requests, url: string) {
  return {
    getKey: () => url,
    getBytes: async (offset: number, length: number, signal?: AbortSignal) => {
      const response = await fetch(url, { headers: { range: `bytes=${offset}-${offset + length - 1}` }, ...(signal && { signal }) })
      if (response.status !== 206) throw new ProtocolError('RANGE_INVALID', `${new URL(url).host} answered ${response.status}`, { url })
      return { data: await response.arrayBuffer() }
    },
  }
}
