/** Bytes from which on a chunk is worth what it costs besides. */
const SMALL = 1024

/** Bytes that small chunks share. */
const BLOCK = 16_384

/** The blocks made here. Each belongs to the last chunk of one list, so what is behind its end is free. */
const BLOCKS = new WeakSet<ArrayBufferLike>()

/**
 * Puts a chunk behind the others. Small ones in a row are copied into one block: a body that comes byte by byte would else cost
 * many times its size.
 *
 * @param view the first so many bytes of a buffer
 */
export function keepChunk<T extends Uint8Array>(chunks: T[], chunk: T, view: (buffer: ArrayBufferLike, length: number) => T): void {
  const last = chunks.at(-1)
  if (last && (BLOCKS.has(last.buffer) ? last.length + chunk.length <= BLOCK : last.length < SMALL) && chunk.length < SMALL) {
    const block = BLOCKS.has(last.buffer) ? last.buffer : blockOf(last)
    new Uint8Array(block).set(chunk, last.length)
    chunks[chunks.length - 1] = view(block, last.length + chunk.length)
    return
  }
  // A block that is hardly used is not worth keeping whole.
  if (last && BLOCKS.has(last.buffer) && last.length < BLOCK / 2) chunks[chunks.length - 1] = view(copyOf(last, last.length), last.length)
  chunks.push(chunk)
}

function blockOf(chunk: Uint8Array): ArrayBuffer {
  const block = copyOf(chunk, BLOCK)
  BLOCKS.add(block)
  return block
}

function copyOf(chunk: Uint8Array, size: number): ArrayBuffer {
  const bytes = new Uint8Array(size)
  bytes.set(chunk)
  return bytes.buffer
}
