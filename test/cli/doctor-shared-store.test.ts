/** `doctor` where the credential file names a shared token store. */
import { expect, it, vi } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { put, temporaryFolder } from './folder.ts'
import { run } from './run.ts'

it('reports a token store that cannot be reached once, not for the logins as well', async () => {
  vi.stubEnv('TOKEN_STORE_KEY', Buffer.alloc(32, 7).toString('base64'))
  const login = {
    id: 'cc',
    type: 'oauth2',
    flow: 'clientCredentials',
    tokenUrl: 'https://identity.example/token',
    clientId: 'a',
    clientSecret: { env: 'S' },
  }
  const file = await put(await temporaryFolder(), 'shared.json', {
    version: 1,
    tokens: { redis: 'redis://127.0.0.1:1', key: { env: 'TOKEN_STORE_KEY' } },
    credentials: [{ ...login, sendTo: ['https://data.example/'] }],
  })
  const { stdout } = await run(['doctor', '--offline', '--json', '--credentials', file])
  const refused = (JSON.parse(stdout) as Check[]).filter(({ code }) => code === 'NETWORK_REFUSED')
  expect(refused.map(({ check }) => check)).toEqual(['token store'])
})
