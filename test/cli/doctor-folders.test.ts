/** `doctor` looks at the folders in which `setup` and logins write. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { temporaryFolder } from './folder.ts'
import { run } from './run.ts'

async function examined(env: Readonly<Record<string, string>>) {
  const { stdout, code } = await run(['doctor', '--offline', '--json'], { env })
  const checks: readonly Check[] = JSON.parse(stdout)
  return { code, checkOf: (name: string) => checks.find(({ check }) => check === name) }
}

it('finds a file in place of the configuration folder', async () => {
  const config = join(await temporaryFolder(), 'config')
  await writeFile(config, '')
  const { code, checkOf } = await examined({ XDG_CONFIG_HOME: config })
  expect(code).toBe(6)
  expect(checkOf('credential folder')).toMatchObject({
    level: 'error',
    message: `${config} is not a folder`,
    hint: expect.stringContaining('set XDG_CONFIG_HOME'),
  })
})

it('finds no fault in folders that do not exist yet', async () => {
  const folder = await temporaryFolder()
  const { code, checkOf } = await examined({ XDG_CONFIG_HOME: join(folder, 'a/b'), XDG_CACHE_HOME: join(folder, 'c/d') })
  expect([code, checkOf('credential folder'), checkOf('token store')]).toEqual([0, undefined, expect.objectContaining({ level: 'ok' })])
})
