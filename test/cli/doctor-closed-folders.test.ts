/** `doctor` finds folders that the user may not write. The system says so for all users here, because it says nothing of the kind to root. */
import { constants } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { put, temporaryFolder } from './folder.ts'
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

afterEach(() => vi.unstubAllEnvs())

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

it('names the variables of folders that commands need, beside a named credential file', async () => {
  const folder = await temporaryFolder()
  const closed = join(folder, 'closed')
  await mkdir(closed, { mode: 0o500 })
  const file = await put(folder, 'credentials.json', { version: 1, credentials: [] })
  vi.stubEnv('TMPDIR', closed)
  const env = { XDG_CONFIG_HOME: join(closed, 'config'), XDG_CACHE_HOME: join(folder, 'cache'), STAC_AUTH_CREDENTIALS: file }
  const { stdout, code } = await run(['doctor', '--offline', '--json'], { env })
  const checks: readonly Check[] = JSON.parse(stdout)
  expect(code).toBe(0)
  expect(checks.filter(({ level }) => level !== 'ok')).toEqual([
    {
      check: 'temporary folder',
      level: 'warning',
      code: 'FILE_ACCESS',
      message: `run has no place for its file: ${closed} cannot be written (EACCES)`,
      hint: 'set TMPDIR to the absolute path of a folder that you can write',
    },
    {
      check: 'configuration folder',
      level: 'warning',
      code: 'FILE_ACCESS',
      message: `gateway --name has no place for its file: ${join(closed, 'config/stac-auth/gateways')} cannot be created: ${closed} cannot be written (EACCES)`,
      hint: 'set XDG_CONFIG_HOME to the absolute path of a folder that you can write',
    },
  ])
})

it.each([
  ['clientCredentials', 'warning', { clientId: 'a', clientSecret: { env: 'HOME' } }],
  ['authorizationCode', 'error', { clientId: 'a', authorizationUrl: 'https://login.example/authorize' }],
] as const)('a token store that cannot be written is, for %s, of level %s', async (flow, level, fields) => {
  const folder = await temporaryFolder()
  const closed = join(folder, 'closed')
  await mkdir(closed, { mode: 0o500 })
  const credential = {
    id: 'a',
    type: 'oauth2',
    flow,
    sendTo: ['https://data.example/'],
    tokenUrl: 'https://login.example/token',
    ...fields,
  }
  const file = await put(folder, 'credentials.json', { version: 1, credentials: [credential] })
  const env = { XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: join(closed, 'cache'), STAC_AUTH_CREDENTIALS: file }
  const { stdout } = await run(['doctor', '--offline', '--json'], { env })
  const checks: readonly Check[] = JSON.parse(stdout)
  expect(checks.find(({ check }) => check === 'token store')).toMatchObject({ level, code: 'CACHE_NOT_WRITABLE' })
  expect(checks.filter((one) => one.level === 'error').map(({ check }) => check)).toEqual(level === 'error' ? ['token store'] : [])
})
