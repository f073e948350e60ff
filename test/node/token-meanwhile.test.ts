import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { SessionStore } from '../../src/auth/session.ts'
import { tokenFiles } from '../../src/node/tokens/token-files.ts'
import { temporaryFolder } from '../cli/folder.ts'
import { gate } from '../harness/stores.ts'
import { unchecked } from '../harness/unchecked.ts'
import { startServer } from '../servers/harness.ts'

it('a token that another process has stored is used, though that process still holds the lock', async () => {
  const issuer = await startServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"access_token":"right","token_type":"Bearer","expires_in":60}'),
  )
  const files = await startServer(({ headers }, response) => response.end(headers.authorization))
  onTestFinished(() => Promise.all([issuer.close(), files.close()]).then(() => undefined))
  const folder = join(await temporaryFolder(), 'tokens')
  const entry = { id: 'a', type: 'oauth2', flow: 'clientCredentials', tokenUrl: `${issuer.origin}/token`, clientId: 'a', clientSecret: 'b' }
  const authWith = (session: SessionStore) =>
    createAuth({ credentials: unchecked([{ ...entry, sendTo: [`${files.origin}/`] }]), session, typed: [files.origin, issuer.origin] })
  const fetched = async (session: SessionStore) => (await authWith(session).fetch(`${files.origin}/file`)).text()

  const [stored, held] = [gate(), gate()]
  const shared = tokenFiles({ folder })
  const slow: SessionStore = {
    ...shared,
    exclusively: (key, run, signal) =>
      shared.exclusively(
        key,
        async () => {
          const set = await run()
          stored.open()
          await held.run()
          return set
        },
        signal,
      ),
  }
  const first = fetched(slow)
  // Reads nothing at first, so that it comes to the lock.
  const other = tokenFiles({ folder })
  let reads = 0
  const late: SessionStore = { ...other, read: async (key) => (++reads === 1 ? undefined : other.read(key)) }
  await stored.run()
  expect(await fetched(late)).toBe('Bearer right')
  expect(held.isOpen()).toBe(false)
  held.open()
  expect([await first, issuer.requests.length]).toEqual(['Bearer right', 1])
})
