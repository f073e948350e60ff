import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder } from '../../src/node/files.ts'
import { temporaryFolder } from '../cli/folder.ts'

const base = await temporaryFolder()
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

it('makes what is missing, with that mode, and leaves what is there', async () => {
  const folder = join(base, 'a/b/c')
  await Promise.all(Array.from({ length: 10 }, () => makeFolder(folder, 0o700)))
  for (const path of ['a', 'a/b', 'a/b/c']) expect(await modeOf(join(base, path))).toBe(0o700)
  await makeFolder(folder, 0o755)
  expect(await modeOf(folder)).toBe(0o700)
})

it('fails below a file, and where there is no room for folders', async () => {
  await writeFile(join(base, 'file'), '')
  await expect(makeFolder(join(base, 'file/a/b'), 0o700)).rejects.toMatchObject({ code: 'ENOTDIR' })
  if (process.platform === 'linux') await expect(makeFolder('/proc/nowhere/a', 0o700)).rejects.toMatchObject({ code: 'ENOENT' })
})
