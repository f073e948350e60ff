/** Commands in a container: no `HOME`, and a user without an entry in the list of accounts. */
import { access, chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { run } from './run.ts'
import { body, serve } from './server.ts'

vi.mock('node:os', async (original) => {
  const unknown = () => {
    throw new Error('uv_os_get_passwd returned ENOENT')
  }
  return { ...(await original<typeof import('node:os')>()), userInfo: unknown, homedir: unknown }
})

const folder = await temporaryFolder()

beforeEach(() => {
  for (const name of ['HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'STAC_AUTH_CREDENTIALS']) vi.stubEnv(name, '')
})

it('commands that only read credentials work: there are none', async () => {
  const server = await serve({ '/file': body('content') })
  const item = await put(folder, 'item.json', itemWith({ data: { href: `${server.origin}file` } }))
  expect(await run(['explain', item], { env: {} })).toMatchObject({ code: 0, stderr: '' })
  expect(await run(['fetch', `${server.origin}file`], { env: {} })).toMatchObject({ code: 0, stdout: 'content' })
  expect(await run(['providers', 'copernicus'], { env: {} })).toMatchObject({ code: 0 })
})

it('commands that write credentials name the variables to set', async () => {
  const item = await put(folder, 'item.json', itemWith({ data: { href: 'https://data.example/' } }))
  for (const command of [
    ['credentials', 'add', item],
    ['setup', item],
    ['login', 'portal'],
  ])
    expect(await run(command, { env: {} })).toMatchObject({ code: 2, stderr: expect.stringContaining('STAC_AUTH_CREDENTIALS') })
})

it('a login from a document warns once that its token is not stored, and says which variable to set', async () => {
  const schemes = { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://login.example/token', scopes: {} } } } }
  const item = await put(folder, 'login.json', itemWith({ data: { href: 'https://data.example/a', 'auth:refs': ['oauth'] } }, { schemes }))
  const credential = {
    id: 'robot',
    type: 'oauth2',
    flow: 'clientCredentials',
    tokenUrl: 'https://login.example/token',
    clientId: 'robot',
    clientSecret: { env: 'ROBOT_SECRET' },
    sendTo: ['https://data.example/'],
  }
  const file = await put(folder, 'robot.json', { version: 1, credentials: [credential] })
  const { code, stderr } = await run(['login', item, '--credentials', file], { env: { XDG_CACHE_HOME: '' } })
  expect([code, stderr]).toEqual([
    0,
    'warning CACHE_MEMORY_ONLY: tokens are kept in memory only: there is no folder for tokens: neither XDG_CACHE_HOME nor HOME is an absolute path\n' +
      '  set XDG_CACHE_HOME to the absolute path of a folder that you can write\n"robot" needs no login\n',
  ])
})

it('doctor warns of what is missing, and does not call it an error', async () => {
  const { code, stdout } = await run(['doctor', '--offline', '--json'], { env: { XDG_CACHE_HOME: '' } })
  const checks: readonly Check[] = JSON.parse(stdout)
  const checkOf = (name: string) => checks.find(({ check }) => check === name)
  expect(code).toBe(0)
  expect(checkOf('credential file')).toMatchObject({ level: 'warning', hint: expect.stringContaining('STAC_AUTH_CREDENTIALS') })
  expect(checkOf('token store')).toMatchObject({ level: 'warning', hint: expect.stringContaining('XDG_CACHE_HOME') })
})

it('doctor warns of a secret that others can read, and does not have its owner close it to this user', async () => {
  const secret = await put(folder, 'secret', 'value')
  await chmod(secret, 0o644)
  const credential = { id: 'a', type: 'http', scheme: 'bearer', token: { file: secret }, sendTo: ['https://data.example/'] }
  const file = await put(folder, 'credentials.json', { version: 1, credentials: [credential] })
  const hintOf = async () => {
    const { stdout } = await run(['doctor', '--offline', '--json', '--credentials', file], { env: { XDG_CACHE_HOME: '' } })
    return (JSON.parse(stdout) as readonly Check[]).find(({ check, level }) => check === 'secret a.token' && level === 'warning')?.hint
  }
  expect(await hintOf()).toMatch(/^chmod 600 /)
  const own = process.getuid?.bind(process)
  // Only the check of the secret sees another user: a credential file of another user is refused before.
  const uid = vi.spyOn(process, 'getuid').mockImplementation(() => (new Error().stack?.includes('local-checks') ? 10_001 : (own?.() ?? 0)))
  expect(await hintOf()).toBe('let only this user read it, or mount it for this user only')
  uid.mockRestore()
})

it('a worker makes its folder as a download does', async () => {
  const data = join(folder, 'new', 'data')
  const { code } = await run(['queue', 'work', '-d', data, '--queue', 'redis://127.0.0.1:1'], { env: {} })
  expect(code).toBe(5)
  await expect(access(data)).resolves.toBeUndefined()
})
