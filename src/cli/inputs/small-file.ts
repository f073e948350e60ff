import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

/**
 * All bytes of a regular file of at most `limit` bytes, at once: most files are small, and a stream costs many times what it reads of
 * them. Undefined for what is longer, and for pipes and devices, which are never waited for here. Nothing but a regular file is even
 * opened, for who writes into a pipe would notice: `isRegular` spares the question where a folder has just told.
 *
 * Throws what the system says.
 */
export function smallFile(path: string, limit: number, isRegular = false): Uint8Array | undefined {
  if (!isRegular && !statSync(path).isFile()) return undefined
  const file = openSync(path, AT_ONCE)
  try {
    const stats = fstatSync(file)
    return stats.isFile() && stats.size > 0 && stats.size <= limit ? firstBytes(file, stats.size) : undefined
  } finally {
    closeSync(file)
  }
}

/** Were the file replaced by a pipe since it was looked at, opening that would wait for a writer. Windows has no such flag. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Fewer than `size` where the file has become shorter. */
function firstBytes(file: number, size: number): Uint8Array {
  const bytes = roomFor(size)
  let read = 0
  for (let more = -1; more !== 0 && read < size; read += more) more = readSync(file, bytes, read, size - read, null)
  return read < size ? bytes.subarray(0, read) : bytes
}

/** Memory is taken for many files at once: to take and to collect it for each costs more than to read most of them. */
const SLAB = 2 ** 18
let slab = Buffer.alloc(0)

/** Bytes that nobody else has. */
function roomFor(size: number): Buffer {
  if (size > SLAB / 4) return Buffer.allocUnsafe(size)
  if (size > slab.length) slab = Buffer.allocUnsafe(SLAB)
  const room = slab.subarray(0, size)
  slab = slab.subarray(size)
  return room
}
