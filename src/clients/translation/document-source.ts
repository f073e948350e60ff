/** Where a document comes from. */
import { platform } from '#platform'
import type { StreamBody } from '../call-options.ts'
import { chunksOf } from '../chunks-of.ts'

/** Bytes, a `Blob` or `File`, a stream (or a function that makes one, which can be sent again), or on Node the path of a file. */
export type DocumentSource = Uint8Array | Blob | StreamBody | (() => StreamBody) | { readonly path: string }

/** A document that is ready to be read. */
export interface OpenDocument {
  /** Without folders; undefined where nothing names it. */
  readonly name: string | undefined
  /** In bytes, where it is known. */
  readonly size: number | undefined
  /** False: the pieces can be had once. */
  readonly replayable: boolean
  chunks(): AsyncIterable<Uint8Array>
}

/** Errors: `FILE_ACCESS`, `UNSUPPORTED_IN_BROWSER`; `TypeError` for anything else. */
export async function openSource(source: DocumentSource): Promise<OpenDocument> {
  if (source instanceof Uint8Array) return { name: undefined, size: source.length, replayable: true, chunks: () => once(source) }
  if (typeof source === 'function') return { name: undefined, size: undefined, replayable: true, chunks: () => chunksOf(source()) }
  if (typeof source !== 'object' || source === null) throw noSource()
  if (isBlob(source)) return { name: nameOf(source), size: source.size, replayable: true, chunks: () => chunksOf(source.stream()) }
  if ('path' in source) {
    if (typeof source.path !== 'string') throw noSource()
    const file = await (await platform.files()).open(source.path)
    return { ...file, replayable: true }
  }
  if (!(Symbol.asyncIterator in source) && !('getReader' in source)) throw noSource()
  return { name: undefined, size: undefined, replayable: false, chunks: () => chunksOf(source) }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function isBlob(source: object): source is Blob {
  return typeof Blob === 'function' && source instanceof Blob
}

function nameOf(blob: Blob): string | undefined {
  const { name } = blob as { readonly name?: unknown }
  return typeof name === 'string' ? name : undefined
}

function noSource(): TypeError {
  return new TypeError('a document is bytes, a Blob, a stream of bytes, a function that makes one, or { path }')
}
