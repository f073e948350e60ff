/** Placeholders in the URL and the parameters of a signing call: parts of the URL to sign, and names from its document. */
import type { Resource } from '../../auth/strategy.ts'
import { pathProblem } from '../../auth/url-pattern.ts'
import { ConfigurationError, SelectionError } from '../../errors.ts'
import { percentEncoded } from '../../http/message.ts'
import { kindOf, ownString } from '../../stac/document.ts'
import { bare, objectAddressOf, serviceOf } from '../../stac/object-address.ts'
import { storagesOf } from '../../stac/storage.ts'
import { assetKeyOf, type Target } from '../../stac/target.ts'
import type { SignedUrlCredential } from './signed-url.ts'

/** The target to sign. */
export type SigningTarget = Resource & {
  /** For a URL below the asset, the rest of its path, percent-decoded; `url` is that of the asset. */
  readonly below?: string | undefined
}

/** The decoded parts of a URL; `account` only for Azure. */
interface Parts {
  readonly account?: string
  readonly bucket: string
  readonly key: string
}

const PARTS: Readonly<Record<string, keyof Parts>> = {
  account: 'account',
  bucket: 'bucket',
  container: 'bucket',
  key: 'key',
  blob: 'key',
}

/** Names from the document. The document chooses them, so they are sent only where the user writes the placeholder. */
const IN_DOCUMENT: Readonly<Record<string, (target: Target) => string | undefined>> = {
  item: ({ scope: { document } }) => (kindOf(document) === 'item' ? ownString(document, 'id') : undefined),
  collection: ({ scope: { document } }) => ownString(document, kindOf(document) === 'collection' ? 'id' : 'collection'),
  asset: assetKeyOf,
}

/** The placeholders of parameters; `path` is the part of the URL below the asset. */
const PLACEHOLDERS: readonly string[] = ['url', 'href', ...Object.keys(PARTS), 'path', ...Object.keys(IN_DOCUMENT)]

/** The placeholders of the path of the API: those whose values are one segment. */
const IN_PATH: readonly string[] = ['account', 'bucket', 'container', ...Object.keys(IN_DOCUMENT)]

const PLACEHOLDER = /\{([A-Za-z_]+)\}/g

/** As the URL parser writes it. */
const ENCODED_PLACEHOLDER = /%7B([A-Za-z_]+)%7D/gi

/** Returns the placeholders in a text of the credential. */
export function placeholdersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name)
}

/** Returns the placeholders in the path of the API. */
export function apiPlaceholders({ authorizationApi }: SignedUrlCredential): readonly string[] {
  return Array.from(authorizationApi.matchAll(ENCODED_PLACEHOLDER), ([, name = '']) => name)
}

/** True for a placeholder whose value comes from the document. */
export function isInDocument(name: string): boolean {
  return Object.hasOwn(IN_DOCUMENT, name)
}

/** Returns `CONFIG_INVALID` for a text with an unsupported placeholder. */
export function placeholderProblem(text: string, at: string): ConfigurationError | undefined {
  return unsupported(placeholdersIn(text), PLACEHOLDERS, at)
}

/** Returns `CONFIG_INVALID` for a URL of the API with a placeholder that its path cannot have, or with one elsewhere. */
export function apiProblem(credential: SignedUrlCredential): ConfigurationError | undefined {
  const at = '/authorizationApi'
  const { host, search } = new URL(credential.authorizationApi)
  for (const part of [host, search]) {
    const [name] = placeholdersIn(part.replace(ENCODED_PLACEHOLDER, '{$1}'))
    if (name === undefined) continue
    const where = part === host ? 'host' : 'query'
    const hint = part === host ? 'write the host' : `write it as a parameter: "query": { "${name}": "{${name}}" }`
    return new ConfigurationError('CONFIG_INVALID', `the ${where} of authorizationApi cannot have the placeholder "{${name}}"`, {
      pointer: at,
      hint,
    })
  }
  return unsupported(apiPlaceholders(credential), IN_PATH, at)
}

function unsupported(names: readonly string[], supported: readonly string[], at: string): ConfigurationError | undefined {
  const name = names.find((each) => !supported.includes(each))
  if (name === undefined) return undefined
  const hint = `use one of ${supported.map((each) => `{${each}}`).join(' ')}`
  return new ConfigurationError('CONFIG_INVALID', `unsupported placeholder "{${name}}"`, { pointer: at, hint })
}

/** Returns the text with its placeholders replaced; undefined when the target has no value for one. Errors: those of {@link urlValue}. */
export function filled(text: string, credential: SignedUrlCredential, resource: SigningTarget): string | undefined {
  const values = new Map(placeholdersIn(text).map((name) => [name, placeholderValue(name, credential, resource)]))
  if ([...values.values()].includes(undefined)) return undefined
  return text.replace(PLACEHOLDER, (_, name: string) => values.get(name) ?? '')
}

/**
 * Returns the URL of the API with the placeholders in its path replaced, each by one percent-encoded segment.
 *
 * Errors: `PARAM_UNBOUND` when the target has no value for one; `PARAM_FORBIDDEN` for a value that servers may read as another path.
 */
export function filledApi(credential: SignedUrlCredential, resource: SigningTarget): string {
  return credential.authorizationApi.replace(ENCODED_PLACEHOLDER, (_, name: string) => {
    const value = placeholderValue(name, credential, resource)
    const pointer = resource.target && { pointer: resource.target.pointer }
    if (value === undefined) {
      throw new SelectionError(
        'PARAM_UNBOUND',
        `the path of the signing API needs a value for "{${name}}", which this target does not have`,
        {
          ...pointer,
          hint: 'use the credential for other URLs, or write the value into its authorizationApi',
        },
      )
    }
    const segment = percentEncoded(value)
    if (value !== '' && pathProblem(segment) === undefined) return segment
    throw new SelectionError(
      'PARAM_FORBIDDEN',
      `the ${name} of this target cannot be part of the path of the signing API: servers may read it as another path`,
      pointer,
    )
  })
}

/** Returns the value of a placeholder, or undefined when the target has none. Errors: those of {@link urlValue}. */
export function placeholderValue(name: string, credential: SignedUrlCredential, resource: SigningTarget): string | undefined {
  const { target, below, url } = resource
  if (name === 'path') return below === undefined ? target && '' : below
  const inDocument = Object.hasOwn(IN_DOCUMENT, name) ? IN_DOCUMENT[name] : undefined
  if (inDocument) return target && (inDocument(target) || undefined)
  return urlValue(name, credential, { url, target })
}

/**
 * Returns the value of that name in the URL, or undefined when the URL has none.
 *
 * Errors: `PARAM_FORBIDDEN` when the document's storage extension names another bucket than the URL.
 */
export function urlValue(name: string, { endpoint, virtualHost }: SignedUrlCredential, { url, target }: SigningTarget): string | undefined {
  if (name === 'url' || name === 'href') return url
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
  const parts = part && partsOf(url, { endpoint, virtualHost })
  if (!part || !parts) return undefined
  for (const storage of target ? storagesOf(target) : []) {
    const { endpoint: stated } = serviceOf(storage)
    const split = stated === undefined ? undefined : objectAddressOf(url, [serviceOf(storage)])
    // Only for a storage at this URL: an object may have copies elsewhere.
    if (stated === undefined || split?.endpoint !== bare(stated)) continue
    const bucket = storage.bucket ?? split.bucket
    if (split.bucket === parts.bucket && bucket === parts.bucket) continue
    throw new SelectionError(
      'PARAM_FORBIDDEN',
      `the storage extension of the document names the bucket "${bucket}", the URL "${parts.bucket}": the catalog may not choose what is signed`,
      { pointer: `${target?.pointer}/href` },
    )
  }
  return parts[part]
}

/** True when the parts of a URL are known from the document's storage extension alone, which is not trusted. */
export function isStatedOnly(name: string, { url, target }: SigningTarget): boolean {
  if (!Object.hasOwn(PARTS, name) || !target) return false
  return storagesOf(target).some((storage) => objectAddressOf(url, [serviceOf(storage)]) !== undefined)
}

/** Google's XML API; paths below `/storage/v1/` belong to another API and do not start with a bucket. */
const GOOGLE = /^(?:(.+)\.)?storage\.googleapis\.com$/

const GOOGLE_JSON = /^\/(?:(?:download|upload)\/)?storage\/v1\//

const AZURE =
  /^([a-z0-9-]+)\.(?:z\d+\.)?(?:(?:blob|dfs)\.core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn)|(?:blob|dfs)\.storage\.azure\.net)$/

function partsOf(url: string, service: { readonly endpoint?: string; readonly virtualHost?: boolean }): Parts | undefined {
  const { hostname, pathname, protocol } = new URL(url)
  const own = service.endpoint === undefined ? undefined : objectAddressOf(url, [service])
  if (own && own.endpoint === bare(service.endpoint ?? '')) return decoded(own.bucket, own.path.replaceAll('+', ' '))
  const [first = '', ...rest] = pathname.slice(1).split('/')
  const [isGoogle, bucket] = protocol === 'https:' ? (GOOGLE.exec(hostname) ?? []) : []
  if (isGoogle) {
    if (bucket !== undefined) return decoded(bucket, pathname.slice(1))
    return GOOGLE_JSON.test(pathname) ? undefined : decoded(first, rest.join('/'))
  }
  const [isAzure, account] = protocol === 'https:' ? (AZURE.exec(hostname) ?? []) : []
  // A path of one segment is a blob of the root container (Azure Storage, "Naming and referencing containers").
  if (isAzure) return withAccount(account, rest.length > 0 ? decoded(first, rest.join('/')) : decoded('$root', first))
  const address = objectAddressOf(url)
  // S3 services decode a plus as a space.
  return address && decoded(address.bucket, address.path.replaceAll('+', ' '))
}

function withAccount(account: string | undefined, parts: Parts | undefined): Parts | undefined {
  return parts && account !== undefined ? { ...parts, account } : parts
}

/** Returns undefined for paths that are not UTF-8, and without a bucket. */
function decoded(bucket: string, path: string): Parts | undefined {
  try {
    return bucket === '' ? undefined : { bucket: decodeURIComponent(bucket), key: decodeURIComponent(path) }
  } catch {
    return undefined
  }
}
