/** The requests of STAC Browser (4.0 and 5.1): documents, images, maps and downloads. */
import type { Auth } from '../auth/auth.ts'
import { targetAddress } from '../auth/resource.ts'
import { isAuthError } from '../errors.ts'
import { objectUrl } from '../http/response.ts'
import { sameOrigin, type Target, targetsOf } from '../stac/target.ts'
import { canParseUrl } from '../text/can-parse-url.ts'
import { authorizeWith } from './axios.ts'
import { type StacLayerOptions, type StacLayerSettings, stacLayerOptions } from './ol-stac.ts'
import { requestsFor } from './requests.ts'
import { type StacEntity, targetOf } from './stac-js.ts'

/** The settings of STAC Browser that the adapter provides. */
export interface BrowserSettings {
  /**
   * An object that Vue observes: `Vue.observable({ version: 0 })`, since Vue 3 `reactive({ version: 0 })`. Its version increases when an
   * image is loaded and when `refresh` is called, so that components are drawn again.
   */
  readonly state?: { version: number }
  /** Called with errors of images, maps, `isReady` and `open`, which STAC Browser does not show. */
  readonly onError?: (error: unknown) => void
}

/** The requests of STAC Browser. All methods with a URL except `open` are synchronous, as computed properties of Vue are. */
export interface BrowserRequests {
  /** For `processSTAC`, which has every loaded document: remembers the references of its Assets and Links. Returns the document. */
  remember<Document>(document: Document): Document
  /** For `axios(options)` in `stacRequest`: returns options with which stac-auth sends the request. */
  authorized<Options extends { readonly url?: string }>(options: Options): Options
  /** For downloads, instead of `fetch`. */
  readonly fetch: typeof globalThis.fetch
  /** Returns true for a URL that `<img>` and links may be unable to open, because it has a credential or references. */
  needsFetch(url: string): boolean
  /** Returns true once it is known that the URL has a credential that needs no login, or is public. */
  isReady(url: string): boolean
  /**
   * Requests the URL, but not its content, for a user who wants to open it; false where that fails. What it lacks is then in
   * `auth.credentials.needs()` of `createLiveAuth`.
   */
  open(url: string): Promise<boolean>
  /** Returns the `src` of an image: the URL itself, or the URL of a loaded image; until then a transparent image. */
  imageUrl(url: string): string
  /** Completes the options of the map's layer; its `getSourceOptions` is called first. */
  layerOptions<Options extends StacLayerSettings>(options: Options): Options & Pick<StacLayerOptions, 'getSourceOptions'>
  /** Discards all images and the results of `isReady`. Call it when credentials change, after logins and logouts. */
  refresh(): void
}

/** A transparent image of one pixel. */
const TRANSPARENT = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='

/** Maximum number of cached images; STAC Browser shows fewer on a page. */
const MAX_IMAGES = 500

/** Maximum number of targets whose references are kept. */
const MAX_TARGETS = 100_000

/**
 * Returns the requests of a STAC Browser. A URL is requested by the references of the Asset or Link that has it, in any loaded document;
 * without references, with the credential whose `sendTo` contains it. `examples/stac-browser` shows the changes in STAC Browser.
 *
 * @example const requests = browserRequests(auth, { state: Vue.observable({ version: 0 }) })
 */
export function browserRequests(auth: Auth, { state = { version: 0 }, onError = () => {} }: BrowserSettings = {}): BrowserRequests {
  const targets = new KnownTargets()
  const images = new Map<string, string>()
  const ready = new Map<string, boolean>()
  const givenFor = (url: string) => targets.at(url) ?? url
  /** Reads the version, so that Vue draws the component again when the version changes. */
  const isObserved = () => state.version >= 0
  const needsFetch = (url: string) => isObserved() && IS_REMOTE.test(url) && isProtected(auth, givenFor(url))
  const fetchOf = (url: string) => requestsFor(auth, givenFor(url)).fetch

  async function isUsable(url: string): Promise<boolean> {
    const target = targets.at(url)
    if (target) return (await auth.explain(target)).refs.some(({ credential, code }) => credential !== undefined && code === undefined)
    const service = await auth.service(url)
    const status = (await auth.status()).find(({ credential }) => credential === service.credential)
    return status === undefined || status.state === 'valid' || status.refreshable === true
  }

  function noteReady(url: string): void {
    ready.set(url, true)
    state.version++
  }

  /** STAC Browser asks about every protected URL, so a missing credential is no error here: the request for the URL reports it. */
  function report(error: unknown): void {
    if (!isAuthError(error) || error.code !== 'NO_CREDENTIAL') onError(error)
  }

  async function load(url: string): Promise<void> {
    const shown = await objectUrl(fetchOf(url), url).catch((error: unknown) => {
      onError(error)
      return url
    })
    if (!images.has(url)) return URL.revokeObjectURL(shown)
    images.set(url, shown)
    state.version++
  }

  return {
    remember: (document) => {
      targets.add(document as StacEntity)
      return document
    },
    authorized: (options) => (options.url && IS_REMOTE.test(options.url) ? authorizeWith(auth, givenFor(options.url))(options) : options),
    fetch: (input, init) => fetchOf(input instanceof Request ? input.url : String(input))(input, init),
    needsFetch,
    isReady(url) {
      const known = isObserved() && ready.get(url)
      if (known !== undefined || !IS_REMOTE.test(url)) return Boolean(known)
      ready.set(url, false)
      isUsable(url)
        .then((isNow) => isNow && ready.has(url) && noteReady(url))
        .catch(report)
      return false
    },
    async open(url) {
      try {
        const { ok, body } = await fetchOf(url)(url)
        await body?.cancel()
        if (ok) noteReady(url)
        return ok
      } catch (error) {
        onError(error)
        return false
      }
    },
    imageUrl(url) {
      if (!needsFetch(url)) return url
      const shown = images.get(url)
      if (shown !== undefined) return shown
      images.set(url, TRANSPARENT)
      forgetOldest(images, MAX_IMAGES)
      void load(url)
      return TRANSPARENT
    },
    layerOptions: (options) => {
      const given = (url: string, reference?: Parameters<typeof targetOf>[0]) => {
        const target = targetOf(reference)
        const source = target && statesReferences(target) && requestsFor(auth, target).covers(url) ? target : givenFor(url)
        return IS_REMOTE.test(url) && isProtected(auth, source) ? source : undefined
      }
      const { getSourceOptions } = stacLayerOptions(auth, { onError, ...options, given })
      return { ...options, getSourceOptions }
    },
    refresh() {
      for (const shown of images.values()) URL.revokeObjectURL(shown)
      images.clear()
      ready.clear()
      state.version++
    },
  }
}

/** URLs that may need a credential. */
const IS_REMOTE = /^https?:/i

/** Returns false only if the request has no references, and the engine knows that it has no credential. */
function isProtected(auth: Auth, given: Target | string): boolean {
  if (typeof given === 'object' && given.refs.length > 0) return true
  return valueOr(false, () => {
    const request = auth.peek(given)
    return request === undefined || request.credential !== undefined
  })
}

/** Returns the other value when an error of ours is thrown. */
function valueOr<Value, Other>(other: Other, work: () => Value): Value | Other {
  try {
    return work()
  } catch (error) {
    if (isAuthError(error)) return other
    throw error
  }
}

function statesReferences({ refsOf }: Target): boolean {
  return Object.hasOwn(refsOf.object, 'auth:refs')
}

/** The Assets and Links of loaded documents that state references, by URL. */
class KnownTargets {
  readonly #targets = new Map<string, Target>()

  /** Adds the targets of a document. For a URL, a document on its own origin takes precedence over others. */
  add(document: StacEntity): void {
    const url = document.getAbsoluteUrl() ?? undefined
    for (const target of targetsOf(document.toJSON(), url === undefined ? {} : { url })) {
      const address = statesReferences(target) ? valueOr(undefined, () => targetAddress(target)) : undefined
      if (address === undefined || (isOwn(this.#targets.get(address), address) && !isOwn(target, address))) continue
      this.#targets.delete(address)
      this.#targets.set(address, target)
      forgetOldest(this.#targets, MAX_TARGETS)
    }
  }

  at(url: string): Target | undefined {
    if (!canParseUrl(url)) return undefined
    const { href, hash } = new URL(url)
    return this.#targets.get(hash ? href.slice(0, -hash.length) : href)
  }
}

function isOwn(target: Target | undefined, address: string): boolean {
  return target?.scope.url !== undefined && sameOrigin(target.scope.url, address)
}

function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
