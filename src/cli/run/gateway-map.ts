/** The file in which the program of `run` finds the URLs of the gateway. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFailure } from '../../node/system-error.ts'

/** A file that only the user can read. */
export interface MapFile {
  readonly path: string
  /** Removes the file and its folder. */
  remove(): Promise<void>
}

/** Writes a value as JSON to a new file in a folder of its own among the temporary files. Errors: `DISK_FULL`, `FILE_ACCESS`. */
export async function writeMap(content: object): Promise<MapFile> {
  const fail = (error: unknown) => {
    throw writeFailure(error, 'the map of the gateway')
  }
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-run-')).catch(fail)
  const path = join(folder, 'gateway.json')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    return { path, remove }
  } catch (error) {
    await remove()
    return fail(error)
  }
}
