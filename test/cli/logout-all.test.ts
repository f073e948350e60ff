import { chmod, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { KEY, OTHER_KEY } from '../harness/stores.ts'
import { put, temporaryFolder } from './folder.ts'
import { run } from './run.ts'

const folder = await temporaryFolder()
const ada = {
  id: 'ada',
  type: 'oauth2',
  flow: 'authorizationCode',
  authorizationUrl: 'https://identity.example/authorize',
  tokenUrl: 'https://identity.example/token',
  clientId: 'me',
  sendTo: ['https://data.example/'],
}
const credentials = await put(folder, 'credentials.json', { version: 1, credentials: [ada] })

describe('tokens of credentials that were changed or removed', () => {
  const user = async (...keys: readonly string[]) => {
    const home = await mkdtemp(join(folder, 'home-'))
    const tokens = join(home, 'stac-auth', 'tokens')
    for (const key of keys) await tokenFiles({ folder: tokens }).write(key, 'secret')
    return { tokens, env: { XDG_CACHE_HOME: home, STAC_AUTH_CREDENTIALS: credentials } }
  }

  it('logout of all credentials also forgets tokens of changed or removed ones, and says so', async () => {
    const { tokens, env } = await user(KEY, OTHER_KEY)
    await writeFile(join(tokens, `${'c'.repeat(64)}.01.corrupt`), 'secret')
    await writeFile(join(tokens, 'notes.txt'), 'not ours')
    const outcome = await run(['logout', '--all'], { env })
    expect(outcome).toMatchObject({
      code: 0,
      stderr: 'removed 3 tokens of changed or deleted credentials, or of another credential file; nothing was revoked\n',
    })
    expect(await readdir(tokens)).toEqual(['notes.txt'])
    expect(await run(['logout', '--all'], { env })).toMatchObject({ code: 0, stderr: 'no credential is logged in\n' })
  })

  it('logout with a file or a credential leaves tokens of changed or removed credentials', async () => {
    const { tokens, env } = await user(KEY)
    const { stderr } = await run(['logout', '--all', '--credentials', credentials], { env })
    expect(stderr).toBe(
      '1 token of changed or deleted credentials, or of another credential file, is still stored: use stac-auth logout --all without --credentials to remove them\n',
    )
    await run(['logout'], { env })
    await run(['logout', 'ada'], { env })
    expect(await readdir(tokens)).toEqual([`${KEY}.json`])
  })

  it('tokens of changed or removed credentials are refused where another user could have changed them', async () => {
    const { tokens, env } = await user(KEY, OTHER_KEY)
    await chmod(join(tokens, `${KEY}.json`), 0o644)
    expect(await run(['logout', '--all'], { env })).toMatchObject({ code: 6, stderr: expect.stringContaining('chmod 600') })
    expect(await readdir(tokens)).toEqual([`${KEY}.json`])
  })
})
