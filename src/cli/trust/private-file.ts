/** Files of the user's configuration: replaced wholly or not at all, and nobody else's business. */
import { realpath, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeFolder } from '../../node/make-folder.ts'
import { syncFolder } from '../../node/own-file.ts'
import { PartFile } from '../../node/part-file.ts'
import { systemCode, writeFailure } from '../../node/system-error.ts'

/**
 * Writes the text that `make` gives in place of a file, mode 0600; missing folders are made with mode 0700, a link is followed. While
 * that lasts nobody else can do the same: what `make` has read is still true when it is replaced.
 *
 * Errors: `PATH_BUSY`, `FILE_ACCESS`, `DISK_FULL`, and those of `make`; the old file is as it was then.
 */
export async function replacePrivateFile(name: string, make: () => Promise<string>): Promise<void> {
  const refuse = (error: unknown): never => {
    throw writeFailure(error, `"${name}"`)
  }
  const target = await targetOf(name).catch(refuse)
  const part = await PartFile.open(target, 0o600, name)
  try {
    try {
      const text = await make()
      await part.file.writeFile(text).catch(refuse)
      await part.file.sync().catch(refuse)
    } finally {
      await part.file.close()
    }
    await part.confirm()
    await rename(part.path, target).catch(refuse)
  } finally {
    await part.end()
  }
  await syncFolder(dirname(target))
}

/** The path that a link leads to, or the one to create. */
async function targetOf(name: string): Promise<string> {
  try {
    return await realpath(name)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  await makeFolder(dirname(name), 0o700)
  return join(await realpath(dirname(name)), basename(name))
}
