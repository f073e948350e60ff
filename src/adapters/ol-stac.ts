/** The layer of ol-stac with requests that stac-auth sends. */
import type { Anonymous, Auth } from '../auth/auth.ts'
import { below } from '../auth/resource.ts'
import { NetworkError, ProtocolError } from '../errors.ts'
import { jsonOf, requireOk } from '../http/response.ts'
import { carriedHeaders } from '../outputs/handed-over.ts'
import type { Target } from '../stac/target.ts'
import { geoTiffSource, pictureLoader } from './openlayers.ts'
import { type GivenOptions, type PeekedRequest, type Requests, requestsFor } from './requests.ts'
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
  /** Completes the options of each source of the layer. */
  readonly getSourceOptions: (type: { toString(): string }, options: SourceOptions, reference: StacReference) => Promise<SourceOptions>
}

/** Your own functions for the layer, and a callback for errors. */
export interface StacLayerSettings extends GivenOptions {
  /** Called with each error of a request. */
  readonly onError?: OnError | undefined
  /**
   * False for ol-stac 1.0 and 1.1, whose GeoTIFF source does not accept a function for requests. The source gets headers, or the whole file
   * (up to 256 MiB) if it would send the headers to other hosts on redirects.
   */
  readonly tiffLoaders?: boolean | undefined
  /** Your own function; it is called first. */
  readonly getSourceOptions?: SourceFunction | null | undefined
  /** Returns the target or URL by which the URL of a source is requested, `undefined` for no credential; default: its Asset or Link. */
  readonly given?: ((url: string, reference: StacReference) => Target | string | undefined) | undefined
  /** Your own function for URLs that belong to another origin than their Asset or Link. */
  readonly httpRequestFn?: RequestFunction | null | undefined
}

/** URLs that may need a credential; others, such as `blob:`, belong to the page. */
const IS_REMOTE = /^(?:https?|s3):/i

/**
 * Returns options for the layer of ol-stac: GeoTIFF, Zarr, PMTiles, tiles and images are requested by the references of their Asset or
 * Link, and the document at `url` of the layer with the credential whose `sendTo` contains its URL. URLs on another origin than their
 * Asset's are requested without credentials. A Zarr store accepts headers only, so its scheme must allow reusing them. Errors are passed to
 * `onError`, and become errors of the layer.
 *
 * @example new STAC({ url, ...stacLayerOptions(auth) })
 */
export function stacLayerOptions(auth: Auth, settings: StacLayerSettings = {}): StacLayerOptions {
  const { onError, getSourceOptions, httpRequestFn } = settings
  return {
    httpRequestFn: reportingTo(onError, async (url, form = 'json', reference) => {
      const target = targetOf(reference, settings)
      const requests = target || IS_REMOTE.test(url) ? requestsFor(auth, target ?? url, settings) : undefined
      const isOurs = requests?.covers(url)
      if (httpRequestFn && !isOurs) return httpRequestFn(url, form, reference)
      const response = await (requests && isOurs ? requests.fetch(url) : fetch(url))
      requireOk(response, url)
      return form === 'text' ? response.text() : jsonOf(response, url)
    }),
    getSourceOptions: async (type, proposed, reference) => {
      const completed = await getSourceOptions?.(type as never, proposed as never, reference as never)
      const options = (completed ?? proposed) as SourceOptions
      const target = targetOf(reference, settings)
      const givenFor: GivenFor = (url) => {
        const given = settings.given ? settings.given(url, reference) : target
        return given !== undefined && requestsFor(auth, given).covers(url) ? given : undefined
      }
      if (String(type) === 'GeoTIFF' && settings.tiffLoaders === false) return plainTiffs(auth, options, givenFor, settings)
      return sourceOptions(auth, String(type), options, givenFor, settings)
    },
  }
}

/** Returns a function that also reports errors to `onError`: a layer reports its own only when it is part of a map. */
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

/** Returns the target or URL by which a URL is requested, if it is on the same origin. */
type GivenFor = (url: string) => Target | string | undefined

function sourceOptions(auth: Auth, type: string, options: SourceOptions, givenFor: GivenFor, settings: StacLayerSettings) {
  const { onError } = settings
  if (type === 'GeoTIFF') return { ...options, sources: tiffSources(auth, options.sources, givenFor, settings) }
  const url = String(options.url ?? '')
  const given = givenFor(url)
  if (given === undefined) return options
  if (type === 'GeoZarr') return zarrOptions(auth, options, url, given, settings)
  if (type.startsWith('PMTiles')) return { ...options, url: partsOf(requestsFor(auth, given, settings), url) }
  return { ...options, [type === 'ImageStatic' ? 'imageLoadFunction' : 'tileLoadFunction']: pictureLoader(auth, given, onError, settings) }
}

function listOf(sources: unknown): readonly SourceOptions[] {
  return Array.isArray(sources) ? sources : []
}

function tiffSources(auth: Auth, sources: unknown, givenFor: GivenFor, settings: StacLayerSettings): readonly unknown[] {
  return listOf(sources).map((source) => {
    const url = String(source.url ?? '')
    const given = givenFor(url)
    if (given === undefined) return source
    return { ...source, ...geoTiffSource(auth, typeof given === 'string' ? url : below(given, url), settings.onError, settings) }
  })
}

/** Maximum size in bytes of a file that is loaded whole. */
const MAX_WHOLE = 256 * 1024 * 1024

/** Returns GeoTIFF sources without functions: with headers that `fetch` drops on redirects to other hosts, or as a whole file. */
async function plainTiffs(auth: Auth, options: SourceOptions, givenFor: GivenFor, settings: StacLayerSettings): Promise<SourceOptions> {
  let headers: Readonly<Record<string, string>> = {}
  const plain = async (source: SourceOptions): Promise<SourceOptions> => {
    const url = String(source.url ?? '')
    const given = givenFor(url)
    if (given === undefined) return source
    const request = typeof given === 'string' ? auth.peek(url) : await auth.authorize(below(given, url), { anonymous: settings.anonymous })
    if (!request || carriedHeaders(request).length > 0) return wholeFile(requestsFor(auth, given, settings), url, source)
    headers = { ...headers, ...request.headers }
    return { ...source, url: request.url }
  }
  const sources = await Promise.all(listOf(options.sources).map(plain))
  return { ...options, sources, sourceOptions: { ...(options.sourceOptions as object | undefined), headers } }
}

async function wholeFile({ fetch }: Requests, url: string, { url: _, ...source }: SourceOptions): Promise<SourceOptions> {
  const response = await fetch(url)
  requireOk(response, url)
  const tooLarge = new NetworkError('RESPONSE_TOO_LARGE', `the file of ${new URL(url).host} exceeds the limit of 256 MiB`, {
    url,
    hint: 'use ol-stac 1.2 or newer, which reads parts of it',
  })
  if (Number(response.headers.get('content-length')) > MAX_WHOLE) {
    await response.body?.cancel()
    throw tooLarge
  }
  let left = MAX_WHOLE
  // Counted, because a server need not state the length.
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      left -= chunk.length
      if (left < 0) throw tooLarge
      controller.enqueue(chunk)
    },
  })
  const whole = new Response(response.body?.pipeThrough(counter)).blob()
  // Browsers report an error of their own for a stream that fails.
  const blob = await whole.catch((error: unknown) => Promise.reject(left < 0 ? tooLarge : error))
  return { ...source, blob }
}

/**
 * Returns the options of a Zarr store. The store accepts options of `fetch`, but no `fetch` function, and reads its headers for every
 * request. Redirects are refused, so that headers are not sent to another host.
 */
async function zarrOptions(
  auth: Auth,
  options: SourceOptions,
  at: string,
  given: Target | string,
  settings: StacLayerSettings,
): Promise<SourceOptions> {
  const how = { anonymous: settings.anonymous }
  const source = typeof given === 'string' ? at : below(given, at)
  const { url, headers } = typeof source === 'string' ? await requestOf(auth, source, how) : await auth.authorize(source, how)
  const isKnown = auth.peek(source) !== undefined
  const storeOptions = {
    /** The current headers where the engine knows them synchronously; after a logout there are none. */
    get headers() {
      return isKnown ? auth.peek(source)?.headers : headers
    },
    redirect: 'error',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  }
  return { ...options, url, storeOptions }
}

/** Returns the request for a URL; if it needs a token that is not known yet, a first request obtains it. */
async function requestOf(auth: Auth, url: string, how: Anonymous): Promise<PeekedRequest> {
  await auth.ready()
  const known = auth.peek(url)
  if (known) return known
  const response = await auth.fetch(url, how)
  await response.body?.cancel()
  return auth.peek(url) ?? { url, headers: {} }
}

/** Returns a `Source` of pmtiles. */
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
