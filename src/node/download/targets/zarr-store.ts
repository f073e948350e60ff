/**
 * Zarr stores on servers that list nothing: the names of all of their files, by their consolidated metadata (Zarr 2: `.zmetadata`; Zarr 3:
 * `zarr.json` with `consolidated_metadata`, Zarr core specification 3.1 and zarr-python). Metadata is text of strangers: only names that
 * the formats define are made of it.
 */
import { below } from '../../../auth/resource.ts'
import { type AuthError, isAuthError, NetworkError, ProtocolError } from '../../../errors.ts'
import { mediaType } from '../../../http/headers.ts'
import { percentEncoded, readBody, utf8 } from '../../../http/message.ts'
import { sleep } from '../../../net/cancellation.ts'
import { Retries } from '../../../net/retry.ts'
import { DOCUMENT_LIMITS, isObject, own, ownObject, ownString } from '../../../stac/document.ts'
import type { Target } from '../../../stac/target.ts'
import { canParseUrl } from '../../../text/can-parse-url.ts'
import { answerFailure } from '../../base/answer-failure.ts'
import { type DownloadContext, LISTING_RETRIES } from '../download-context.ts'
import type { FolderObject } from '../store-folder.ts'

const ZARR = /^application\/vnd[.+]zarr$/

/** Limits of a name in metadata, in UTF-16 units, and of its dimensions. */
const LONGEST_PATH = 1024
const MOST_DIMENSIONS = 32

/** Returns the first target of a file that is a Zarr store on a web server, with an absolute URL without a slash at its end; else undefined. */
export function zarrTargetOf(targets: readonly Target[]): Target | undefined {
  for (const target of targets) {
    const { href, scope, object } = target
    const url = href !== '' && canParseUrl(href, scope.url) ? new URL(href, scope.url) : undefined
    if (!url || !/^https?:$/.test(url.protocol) || url.search !== '') continue
    if (!ZARR.test(mediaType(ownString(object, 'type'))) && !/\.zarr\/*$/i.test(url.pathname)) continue
    return below(target, url.href.replace(/#.*$/s, '').replace(/\/+$/, ''))
  }
  return undefined
}

/**
 * Returns all files of a store: its metadata, and its chunks, which are absent where they consist of the fill value. Empty if the store
 * has no consolidated metadata.
 *
 * Errors: those of the request; `RESPONSE_INVALID` for metadata that names no files, `RESPONSE_TOO_LARGE` for more than `most` files.
 */
export async function zarrObjects(store: Target, most: number, context: DownloadContext): Promise<readonly FolderObject[]> {
  for (const [name, keysIn] of [
    ['.zmetadata', keysOfVersion2],
    ['zarr.json', keysOfVersion3],
  ] as const) {
    const url = `${store.href}/${name}`
    const text = await textAt(below(store, url), context)
    if (text === undefined) continue
    const keys = new Keys(url, most)
    keysIn(parsed(text, url), keys)
    return keys.objects(store.href)
  }
  return []
}

/** Returns the body at a URL; undefined for 404, and for 403, which stores answer for missing objects. */
async function textAt(target: Target, context: DownloadContext): Promise<string | undefined> {
  const retries = new Retries({ ...LISTING_RETRIES, retries: Math.min(LISTING_RETRIES.retries, context.settings.retries) }, context.random)
  for (;;) {
    try {
      const response = await context.send(target, { 'accept-encoding': 'identity' }, context.signal)
      const { status, url } = response
      const body = status === 200 ? response.chunks?.() : undefined
      if (status === 200) return body ? utf8(await readBody(body, DOCUMENT_LIMITS.other, url)) : ''
      const error = await answerFailure(response, target)
      await response.discard()
      if (status === 404 || status === 403) return undefined
      throw error
    } catch (error) {
      if (!isAuthError(error) || context.signal.aborted) throw error
      const delay = error.retryable ? retries.next({ status: error.status }) : 'retries'
      if (typeof delay === 'string') throw error
      await sleep(delay, context.clock, context.signal)
    }
  }
}

function parsed(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed(url, 'it is not JSON')
  }
}

/** Adds the files of a store by its `.zmetadata`. */
function keysOfVersion2(metadata: unknown, keys: Keys): void {
  const entries = ownObject(metadata, 'metadata')
  if (!entries) throw keys.malformed('it has no "metadata"')
  keys.add('.zmetadata')
  for (const [key, value] of Object.entries(entries)) {
    const [, path = '', name = ''] = /^(?:(.*)\/)?(\.zgroup|\.zattrs|\.zarray)$/s.exec(key) ?? []
    if (name === '') continue
    keys.add(join(path, name))
    if (name !== '.zarray') continue
    const separator = own(value, 'dimension_separator') ?? '.'
    keys.addChunks(path, own(value, 'shape'), own(value, 'chunks'), { prefix: '', separator, scalar: '0' })
  }
}

/** Adds the files of a store by its `zarr.json`. */
function keysOfVersion3(root: unknown, keys: Keys): void {
  const consolidated = own(own(root, 'consolidated_metadata'), 'metadata')
  if (own(root, 'node_type') !== 'array' && !isObject(consolidated)) throw keys.malformed('it has no "consolidated_metadata"')
  for (const [path, node] of [['', root] as const, ...Object.entries(isObject(consolidated) ? consolidated : {})]) {
    keys.add(join(path, 'zarr.json'))
    if (own(node, 'node_type') !== 'array') continue
    const grid = own(node, 'chunk_grid')
    const transformers = own(node, 'storage_transformers')
    if (own(grid, 'name') !== 'regular') throw keys.malformed('an array has a chunk grid that is not regular')
    if (Array.isArray(transformers) && transformers.length > 0) throw keys.malformed('an array has storage transformers')
    keys.addChunks(path, own(node, 'shape'), own(own(grid, 'configuration'), 'chunk_shape'), encodingOf(node, keys))
  }
}

/** How the key of a chunk is made of its indices. */
interface KeyEncoding {
  readonly prefix: string
  readonly separator: unknown
  /** The key of the only chunk of an array without dimensions. */
  readonly scalar: string
}

function encodingOf(node: unknown, keys: Keys): KeyEncoding {
  const encoding = own(node, 'chunk_key_encoding')
  const separator = own(own(encoding, 'configuration'), 'separator')
  const name = own(encoding, 'name')
  if (name === 'default') return { prefix: 'c', separator: separator ?? '/', scalar: 'c' }
  if (name === 'v2') return { prefix: '', separator: separator ?? '.', scalar: '0' }
  throw keys.malformed('an array has an unknown encoding of chunk keys')
}

/** The keys of the files of a store, up to a limit. */
class Keys {
  readonly #url: string
  readonly #most: number
  readonly #keys = new Map<string, boolean>()

  constructor(url: string, most: number) {
    this.#url = url
    this.#most = most
  }

  /** Adds a key; a chunk may be missing. Errors: `RESPONSE_INVALID`, `RESPONSE_TOO_LARGE`. */
  add(key: string, isChunk = false): void {
    const isName = key.length <= LONGEST_PATH && key.split('/').every((segment) => /^(?!\.{1,2}$)[^\0-\x1f\x7f\\]+$/.test(segment))
    if (!isName) throw this.malformed('a name in it leads out of the store, or is not valid')
    this.#keys.set(key, isChunk)
    this.#require(this.#keys.size)
  }

  /** Adds the keys of all chunks of an array. Errors: as {@link add}. */
  addChunks(path: string, shape: unknown, chunks: unknown, { prefix, separator, scalar }: KeyEncoding): void {
    if (separator !== '.' && separator !== '/') throw this.malformed('the separator of chunk keys is neither a dot nor a slash')
    const counts = this.#counts(shape, chunks)
    if (counts.length === 0) this.add(join(path, scalar), true)
    const total = counts.length === 0 ? 0 : counts.reduce((product, count) => product * count, 1)
    this.#require(this.#keys.size + total)
    const index = counts.map(() => 0)
    for (let number = 0; number < total; number++) {
      this.add(join(path, [...(prefix === '' ? [] : [prefix]), ...index].join(separator)), true)
      for (let axis = index.length - 1; axis >= 0; axis--) {
        index[axis] = ((index[axis] ?? 0) + 1) % (counts[axis] ?? 1)
        if (index[axis] !== 0) break
      }
    }
  }

  /** Returns the number of chunks along each dimension. */
  #counts(shape: unknown, chunks: unknown): readonly number[] {
    const isShape = (value: unknown, least: number): value is readonly number[] =>
      Array.isArray(value) && value.length <= MOST_DIMENSIONS && value.every((length) => Number.isSafeInteger(length) && length >= least)
    if (!isShape(shape, 0) || !isShape(chunks, 1) || shape.length !== chunks.length)
      throw this.malformed('an array has no valid shape and chunk shape')
    return shape.map((length, axis) => Math.ceil(length / (chunks[axis] ?? 1)))
  }

  objects(root: string): readonly FolderObject[] {
    return [...this.#keys].map(([key, isChunk]) => ({
      key,
      path: key,
      url: `${root}/${key.split('/').map(percentEncoded).join('/')}`,
      ...(isChunk && { mayBeMissing: true }),
    }))
  }

  malformed(why: string): AuthError {
    return malformed(this.#url, why)
  }

  #require(files: number): void {
    if (files <= this.#most) return
    throw new NetworkError('RESPONSE_TOO_LARGE', `this Zarr store has more than ${this.#most} files, which is the limit`, {
      url: this.#url,
      hint: 'raise the limit with --max-objects (maxObjects), or leave the asset out with --exclude',
    })
  }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`
}

function malformed(url: string, why: string): ProtocolError {
  return new ProtocolError('RESPONSE_INVALID', `the files of this Zarr store are unknown: ${why}`, {
    url,
    hint: 'its publisher can write consolidated metadata with zarr.consolidate_metadata; stores in buckets are listed instead',
  })
}
