/** Assets that are folders of an object store: detection, and listing of their files. */

import type { Auth } from '../../auth/auth.ts'
import { below } from '../../auth/resource.ts'
import { AuthError, IntegrityError, isAuthError, NetworkError, SelectionError } from '../../errors.ts'
import { mediaType } from '../../http/headers.ts'
import type { Retries } from '../../net/retry.ts'
import { listObjects, type StoredObject } from '../../objects/list-objects.ts'
import { ownString } from '../../stac/document.ts'
import type { Target } from '../../stac/target.ts'
import { canParseUrl } from '../../text/can-parse-url.ts'
import { foldedName, forFileName } from '../../text/file-name.ts'
import type { DownloadFile } from './download.ts'
import type { DownloadContext } from './download-context.ts'
import { listingRetries, withRetries } from './retries.ts'
import type { SelectedFile } from './selected-files.ts'

/** The methods of an engine that list a folder. */
export type ListingAuth = Pick<Auth, 'send' | 'authorize' | 'explain' | 'fetch' | 'fetchFor'>

/** An object of a folder, as listed or as named by metadata. */
export interface FolderObject extends Pick<StoredObject, 'key' | 'path' | 'url'> {
  readonly size?: number
  /** True for a chunk of a Zarr store, which is absent if it consists of the fill value. */
  readonly mayBeMissing?: true
}

/** An object of a folder, or why it cannot become a file. */
export interface FolderFile {
  readonly selected: SelectedFile
  readonly error?: AuthError
}

const FOLDER_TYPE = /^application\/(?:vnd[.+]zarr|x-directory)$/
const FOLDER_NAME = /\.(?:zarr|safe)$/i
/** Extensions of single files that contain such a folder, whatever their media type says. */
const ARCHIVE_NAME = /\.(?:zip|ozx|tar|t?gz|json|parquet)$/i

/** Names of Zarr 2 that must stay unchanged although they begin with a dot. */
const ZARR_NAMES: ReadonlySet<string> = new Set(['.zarray', '.zattrs', '.zgroup', '.zmetadata'])

/** Returns true for a target that may be a folder of an object store by its URL, name or media type; sends nothing. */
export function looksLikeFolder(target: Target): boolean {
  const url = urlOf(target)
  if (!url || !/^(?:s3|https?):$/.test(url.protocol) || url.search !== '' || /^\/*$/.test(url.pathname)) return false
  if (url.pathname.endsWith('/')) return true
  return (
    FOLDER_NAME.test(url.pathname) || (FOLDER_TYPE.test(mediaType(ownString(target.object, 'type'))) && !ARCHIVE_NAME.test(url.pathname))
  )
}

/**
 * Returns the folder of a file, as a target with an absolute URL without a slash at its end; undefined if it is a file. Of the asset and its
 * alternates, the first one that can be listed is used: `s3://`, or a URL that is signed with an `s3` credential.
 */
export async function folderTargetOf({ targets }: SelectedFile, auth: object, mayAsk: boolean): Promise<Target | undefined> {
  if (!looksLikeFolder(targets[0]) || !canList(auth)) return undefined
  for (const target of targets) {
    const url = looksLikeFolder(target) ? urlOf(target) : undefined
    if (!url || (url.protocol !== 's3:' && !(await isSigned(target, auth, mayAsk)))) continue
    return below(target, url.href.replace(/[#].*$/s, '').replace(/\/+$/, ''))
  }
  return undefined
}

/** Returns true if an engine has all methods that a listing needs. */
export function canList(auth: object): auth is ListingAuth {
  return ['authorize', 'explain', 'fetch', 'fetchFor'].every((call) => call in auth)
}

/** Catalog text does not make a host an object store: `sendTo` of an `s3` credential has to match the URL. */
async function isSigned(target: Target, auth: ListingAuth, mayAsk: boolean): Promise<boolean> {
  const { code, refs, byAddress } = await auth.explain(target)
  if (code !== undefined) return false
  if (refs.length > 0) return refs.find((ref) => ref.code === undefined)?.scheme === 's3'
  if (!mayAsk || !byAddress?.used || byAddress.code !== undefined) return false
  return auth.authorize(target).then(
    ({ location }) => location !== undefined,
    () => false,
  )
}

/**
 * Lists all objects of a folder, without folder markers. A failed listing resumes after the last key, with retries.
 *
 * Errors: those of `listObjects`, with hints; `RESPONSE_TOO_LARGE` for more than `most` objects.
 */
export async function objectsIn(
  folder: Target,
  auth: ListingAuth,
  most: number,
  context: DownloadContext,
): Promise<readonly StoredObject[]> {
  const objects: StoredObject[] = []
  const list = async (retries: Retries) => {
    const startAfter = objects.at(-1)?.key
    const rest = { limit: most + 1 - objects.length, signal: context.signal, ...(startAfter !== undefined && { startAfter }) }
    for await (const object of listObjects(auth as Auth, folder, rest)) {
      objects.push(object)
      retries.count = 0
    }
  }
  await withRetries(listingRetries(context), context, list).catch((error) => {
    throw isAuthError(error) && !context.signal.aborted ? notListed(error) : error
  })
  if (objects.length > most) throw tooMany(folder, most)
  return objects.filter(({ path, size }) => size > 0 || !(path === '' || path.endsWith('/')))
}

/** Returns the files of a folder, each with its path below that of the asset; two keys never share a path. */
export function* filesOf(
  folder: Target,
  place: DownloadFile,
  wanted: SelectedFile,
  objects: readonly FolderObject[],
): Generator<FolderFile> {
  // Size, checksum and type of the asset do not apply to each of its objects.
  const { type: _type, roles: _roles, 'file:size': _size, 'file:checksum': _checksum, ...object } = folder.object
  const named = objects.map((stored) => ({ stored, segments: stored.path.split('/').map(nameOfSegment) }))
  const folders = new Set(named.flatMap(({ segments }) => segments.slice(1).map((_, index) => folded(segments.slice(0, index + 1)))))
  for (const { stored, segments } of named) {
    const error = keyProblem(stored, folders.has(folded(segments)))
    yield {
      selected: {
        key: wanted.key,
        targets: [{ ...below(folder, stored.url ?? folder.href), object }],
        ...(stored.size !== undefined && { size: stored.size }),
        ...(stored.mayBeMissing && { mayBeMissing: true }),
        folder: { path: place.path, segments: [...place.name.split('/'), ...segments] },
      },
      ...(error && { error }),
    }
  }
}

/** Returns the file name of a segment of a key. */
export function nameOfSegment(segment: string, index: number, { length }: readonly string[]): string {
  return index === length - 1 && ZARR_NAMES.has(segment) ? segment : forFileName(segment)
}

function folded(segments: readonly string[]): string {
  return foldedName(segments.join('/'))
}

function keyProblem({ key, url }: FolderObject, isFolderToo: boolean): AuthError | undefined {
  if (url === undefined)
    return new IntegrityError('PATH_UNSAFE', `the key ${JSON.stringify(key)} leads out of its folder. It is not downloaded`)
  if (!isFolderToo) return undefined
  return new IntegrityError('PATH_COLLISION', `the key ${JSON.stringify(key)} is the name of a file and of a folder`, {
    hint: 'a file system cannot hold both; fetch the object by itself with: stac-auth fetch',
  })
}

function urlOf({ href, scope: { url } }: Target): URL | undefined {
  return href !== '' && canParseUrl(href, url) ? new URL(href, url) : undefined
}

function tooMany({ href }: Target, most: number): NetworkError {
  return new NetworkError('RESPONSE_TOO_LARGE', `this asset is a folder of more than ${most} objects, which is the limit`, {
    url: href,
    hint: 'raise the limit with --max-objects (maxObjects), or leave the asset out with --exclude',
  })
}

function notListed(error: AuthError): AuthError {
  if (error.code === 'RESPONSE_TOO_LARGE') return error
  const hint = `${error.hint === undefined ? '' : `${error.hint}; `}the credential needs permission to list this folder (s3:ListBucket)`
  return new AuthError(error.code, `this asset is a folder, and its objects cannot be listed: ${error.message}`, { ...error, hint })
}

/** Returns the error of a target that looks like a folder and could not be fetched as a file. */
export function asFolderFailure(error: AuthError, { targets: [target], folder }: SelectedFile): AuthError {
  const isNamed = looksLikeFolder(target) && !target.href.endsWith('/')
  if (folder || !isNamed || !/^(?:HTTP_40[0134]|LOGIN_PAGE|FILE_INTEGRITY|AUTH_REJECTED|FILE_INCOMPLETE)$/.test(error.code)) return error
  const hint = `${error.hint === undefined ? '' : `${error.hint}; `}this asset looks like a folder, which needs an s3:// URL, a URL that an s3 credential allows, or the consolidated metadata of a Zarr store`
  return new AuthError(error.code, error.message, { ...error, hint })
}

/** Returns true for `s3://bucket`: a request for it would return a list of objects, which is not a file. */
export function isWholeBucket(target: Target): boolean {
  const url = urlOf(target)
  return url?.protocol === 's3:' && /^\/*$/.test(url.pathname)
}

/** Returns the error of an asset that is a whole bucket. */
export function wholeBucket({ href, pointer }: Target): AuthError {
  return new SelectionError('URL_INVALID', 'this asset is a whole bucket, which is never downloaded', {
    url: href,
    pointer: `${pointer}/href`,
    hint: 'stac-auth list shows its objects; download folders of it, such as s3://bucket/folder/',
  })
}

/** Returns the error of an empty folder. */
export function emptyFolder({ href }: Target): NetworkError {
  return new NetworkError('HTTP_404', 'this asset is a folder without objects', { url: href, status: 404 })
}
