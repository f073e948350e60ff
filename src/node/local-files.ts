/** Files of this machine, behind the interface of all platforms. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { IntegrityError } from '../errors.ts'
import type { Files } from '../platform/platform.ts'
import { readFailure } from './base/system-error.ts'
import { newPath, writeNewFile } from './base/write-file.ts'

/** Reads regular files in chunks, and writes new files atomically. */
export const localFiles: Files = {
  async open(path) {
    const stats = await stat(path).catch((error: unknown) => {
      throw readFailure(error, path)
    })
    if (!stats.isFile()) throw new IntegrityError('FILE_ACCESS', `cannot read "${path}": it is not a regular file`)
    return { name: basename(path), size: stats.size, chunks: () => chunksOf(path) }
  },
  async check(path, overwrite) {
    await newPath(path, overwrite)
  },
  write: writeNewFile,
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } catch (error) {
    throw readFailure(error, path)
  }
}
