import { describe, expect, it, onTestFinished } from 'vitest'
import { createAuth } from '../../../src/auth/create-auth.ts'
import { temporaryFolder } from '../../cli/folder.ts'
import { FakeClock } from '../../harness/fake-clock.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { startFileDepot } from '../../servers/chaos/file-depot.ts'
import { startTokenServer } from '../../servers/token-server.ts'
import { codesOf, run } from './fixture.ts'

const CLIENT = { id: 'loader', secret: 'loader-secret', scopes: ['read'] }
const LIFETIME = 2000

/** A file behind tokens of two seconds; `delayOf` says how long the nth request for it is on its way. */
async function protectedFile(delayOf: (nth: number) => number, scope = 'read') {
  let [now, asked] = [1_800_000_000_000, 0]
  const clock = new FakeClock({ now: () => now, waits: 'skipped' })
  const tokens = await startTokenServer({ client: CLIENT, lifetime: LIFETIME / 1000, now: clock.now })
  const refuses = ({ authorization = '' }: { readonly authorization?: string | undefined }) => {
    now += delayOf(asked++)
    return tokens.accepts(authorization.replace(/^Bearer /, ''), scope) ? undefined : 'Bearer error="invalid_token"'
  }
  const depot = await startFileDepot({ files: () => ({ size: 1000 }), refuses })
  onTestFinished(async () => {
    await depot.close()
    await tokens.close()
  })
  const { id: clientId, secret: clientSecret } = CLIENT
  const entry = { id: 'loader', type: 'oauth2', flow: 'clientCredentials', tokenUrl: tokens.tokenUrl, clientId, clientSecret }
  const auth = createAuth({
    credentials: [unchecked({ ...entry, sendTo: [`${depot.origin}/`] })],
    typed: [depot.origin, tokens.origin],
    clock,
  })
  const flows = { clientCredentials: { tokenUrl: tokens.tokenUrl, scopes: { read: 'Read' } } }
  const properties = { 'auth:schemes': { oauth: { type: 'oauth2', flows } } }
  const assets = { data: { href: `${depot.origin}/data.bin`, 'auth:refs': ['oauth'] } }
  const inputs = [{ document: { type: 'Feature', id: 'one', properties, assets }, url: `${depot.origin}/item.json` }]
  const result = await run(inputs, { folder: await temporaryFolder(), auth, clock, retries: 3 })
  return { result, asked }
}

describe('a token that ends on its way', () => {
  it('a token that ends on its way is no reason to give a file up', async () => {
    // The first request and the one with a fresh token come too late, twice.
    const { result, asked } = await protectedFile((nth) => (nth < 4 ? LIFETIME : 0))
    expect(result.summary).toMatchObject({ written: 1, failed: 0, retries: 2 })
    expect(asked).toBe(5)
  })

  it('a token that ends on its way is not requested without end', async () => {
    const { result, asked } = await protectedFile(() => LIFETIME)
    expect(codesOf(result)).toEqual(['AUTH_REJECTED'])
    expect(asked).toBe(8)
  })

  it('a token that ends on its way is another thing than a token that is refused', async () => {
    const { result, asked } = await protectedFile(() => 0, 'write')
    expect(codesOf(result)).toEqual(['AUTH_REJECTED'])
    expect([asked, result.summary.retries]).toEqual([2, 0])
  })
})
