/**
 * Recognizes providers: compares what a document says with what is known of providers. A recognized provider is a hint for people; no
 * credential is made of it, and nothing is sent.
 */
import { matchesAny, parseUrlPattern, type UrlPattern } from '../auth/url-pattern.ts'
import { urlOfHref } from '../http/url.ts'
import { isObject, own, ownString, type StacDocument, schemePlaces } from '../stac/document.ts'
import { catalogsOf, endpointsOf } from '../stac/file-places.ts'
import { bare, objectAddressOf } from '../stac/object-address.ts'
import { type Parent, type Target, type TargetOptions, targetsOf } from '../stac/target.ts'
import type { Bucket, Provider } from './provider.ts'
import { providers as all } from './registry.ts'

/** What is known of a URL besides itself. */
export interface UrlContext {
  /** URLs of its document and of the catalogs that this names. */
  readonly catalogs?: readonly string[]
  /** Endpoints of the services that may have an `s3:` URL. */
  readonly endpoints?: readonly string[]
}

/** The providers of a document. */
export interface Recognition {
  /** The provider of the catalog, by the URL of the document or by its links `self`, `root`, `parent` and `collection`. */
  readonly catalog?: Provider
  /** The providers whose issuers the schemes of the document name; they say nothing about where its files are. */
  readonly issuers: readonly Provider[]
  /** The targets that are files of a provider; in a bucket that several have, the one of the catalog first, then of the issuer. */
  readonly files: readonly { readonly target: Target; readonly providers: readonly Provider[] }[]
}

/** Compares URLs, issuers and documents with the providers of a registry. */
export interface Recognizer {
  /**
   * Returns the providers of a file: one or none for an `https:` URL; for `s3:` without a known endpoint all that have a bucket of that
   * name, the one of the catalog first.
   */
  file(url: string, context?: UrlContext): readonly Provider[]
  /** Returns the providers of a target, the most likely first; those of its document say which bucket or account is meant. */
  target(target: Target): readonly Provider[]
  /** Returns the provider of the URL of a catalog or an API. */
  catalog(url: string): Provider | undefined
  /** Returns the provider of an issuer, or of its discovery URL. */
  issuer(issuer: string): Provider | undefined
  /** Returns the providers of a document. */
  document(document: object, options?: TargetOptions): Recognition
}

/**
 * Returns a recognizer of these providers; default: all that the program knows.
 *
 * @example const { files } = createRecognizer().document(item, { url })
 */
export function createRecognizer(providers: readonly Provider[] = all): Recognizer {
  const known = providers.map(parsed)
  return {
    file: (url, { catalogs = [], endpoints } = {}) =>
      providersOfFile(known, url, { catalog: providerOfCatalogs(known, catalogs), endpoints }),
    target: (target) => recognizedTarget(known, target, issuersIn(known, target.scope.document), providerOfParents(known)),
    catalog: (url) => providerOfCatalogs(known, [url]),
    issuer: (issuer) => providers.find(({ recognizes }) => recognizes.issuers.some((one) => bare(one) === issuerOf(issuer))),
    document: (document, options) => recognizeDocument(known, document, options),
  }
}

interface Known {
  readonly provider: Provider
  readonly files: readonly UrlPattern[]
  readonly catalogs: readonly UrlPattern[]
}

function parsed(provider: Provider): Known {
  const patterns = (texts: readonly string[]) => texts.map((text) => parseUrlPattern(text))
  return { provider, files: patterns(provider.recognizes.files), catalogs: patterns(provider.recognizes.catalogs) }
}

function recognizeDocument(known: readonly Known[], document: object, options: TargetOptions = {}): Recognition {
  const files: { target: Target; providers: readonly Provider[] }[] = []
  const issuers = issuersIn(known, document)
  const providerOf = providerOfParents(known)
  for (const target of targetsOf(document, options)) {
    const providers = recognizedTarget(known, target, issuers, providerOf)
    if (providers.length > 0) files.push({ target, providers })
  }
  const catalog = providerOf({ document: document as StacDocument, ...(options.url !== undefined && { url: options.url }) })
  return { ...(catalog && { catalog }), issuers, files }
}

type ProviderOf = (parent: Parent) => Provider | undefined

/** Returns a function that returns the provider of a document; it looks at each once, because a catalog may have as many targets as links. */
function providerOfParents(known: readonly Known[]): ProviderOf {
  const found = new Map<object, Provider | undefined>()
  return ({ document, url }) => {
    if (!found.has(document)) found.set(document, providerOfCatalogs(known, catalogsOf(document, url)))
    return found.get(document)
  }
}

function recognizedTarget(
  known: readonly Known[],
  target: Target,
  issuers: readonly Provider[],
  providerOf: ProviderOf,
): readonly Provider[] {
  const { scope, href } = target
  const catalog = providerOf(scope) ?? scope.parents.map(providerOf).find((one) => one !== undefined)
  return providersOfFile(known, href, { catalog, issuers, endpoints: endpointsOf(target), base: scope.url })
}

interface FileContext {
  readonly catalog?: Provider | undefined
  readonly issuers?: readonly Provider[]
  readonly endpoints?: readonly string[] | undefined
  readonly base?: string | undefined
}

function providersOfFile(known: readonly Known[], href: string, context: FileContext): readonly Provider[] {
  const { catalog, issuers = [], endpoints = [], base } = context
  const url = urlOfHref(href, { objects: true, ...(base !== undefined && { base }) })
  if (!(url instanceof URL) || url.protocol === 'http:') return []
  const found = known.flatMap(({ provider, files }) => {
    const { buckets, filesOfCatalogsOnly } = provider.recognizes
    if (filesOfCatalogsOnly && provider !== catalog) return []
    return matchesAny(files, url) || buckets.some((bucket) => isIn(bucket, url, endpoints)) ? [provider] : []
  })
  const rank = (provider: Provider) => (provider === catalog ? 0 : issuers.includes(provider) ? 1 : 2)
  return found.sort((one, other) => rank(one) - rank(other))
}

/** Returns the provider of the first catalog that is one of a provider. */
function providerOfCatalogs(known: readonly Known[], catalogs: readonly string[]): Provider | undefined {
  for (const text of catalogs) {
    const url = urlOfHref(text, {})
    if (!(url instanceof URL)) continue
    const found = known.find((one) => matchesAny(one.catalogs, url))
    if (found) return found.provider
  }
  return undefined
}

/** Hosts of Amazon's service, also with a region; never a name that others can register. */
const AMAZON = /^https:\/\/s3(?:[.-][a-z\d-]+)?(?:\.dualstack\.[a-z\d-]+)?\.amazonaws\.com$/

/** True for a URL of an object in that bucket. */
function isIn({ name, endpoint }: Bucket, url: URL, endpoints: readonly string[]): boolean {
  // Most URLs need not be taken apart.
  if (!url.href.includes(name)) return false
  const address = objectAddressOf(url.href, endpoint === undefined ? [] : [{ endpoint }])
  if (address?.bucket !== name) return false
  const services = address.endpoint === '' ? endpoints.map(bare) : [address.endpoint]
  // A document that does not name the service may mean any with a bucket of that name.
  if (services.length === 0) return true
  return services.some((service) => (endpoint === undefined ? AMAZON.test(service) : service === bare(endpoint)))
}

/** Returns the providers whose issuers the schemes of a document name, also those of documents in a wrapper. */
function issuersIn(known: readonly Known[], document: object): readonly Provider[] {
  const found = new Set<Provider>()
  for (const { schemes } of placesIn(document)) {
    for (const scheme of isObject(schemes) ? Object.values(schemes) : []) {
      const issuer = ownString(scheme, 'openIdConnectUrl')
      if (issuer === undefined) continue
      for (const { provider } of known) {
        if (provider.recognizes.issuers.some((one) => bare(one) === issuerOf(issuer))) found.add(provider)
      }
    }
  }
  return [...found]
}

function placesIn(document: object) {
  const inner = own(document, 'features') ?? own(document, 'collections')
  const documents = [document, ...(Array.isArray(inner) ? inner : [])].filter(isObject)
  return documents.flatMap(schemePlaces)
}

/** Returns an issuer without its trailing slash and without what discovery appends. */
function issuerOf(text: string): string {
  return bare(text.replace(/\/\.well-known\/openid-configuration$/, ''))
}
