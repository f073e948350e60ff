/**
 * Values for a signing call from the URL that is to be signed: its bucket, key and the like, as its own host splits it. The storage
 * extension of a document decides nothing: where it splits the URL in another way, another object would be signed than the URL names.
 */
import type { Resource } from '../../auth/strategy.ts'
import { SelectionError } from '../../errors.ts'
import { bare, objectAddressOf, serviceOf } from '../../stac/object-address.ts'
import { storagesOf } from '../../stac/storage.ts'
import type { SignedUrlCredential } from './credential.ts'

/** The parts of a URL, decoded; `account` only for Azure. */
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

/** What may stand between braces in `parameters`. */
export const PLACEHOLDERS: readonly string[] = ['url', 'href', ...Object.keys(PARTS)]

const PLACEHOLDER = /\{([A-Za-z_]+)\}/g

/** The names between braces in a text of `parameters`. */
export function placeholdersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name)
}

/** The text with its placeholders replaced; undefined when the URL has no value for one. Errors: those of {@link urlValue}. */
export function filled(text: string, credential: SignedUrlCredential, resource: Resource): string | undefined {
  const values = new Map(placeholdersIn(text).map((name) => [name, urlValue(name, credential, resource)]))
  if ([...values.values()].includes(undefined)) return undefined
  return text.replace(PLACEHOLDER, (_, name: string) => values.get(name) ?? '')
}

/**
 * The value of that name, or undefined when the URL has none.
 *
 * Errors: `PARAM_FORBIDDEN` where the document's storage extension splits the URL in another way than its host.
 */
export function urlValue(name: string, { endpoint, virtualHost }: SignedUrlCredential, { url, target }: Resource): string | undefined {
  if (name === 'url' || name === 'href') return url
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
  const parts = part && partsOf(url, { endpoint, virtualHost })
  if (!part || !parts) return undefined
  for (const storage of target ? storagesOf(target) : []) {
    const { endpoint: stated } = serviceOf(storage)
    const split = stated === undefined ? undefined : objectAddressOf(url, [serviceOf(storage)])
    // Only of a storage at this very URL: an object may have copies elsewhere.
    if (stated === undefined || split?.endpoint !== bare(stated)) continue
    const bucket = storage.bucket ?? split.bucket
    if (split.bucket === parts.bucket && bucket === parts.bucket) continue
    throw new SelectionError(
      'PARAM_FORBIDDEN',
      `the storage extension of the document says bucket "${bucket}", the URL says "${parts.bucket}": the catalog may not choose what is signed`,
      { pointer: `${target?.pointer}/href` },
    )
  }
  return parts[part]
}

/** True when the parts of a URL are known by the document's storage extension alone, which does not count. */
export function isStatedOnly(name: string, { url, target }: Resource): boolean {
  if (!Object.hasOwn(PARTS, name) || !target) return false
  return storagesOf(target).some((storage) => objectAddressOf(url, [serviceOf(storage)]) !== undefined)
}

/** Google's XML API; below `/storage/v1/` is another one, whose paths name no bucket first. */
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
  // Object stores of Amazon's kind read a plus as a space.
  return address && decoded(address.bucket, address.path.replaceAll('+', ' '))
}

function withAccount(account: string | undefined, parts: Parts | undefined): Parts | undefined {
  return parts && account !== undefined ? { ...parts, account } : parts
}

/** Undefined for what is no UTF-8, and without a bucket. */
function decoded(bucket: string, path: string): Parts | undefined {
  try {
    return bucket === '' ? undefined : { bucket: decodeURIComponent(bucket), key: decodeURIComponent(path) }
  } catch {
    return undefined
  }
}
