import { constants, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

/** A file's bytes and what the same open file says about itself, or why it was not read, as the end of a sentence. */
type FileReading = { readonly bytes: Uint8Array; readonly stats: Stats } | { readonly problem: FileProblem }

type FileProblem = 'does not exist' | 'may not be read by you' | 'cannot be read' | 'is not a regular file' | 'is too long'

/** Windows has no such flag, and no named pipes in its folders. */
const NONBLOCK = constants.O_NONBLOCK ?? 0

/** Reads a regular file of at most `limit` bytes; pipes and devices are neither waited for nor read. Throws nothing. */
export async function readRegularFile(path: string, limit: number): Promise<FileReading> {
  try {
    const file = await open(path, constants.O_RDONLY | NONBLOCK)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) return { problem: 'is not a regular file' }
      if (stats.size > limit) return { problem: 'is too long' }
      const bytes = await file.readFile()
      return bytes.length > limit ? { problem: 'is too long' } : { bytes, stats }
    } finally {
      await file.close()
    }
  } catch (error) {
    return { problem: problemOf(error) }
  }
}

function problemOf(error: unknown): FileProblem {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  return code === 'EACCES' || code === 'EPERM' ? 'may not be read by you' : 'cannot be read'
}
