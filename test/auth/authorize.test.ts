import { describe, expect, it } from 'vitest'
import { authorizedRequest } from '../../src/auth/authorize.ts'
import { engineMemory, memoryStore, type SessionStore } from '../../src/auth/session.ts'
import { scheme, target } from '../harness/documents.ts'
import { DATA, entries, TOKEN_URL, victim } from '../harness/victim.ts'

const F = 'https://data.example/f.tif'
const plain = { method: 'GET', url: F, headers: { accept: '*/*' } }

describe('an authorized request', () => {
  it('has only the members that there is something to say of', () => {
    expect(authorizedRequest(plain, { request: plain })).toStrictEqual({ ...plain, secretIn: { headers: [], url: false } })
  })

  it('has body and end of the step, and says which header is secret', () => {
    const request = { method: 'POST', url: F, headers: { accept: '*/*', 'x-api-key': 'k' }, body: '{}' }
    expect(authorizedRequest(plain, { request, expiresAt: 0 })).toStrictEqual({
      ...request,
      expiresAt: '1970-01-01T00:00:00.000Z',
      secretIn: { headers: ['x-api-key'], url: false },
    })
  })

  it('has a secret URL where the step changed it, but not for the location of an object with its keys', () => {
    const request = { ...plain, url: `${F}?sig=s` }
    const location = { bucket: 'b', key: 'f.tif', endpoint: 'https://s3.example', pathStyle: true }
    const keys = { accessKeyId: 'AK', secretAccessKey: 'sk' }
    expect(authorizedRequest(plain, { request }).secretIn).toStrictEqual({ headers: [], url: true })
    expect(authorizedRequest(plain, { request, location, keys } as never)).toStrictEqual({
      ...request,
      location,
      keys,
      secretIn: { headers: [], url: false },
    })
  })
})

describe('the tokens of a credential', () => {
  it.each([
    ['are stored', [], 1],
    ['stay in memory where the credential itself does', ['oauth'], 0],
  ])('%s', async (_name, unstored, writes) => {
    const session = memoryStore()
    const written: string[] = []
    const write: SessionStore['write'] = async (key, text) => {
      written.push(key)
      await session.write(key, text)
    }
    const memory = { ...engineMemory({ now: () => 0 } as never), unstored: new Set(unstored) }
    const { auth } = victim({ credentials: [entries.oauth] as never, session: { ...session, write }, memory })
    await auth.authorize(target(scheme.client(TOKEN_URL), `${DATA}f.tif`))
    expect(written).toHaveLength(writes)
  })
})
