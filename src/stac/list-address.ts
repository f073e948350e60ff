/**
 * The address that lists the objects of a folder: `GET /?list-type=2` on the bucket (`ListObjectsV2` of Amazon S3), written
 * and read in one place, because what it lists decides whether it is granted.
 */
import type { ObjectAddress } from './object-address.ts'

/** Which part of a folder's list is wanted. */
export interface ListPart {
  /** Decoded, ends with a slash; empty for the whole bucket. */
  readonly prefix: string
  /** Objects per answer, 1 to 1000; default: as many as the service likes. */
  readonly pageSize?: number
  /** Keys up to this one are left out. */
  readonly startAfter?: string
  /** Where the last answer ended. */
  readonly continuation?: string
}

/** Parameters that choose a part of the list; any other one may ask for something else of the bucket. */
const PARAMETERS = new Set(['list-type', 'prefix', 'encoding-type', 'max-keys', 'start-after', 'continuation-token'])

/** The query of a list. Names come back percent-encoded, since XML cannot hold all characters that keys may have. */
export function listQuery({ prefix, pageSize, startAfter, continuation }: ListPart): string {
  const parameters = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix })
  if (pageSize !== undefined) parameters.set('max-keys', String(pageSize))
  if (startAfter !== undefined) parameters.set('start-after', startAfter)
  if (continuation !== undefined) parameters.set('continuation-token', continuation)
  return `?${parameters}`
}

/**
 * The path of the folder that an address lists, percent-encoded; undefined when it lists no folder, or may do anything else.
 * A list tells nothing but what is in that folder, so who was granted the folder may have it.
 */
export function listedFolder({ path, search }: Pick<ObjectAddress, 'path' | 'search'>): string | undefined {
  if (path !== '' || !search.includes('list-type=2')) return undefined
  const parameters = [...new URLSearchParams(search)]
  const names = new Set(parameters.map(([name]) => name))
  if (names.size !== parameters.length || parameters.some(([name]) => !PARAMETERS.has(name))) return undefined
  const { 'list-type': type, prefix = '' } = Object.fromEntries(parameters)
  const segments = prefix.split('/')
  const isFolder = segments.pop() === '' && segments.length > 0 && segments.every((segment) => !/^\.{0,2}$/.test(segment))
  return type === '2' && isFolder ? `${segments.map(encodeURIComponent).join('/')}/` : undefined
}
