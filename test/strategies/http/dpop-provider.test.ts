import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { target } from '../../harness/documents.ts'
import { failureOf } from '../../harness/failure.ts'
import { testKey } from '../../harness/keys.ts'
import { type DpopProvider, startDpopProvider } from '../../servers/dpop-provider.ts'
import { thumbprintOf } from '../../servers/jws.ts'

let server: DpopProvider
beforeAll(async () => {
  server = await startDpopProvider()
})
afterAll(() => server.close())

function engine(token: string, privateKey: string) {
  const auth = createAuth({ credentials: { type: 'http', scheme: 'dpop', token, privateKey, sendTo: `${server.origin}/` } })
  return () => auth.fetch(target({ type: 'http', scheme: 'dpop' }, `${server.resource}?a=b`))
}

describe('dpop at a real resource', () => {
  it.each([
    ['P-256', testKey.p256()],
    ['Ed25519', testKey.ed25519()],
  ])('dpop at a real resource opens with a %s key: the nonce is requested once', async (_name, { publicKey, pem }) => {
    const before = server.statuses.length
    const fetched = engine(await server.issue(thumbprintOf(publicKey)), pem)
    for (let i = 0; i < 3; i++) expect(await (await fetched()).json()).toEqual({ sub: 'ada' })
    expect(server.statuses.slice(before)).toEqual([401, 200, 200, 200])
  })

  it('dpop at a real resource is refused with a key that the token is not bound to', async () => {
    const before = server.statuses.length
    const token = await server.issue(thumbprintOf(testKey.p256().publicKey))
    const error = await failureOf(engine(token, testKey.p256().pem)())
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', status: 401, message: expect.stringContaining('invalid_token') })
    expect(leaks([canaryOf(token)], { error: shown(error) })).toEqual([])
    expect(server.statuses.slice(before)).toEqual([401, 401])
  })
})
