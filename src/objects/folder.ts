import type { Auth } from '../auth/auth.ts'
import { givenTarget } from '../auth/given-target.ts'
import { SelectionError, UnsupportedError } from '../errors.ts'
import { type ObjectAddress, objectAddressOf, serviceOf } from '../stac/object-address.ts'
import { type ObjectLocation, storagesOf } from '../stac/storage.ts'
import type { Target } from '../stac/target.ts'

/** A folder of a bucket. */
export interface Folder {
  /** Address of the bucket, with its slash at the end. */
  readonly root: string
  /** Decoded, ends with a slash; empty for the whole bucket. */
  readonly prefix: string
}

/**
 * The folder that a target or an address stands for; nothing is sent to it.
 *
 * Errors: those of `auth.authorize`, `SCHEME_UNSUPPORTED` where there is no object store, `URL_INVALID`.
 */
export async function folderOf(auth: Pick<Auth, 'authorize'>, from: Target | string | undefined, signal?: AbortSignal): Promise<Folder> {
  if (typeof from === 'string') return folderAt(from, URL.canParse(from) ? objectAddressOf(from) : undefined)
  const target = givenTarget(from)
  const { url, location, scheme, credential } = await auth.authorize(target, signal ? { signal } : {})
  const isNative = /^s3:/i.test(target.href)
  if (location) return { root: isNative ? `s3://${location.bucket}/` : rootOf(location), prefix: folder(location.key) }
  if (scheme !== undefined && scheme !== 's3') throw noStore(url, `it is authorized by ${scheme}`)
  if (scheme === undefined && credential !== undefined) throw noStore(url, `"${credential}" is not an s3 credential`)
  return folderAt(
    url,
    objectAddressOf(
      url,
      storagesOf(target).map((storage) => serviceOf(storage)),
    ),
  )
}

function folderAt(url: string, address: ObjectAddress | undefined): Folder {
  if (!address?.bucket) throw noStore(url, 'its host is not known to be one')
  const root = address.endpoint === '' ? `s3://${address.bucket}/` : rootOf(address)
  try {
    return { root, prefix: folder(decodeURIComponent(address.path)) }
  } catch {
    throw new SelectionError('URL_INVALID', 'this address cannot be listed: a percent sequence is no UTF-8', { url })
  }
}

function rootOf({ endpoint, bucket, virtualHost }: Pick<ObjectLocation, 'endpoint' | 'bucket' | 'virtualHost'>): string {
  return virtualHost ? `${endpoint.replace('://', `://${bucket}.`)}/` : `${endpoint}/${bucket}/`
}

function folder(key: string): string {
  return key === '' || key.endsWith('/') ? key : `${key}/`
}

function noStore(url: string, why: string): UnsupportedError {
  return new UnsupportedError('SCHEME_UNSUPPORTED', `only what lies in an object store can be listed: ${why}`, {
    url,
    hint: 'use an asset with an s3 scheme, or an address s3://bucket/folder/',
  })
}
