import { expect, it, vi } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import { Secret } from '../../src/auth/credential.ts'
import { canary, leaks, shown } from '../harness/canary.ts'

it('a secret that another copy of the library has made is one, and prints as one', async () => {
  vi.resetModules()
  const other = await import('../../src/auth/credential.ts')
  expect(other.Secret).not.toBe(Secret)
  const one = canary('secret')
  const made = Secret.from(new other.Secret(one.value))
  expect(made).toBeInstanceOf(Secret)
  expect(leaks([one], { shown: shown(made) })).toEqual([])
  expect(await made?.reveal()).toBe(one.value)
})

it('credentials that another copy has read serve requests of this one', async () => {
  vi.resetModules()
  const other = await import('../../src/auth/credential.ts')
  const entry = {
    id: 'key',
    type: 'apiKey',
    in: 'header',
    name: 'x-key',
    value: new other.Secret('k-1'),
    sendTo: ['https://data.example/'],
  }
  const auth = createAuth({ credentials: [entry as never] })
  const document = {
    type: 'Feature',
    id: 'i',
    stac_extensions: ['https://stac-extensions.github.io/authentication/v1.1.0/schema.json'],
    properties: { 'auth:schemes': { k: { type: 'apiKey', in: 'header', name: 'x-key' } } },
    assets: { data: { href: 'https://data.example/a.tif', 'auth:refs': ['k'] } },
  }
  const { assetOf } = await import('../../src/stac/target.ts')
  const request = await auth.authorize(assetOf(document as never, 'data'))
  expect(request.headers).toMatchObject({ 'x-key': 'k-1' })
})
