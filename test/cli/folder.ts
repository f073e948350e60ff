/** Temporary folders for tests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEveryFile } from '../setup/hooks.ts'

const made: string[] = []
afterEveryFile(() => Promise.all(made.splice(0).map((folder) => rm(folder, { recursive: true, force: true }))))

/** A folder that lasts as long as the tests of the file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stac-auth-test-'))
  made.push(folder)
  return folder
}

/** Writes a file into a folder, a value as JSON; its path. */
export async function put(folder: string, name: string, content: unknown): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content), { mode: 0o600 })
  return path
}
