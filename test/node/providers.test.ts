import { chmod, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { credentialsFromFile } from '../../src/node/credential-file.ts'
import { root } from '../architecture/files.ts'

it('the entries for known providers are read as a credential file is, and each is explained', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'providers-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'credentials.json')
  await copyFile(join(root, 'examples/providers.json'), file)
  await chmod(file, 0o600)
  const credentials = await credentialsFromFile(file)
  const auth = createAuth({ credentials, transport: () => Promise.reject(new Error('sent')) })
  await auth.ready()
  const states = await auth.status()
  const logins = credentials.credentials.filter(({ type }) => type === 'oauth2' || type === 'openIdConnect')
  expect(states.map(({ credential, state }) => [credential, state])).toEqual(logins.map(({ id }) => [id, 'none']))
  const page = await readFile(join(root, 'docs/providers.md'), 'utf8')
  for (const { id } of credentials.credentials) expect(page).toContain(`| \`${id}\` |`)
})
