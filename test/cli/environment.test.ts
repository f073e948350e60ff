import { describe, expect, it } from 'vitest'
import { put, temporaryFolder } from './folder.ts'
import { itemWith } from './items.ts'
import { lastError, run } from './run.ts'

const folder = await temporaryFolder()
const credentials = await put(folder, 'none.json', { version: 1, credentials: [] })
const schemes = { login: { type: 'http', scheme: 'bearer' } }
const item = await put(folder, 'item.json', itemWith({ data: { href: 'https://data.example/f', 'auth:refs': ['login'] } }, { schemes }))
const authorize = (env: Record<string, string>) =>
  run(['authorize', item, '--asset', 'data', '--as', 'json', '--credentials', credentials], { env })

describe('STAC_AUTH_TOKEN', () => {
  it('STAC_AUTH_TOKEN is sent where STAC_AUTH_TOKEN_FOR says', async () => {
    const { code, stdout } = await authorize({
      STAC_AUTH_TOKEN: 'hunter2',
      STAC_AUTH_TOKEN_FOR: 'https://x.example/ https://data.example/',
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ headers: { authorization: 'Bearer hunter2' }, credential: 'env' })
  })

  it('STAC_AUTH_TOKEN is sent nowhere without it, with one warning line', async () => {
    const outcome = await authorize({ STAC_AUTH_TOKEN: 'hunter2' })
    expect([outcome.code, lastError(outcome).code]).toEqual([3, 'NO_CREDENTIAL'])
    const [first = ''] = outcome.stderr.split('\n')
    expect(JSON.parse(first)).toMatchObject({ severity: 'warn', message: expect.stringContaining('STAC_AUTH_TOKEN_FOR') })
    expect(outcome.stderr).not.toContain('hunter2')
  })
})
