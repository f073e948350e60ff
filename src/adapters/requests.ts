/** The requests of a library for a URL, a target, or an Asset or Link. All adapters use this module. */
import type { Anonymous, Auth } from '../auth/auth.ts'
import { below, givenTarget, hrefOf, isTarget, targetAddress } from '../auth/resource.ts'
import { TrustError } from '../errors.ts'
import { addressInAnyNetwork, isAddressProblem } from '../http/url.ts'
import { handedOver } from '../outputs/handed-over.ts'
import { isObject, type JsonObject, own, ownString, type StacDocument } from '../stac/document.ts'
import { hrefIn, readRefs, sameOrigin, type Target, type TargetOptions } from '../stac/target.ts'
import { isReference, type StacReference, targetOf } from './stac-js.ts'

/** An Asset or Link of a document, with an absolute URL. Its `auth:refs` need its own `auth:schemes`. */
export interface PlainReference {
  /** An absolute URL. */
  readonly href: string
  /** The relation of a Link. */
  readonly rel?: unknown
  /** Names of its schemes. */
  readonly 'auth:refs'?: unknown
  /** The schemes by name. */
  readonly 'auth:schemes'?: unknown
}

/**
 * The input of an adapter. A URL is the caller's own: its credential is the one with the narrowest matching `sendTo`. Targets, and Assets
 * and Links of stac-js or of a document, select a credential by their `auth:refs`.
 */
export type Given = string | URL | Target | StacReference | PlainReference

/** A request that a library sends itself. It contains secrets. */
export interface PeekedRequest {
  /** The URL, which may contain a secret. */
  readonly url: string
  /** The headers, which may contain secrets. */
  readonly headers: Readonly<Record<string, string>>
}

/** Requests what was given, and URLs below it. Nothing that depends on credentials is cached. */
export interface Requests {
  /** The absolute URL of what was given. */
  readonly url: string
  /** Sends a request to that URL or another one; the credential is selected for each URL. */
  readonly fetch: typeof globalThis.fetch
  /** Returns true for URLs on the same origin, for `s3:` in the same bucket. */
  covers(url: string): boolean
  /**
   * Returns the request to a URL (default: the given one) for a library that sends it itself and needs it synchronously; `undefined` for
   * another origin, and while something must be fetched or loaded. Call `auth.ready()` first. Not for libraries that follow URLs in files:
   * they send the headers to every host that a file names, as CesiumJS does for tilesets.
   *
   * Errors: `SCHEME_UNSUPPORTED` for a key in a header other than `Authorization` and `Cookie`, which the library would send to other hosts
   * on redirects; `URL_*`.
   */
  peek(url?: string): PeekedRequest | undefined
}

/** `parents`: documents whose schemes apply to an Asset or Link of stac-js. */
export interface GivenOptions extends Pick<TargetOptions, 'parents'>, Anonymous {}

/**
 * Returns the requests for what was given. For a library without an adapter, pass it `fetch`, or the result of `peek`.
 *
 * Errors: `TARGET_NOT_FOUND` for `undefined`, and for an Asset or Link with references whose document is missing; `URL_*`.
 *
 * @example const { url, fetch } = requestsFor(auth, assetOf(item, 'data'))
 */
export function requestsFor(auth: Auth, given: Given | undefined, options?: GivenOptions): Requests {
  const source = sourceOf(given, options)
  const anonymous: Anonymous = options?.anonymous ? { anonymous: options.anonymous } : {}
  if (typeof source === 'string') {
    return requests(
      source,
      (input, init) => auth.fetch(input, { ...anonymous, ...init }),
      (url) => auth.peek(url),
    )
  }
  const at = targetAddress(source)
  return requests(at, auth.fetchFor(source, anonymous), (url) => auth.peek(url === at ? source : below(source, url)))
}

function requests(at: string, fetch: Requests['fetch'], peek: (url: string) => ReturnType<Auth['peek']>): Requests {
  const covers = (url: string) => sameOrigin(at, url)
  return {
    url: at,
    fetch,
    covers,
    peek(url = at) {
      const request = covers(url) ? peek(url) : undefined
      return request && { url: request.url, headers: handedOver(request) }
    },
  }
}

/** Returns the target, or the URL if there is no target. Errors: `TARGET_NOT_FOUND`, `URL_*`. */
function sourceOf(given: Given | undefined, options?: GivenOptions): Target | string {
  if (typeof given === 'string' || given instanceof URL) return checkedUrl(String(given))
  if (given === undefined || isTarget(given)) return givenTarget(given)
  if (isReference(given)) {
    const target = targetOf(given, options)
    if (target) return target
  }
  return plainTarget(given as PlainReference)
}

/** Allows every origin; private networks are checked when a request is sent. */
const ANY = { has: () => true }

function checkedUrl(text: string): string {
  const url = addressInAnyNetwork(text, { secure: false, named: ANY, objects: true })
  if (isAddressProblem(url)) throw new TrustError(url.code, `the URL ${url.message}`, { hint: 'pass an absolute URL' })
  return hrefOf(url)
}

/** Returns the target of an Asset or Link without its document. Names in `auth:refs` must be in its own `auth:schemes`. */
function plainTarget(given: PlainReference): Target {
  const object: unknown = given
  const refs = readRefs(object, '')
  const isComplete = isObject(object) && ownString(object, 'href') !== undefined
  if (!isComplete || (refs.refs.length > 0 && !isObject(own(object, 'auth:schemes')))) return givenTarget(given as never)
  const href = hrefIn(object) ?? given.href
  const document = object as StacDocument
  return {
    kind: Object.hasOwn(object, 'rel') ? 'link' : 'asset',
    href,
    ...refs,
    pointer: '',
    scope: { document, at: '', parents: [] },
    object: object as JsonObject,
    refsOf: { object: object as JsonObject, pointer: '' },
  }
}
