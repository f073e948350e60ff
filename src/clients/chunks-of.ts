import type { StreamBody } from './call-options.ts'

/** The pieces of a stream: not every platform iterates over streams. */
export function chunksOf(stream: StreamBody): AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in stream ? stream : read(stream)
}

async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
