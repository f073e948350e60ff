/** `doctor` finds folders that the user may not write. The system says so for all users here, because it says nothing of the kind to root. */
import { constants } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { temporaryFolder } from './folder.ts'
import { run } from './run.ts'

vi.mock('node:fs/promises', async (original) => {
  const actual = await original<typeof import('node:fs/promises')>()
  const access: typeof actual.access = async (path, mode = constants.F_OK) => {
    await actual.access(path, mode)
    if (mode & constants.W_OK && (path === '/' || ((await actual.stat(path)).mode & 0o200) === 0))
      throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
  }
  return { ...actual, access }
})

it('finds folders that cannot be written', async () => {
  const folder = await temporaryFolder()
  const [closed, config] = [join(folder, 'closed'), join(folder, 'config')]
  for (const path of [closed, config]) await mkdir(path, { mode: 0o500 })
  const { stdout } = await run(['doctor', '--offline', '--json'], {
    env: { XDG_CACHE_HOME: join(closed, 'cache'), XDG_CONFIG_HOME: config },
  })
  const checks: readonly Check[] = JSON.parse(stdout)
  const checkOf = (name: string) => checks.find(({ check }) => check === name)
  // No credential needs it here.
  expect(checkOf('token store')).toMatchObject({ level: 'warning', code: 'CACHE_NOT_WRITABLE' })
  expect(checkOf('credential folder')).toMatchObject({
    level: 'warning',
    code: 'FILE_ACCESS',
    hint: expect.stringContaining('set XDG_CONFIG_HOME'),
  })
})

it('does not advise to make the root folder writable where there is no home folder', async () => {
  const { stdout } = await run(['doctor', '--offline', '--json'], { env: { XDG_CACHE_HOME: '/nonexistent/cache' } })
  const checks: readonly Check[] = JSON.parse(stdout)
  expect(checks.find(({ check }) => check === 'token store')).toMatchObject({
    code: 'CACHE_NOT_WRITABLE',
    hint: 'set XDG_CACHE_HOME to the absolute path of a folder that you can write',
  })
})
