/** The file in which the program of `run` finds the URLs of the gateway. */
import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newHolder, parseHolder, stateOf, writeFailure } from '../../node/base/index.ts'

const PREFIX = 'stac-auth-run-'
/** The file that says which process uses the folder. */
const HOLDER = 'process.json'

/** A file that only the user can read. */
export interface MapFile {
  readonly path: string
  /** Removes the file and its folder. */
  remove(): Promise<void>
}

/**
 * Writes a value as JSON to a new file in a folder of its own among the temporary files, and removes the folders of processes that were
 * killed. Errors: `DISK_FULL`, `FILE_ACCESS`.
 */
export async function writeMap(content: object): Promise<MapFile> {
  const fail = (error: unknown) => {
    throw writeFailure(error, 'the map of the gateway')
  }
  const folder = await mkdtemp(join(tmpdir(), PREFIX)).catch(fail)
  const path = join(folder, 'gateway.json')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await removeAbandoned().catch(() => undefined)
    await writeFile(join(folder, HOLDER), JSON.stringify(await newHolder()), { mode: 0o600, flag: 'wx' })
    await writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    return { path, remove }
  } catch (error) {
    await remove()
    return fail(error)
  }
}

/** Removes the folders of this user whose process is gone. Others may create folders of that name where temporary files are shared. */
async function removeAbandoned(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(PREFIX))
  await Promise.all(names.map((name) => removeIfAbandoned(join(tmpdir(), name)).catch(() => undefined)))
}

async function removeIfAbandoned(folder: string): Promise<void> {
  const stats = await lstat(folder)
  if (!stats.isDirectory() || (process.getuid && stats.uid !== process.getuid())) return
  const holder = parseHolder(await readFile(join(folder, HOLDER), 'utf8'))
  if (holder && (await stateOf(holder)) === 'gone') await rm(folder, { recursive: true, force: true })
}
