/** The folder or bucket that downloads are written to. */
import { realpath } from 'node:fs/promises'
import { makeFolder, writeFailure } from '../node/base/index.ts'

/** True for the URL of a bucket or an object. */
export function isBucket(name: string): boolean {
  return /^s3:\/\//i.test(name)
}

/** Creates the folder if it is missing and resolves links in its path; returns a bucket as it is. Errors: `FILE_ACCESS`, `DISK_FULL`. */
export async function outputFolder(name: string): Promise<string> {
  if (isBucket(name)) return name
  try {
    await makeFolder(name, 0o777)
    return await realpath(name)
  } catch (error) {
    throw writeFailure(error, `"${name}"`)
  }
}
