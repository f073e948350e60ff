/** Where a translated document goes. */
import { platform } from '#platform'
import { readBody } from '../../http/read-body.ts'
import { chunksOf } from '../chunks-of.ts'

/**
 * On Node the path of a new file, which is complete or not there (`overwrite`: also in the place of an old one); a stream; or
 * `undefined`: the bytes are in the result.
 */
export type DocumentSink = { readonly path: string; readonly overwrite?: boolean } | WritableStream<Uint8Array> | undefined

/** Refuses a sink that cannot take the document, before anything is paid for. Errors: `PATH_EXISTS`, `PATH_UNSAFE`, `FILE_ACCESS`. */
export async function checkSink(sink: DocumentSink): Promise<void> {
  if (sink === undefined || isWritable(sink)) return
  if (typeof sink !== 'object' || sink === null || typeof sink.path !== 'string')
    throw new TypeError('a document goes to { path }, to a WritableStream, or with undefined into the result')
  await (await platform.files()).check(sink.path, sink.overwrite ?? false)
}

/**
 * Takes a document to its sink: all of it or nothing that could be taken for it. A stream that fails is aborted.
 *
 * @param open begins the download; called once, when the sink is ready
 * @returns the bytes where there is no sink
 */
export async function deliver(sink: DocumentSink, open: () => Promise<ReadableStream<Uint8Array>>): Promise<Uint8Array | undefined> {
  if (sink === undefined) return readBody(chunksOf(await open()), Number.POSITIVE_INFINITY, '')
  if (isWritable(sink)) {
    await (await open()).pipeTo(sink)
  } else {
    const files = await platform.files()
    await files.write(sink.path, async () => chunksOf(await open()), sink.overwrite ?? false)
  }
  return undefined
}

function isWritable(sink: NonNullable<DocumentSink>): sink is WritableStream<Uint8Array> {
  return typeof sink === 'object' && sink !== null && 'getWriter' in sink
}
