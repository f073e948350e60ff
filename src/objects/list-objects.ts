import type { Auth } from '../auth/auth.ts'
import { ProtocolError } from '../errors.ts'
import { percentEncoded } from '../http/message.ts'
import { readBody, utf8 } from '../http/read-body.ts'
import { listQuery } from '../stac/list-address.ts'
import type { Target } from '../stac/target.ts'
import { type Folder, folderOf } from './folder.ts'
import { type ListedObject, readListAnswer } from './list-answer.ts'
import { listRefusal } from './list-refusal.ts'

/** An object in a folder. */
export interface StoredObject extends ListedObject {
  /** The key from the folder on; empty for an object that stands for the folder itself. */
  readonly path: string
  /** For `auth.fetchFor(target)`; absent for a key that no address can carry (`.` or `..` between slashes). */
  readonly url?: string
}

export interface ListOptions {
  /** At most that many objects; default: all. */
  readonly limit?: number
  /** Objects per request, 1 to 1000; default: as many as the service gives. */
  readonly pageSize?: number
  /** Begins after that key: the last one of a list that broke off. */
  readonly startAfter?: string
  readonly signal?: AbortSignal
}

/** More than a thousand keys of 1024 bytes can take, every byte written as `%XX`. */
const MAX_ANSWER = 8 * 1024 * 1024
/** Answers without an object that may follow each other; some services skip what was deleted. */
const MAX_EMPTY = 100

/**
 * The objects below a target that is a folder, in the order of the service, asked for page by page (`ListObjectsV2` of Amazon
 * S3). The folder ends with a slash: `s3://eo/a` does not list what is in `s3://eo/ab/`. Each request is made by the engine,
 * with the references and entries that serve the target itself; an address instead of a target is one that the caller typed.
 *
 * Errors: those of `auth.fetch`; `SCHEME_UNSUPPORTED` where there is no object store; `HTTP_<status>` with the code of the
 * service; `RESPONSE_INVALID`, `RESPONSE_TOO_LARGE` for an answer that is no list.
 *
 * @example
 * const open = auth.fetchFor(store)
 * for await (const { url, size } of listObjects(auth, store)) if (url) await open(url)
 */
export async function* listObjects(
  auth: Pick<Auth, 'authorize' | 'fetch' | 'fetchFor'>,
  from: Target | string | undefined,
  options: ListOptions = {},
): AsyncGenerator<StoredObject> {
  const { limit = Number.POSITIVE_INFINITY, pageSize, startAfter, signal } = options
  checkOptions(options)
  const folder = await folderOf(auth, from, signal)
  const fetch = typeof from === 'string' ? auth.fetch : auth.fetchFor(from)
  let left = limit
  let empty = 0
  let continuation: string | undefined
  while (left > 0 && empty <= MAX_EMPTY) {
    const page = Math.min(left, pageSize ?? Number.POSITIVE_INFINITY, 1000)
    const part = { prefix: folder.prefix, continuation, startAfter, ...(page < 1000 && { pageSize: page }) }
    const url = folder.root + listQuery(part)
    const response = await fetch(url, signal ? { signal } : {})
    const answered = response.url || url
    const text = utf8(await readBody((response.body ?? []) as unknown as AsyncIterable<Uint8Array>, MAX_ANSWER, answered))
    if (!response.ok) throw listRefusal(response.status, text, answered)
    const answer = readListAnswer(text, answered)
    for (const object of answer.objects.slice(0, left)) yield placed(object, folder, answered)
    left -= answer.objects.length
    empty = answer.objects.length === 0 ? empty + 1 : 0
    if (answer.continuation === undefined) return
    if (answer.continuation === continuation) throw endless(answered)
    continuation = answer.continuation
  }
  if (empty > MAX_EMPTY) throw endless(folder.root)
}

function checkOptions({ limit = 0, pageSize = 1 }: ListOptions): void {
  if (!Number.isInteger(limit) || limit < 0) throw new TypeError('limit is a whole number')
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 1000) throw new TypeError('pageSize is a whole number from 1 to 1000')
}

/** Errors: `RESPONSE_INVALID` for an object that was not asked for. */
function placed(object: ListedObject, { root, prefix }: Folder, url: string): StoredObject {
  const { key } = object
  if (!key.startsWith(prefix)) {
    throw new ProtocolError('RESPONSE_INVALID', `${new URL(url).host} lists an object outside of the folder that was asked for`, { url })
  }
  const segments = key.split('/')
  const path = key.slice(prefix.length)
  if (segments.some((segment) => segment === '.' || segment === '..')) return { ...object, path }
  return { ...object, path, url: root + segments.map(percentEncoded).join('/') }
}

function endless(url: string): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `${new URL(url).host} promises more objects and does not give any`, { url })
}
