/** Files of the user's configuration: replaced wholly or not at all, and nobody else's business. */
import { type FileHandle, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeFolder } from '../../node/make-folder.ts'
import { systemCode, writeFailure } from '../../node/system-error.ts'
import { replaceAlone } from '../../node/write-file.ts'

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
  const write = async (file: FileHandle) => {
    const text = await make()
    await file.writeFile(text).catch(refuse)
  }
  await replaceAlone(target, name, 0o600, { write, durable: true })
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
