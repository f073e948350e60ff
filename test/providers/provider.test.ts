import { describe, expect, it } from 'vitest'
import { createAuth } from '../../src/auth/create-auth.ts'
import * as entryPoint from '../../src/providers/index.ts'
import { copernicus, earthdata, planet, planetaryComputer, providers } from '../../src/providers/index.ts'
import { credentialsFrom, credentialsOf, type Provider } from '../../src/providers/provider.ts'

const refusal = (call: () => unknown) => {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

describe('credentials of a provider', () => {
  it('are accepted by an engine together, whatever their number', async () => {
    const credentials = [planetaryComputer(), earthdata({ token: 't' }), copernicus({ username: 'ada', password: () => 'p' })]
    await createAuth({ credentials }).ready()
    expect(credentials.flat().map(({ id, provider }) => [id, provider])).toEqual([
      ['planetary-computer', 'planetary-computer'],
      ['earthdata', 'earthdata'],
      ['copernicus', 'copernicus'],
    ])
  })

  it('are those of the first way in that has exactly the values given', () => {
    expect(copernicus()).toMatchObject([{ clientId: 'cdse-public', scopes: ['offline_access'] }])
    expect(copernicus({ username: 'ada', password: 'p', totp: '123456' })).toMatchObject([{ flow: 'password', totp: '123456' }])
    expect(copernicus({ accessKeyId: 'a', secretAccessKey: 's' })).toMatchObject([{ type: 's3' }])
    expect(planet({ apiKey: 'k' })).toMatchObject([{ scheme: 'api-key', credentials: 'k' }])
    expect(planet({ apiKey: 'k', way: 'tiles' })).toMatchObject([{ in: 'query', value: 'k' }])
  })

  it('leave out what has no value, and keep sources of secrets as they are', () => {
    const password = { keyring: 'cdse' }
    const [credential] = copernicus({ username: 'ada', password })
    expect(credential).toMatchObject({ password })
    expect(credential).not.toHaveProperty('totp')
  })

  it('may need several of them: a signing API with its key, and S3 keys with their token', () => {
    expect(planetaryComputer({ apiKey: 'k' })).toMatchObject([{ value: 'k' }, { with: 'planetary-computer-key' }])
    expect(earthdata({ way: 's3', token: 't' }).slice(0, 2)).toMatchObject([{ token: 't' }, { with: 'earthdata', type: 's3' }])
  })

  it.each<[string, () => unknown, string, string]>([
    ['a missing value', () => copernicus({ username: 'ada' } as never), 'copernicus has no way in with username', 'username and password'],
    ['an unknown value', () => planet({ apiKey: 'k', key: 'k' } as never), 'planet has no way in with apiKey and key', 'apiKey (key)'],
    ['an unknown way in', () => planet({ apiKey: 'k', way: 'cookie' } as never), 'planet has no way in "cookie"', 'key, basic, tiles'],
    ['a misspelt value', () => planet({ apikey: 'k', way: 'key' } as never), 'planet needs apiKey', 'API key'],
  ])('are refused for %s, which the message names with what is needed', (_name, call, message, hint) => {
    expect(refusal(call)).toMatchObject({ code: 'CONFIG_INVALID', message, hint: expect.stringContaining(hint) })
  })

  it('are refused without the secret in the message', () => {
    const error = refusal(() => credentialsFrom(planet.provider, 'key', { apiKey: 'canary', apiKeys: 'canary' }))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', hint: 'did you mean "apiKey"?' })
    expect(JSON.stringify([error, String(error)])).not.toContain('canary')
  })

  it('share nothing with the registry: a changed credential changes no other one', () => {
    const [first] = planetaryComputer()
    ;(first as unknown as { sendTo: string[] }).sendTo.push('https://evil.example/')
    expect(JSON.stringify([planetaryComputer(), providers])).not.toContain('evil.example')
  })

  it('of a provider of your own are made in the same way', () => {
    const own = {
      ...planet.provider,
      id: 'mine',
      ways: [
        {
          id: 'key',
          when: 'Always, for all files.',
          works: [],
          holes: { apiKey: { label: 'Key', kind: 'secret' } },
          credentials: [
            { id: 'mine', type: 'apiKey', in: 'header', name: 'x-key', value: { hole: 'apiKey' }, sendTo: ['https://a.example/'] },
          ],
        },
      ],
    } as const satisfies Provider
    expect(credentialsOf<{ apiKey: string }>(() => own)({ apiKey: 'k' })).toMatchObject([{ value: 'k', provider: 'mine' }])
  })
})

it('the entry point exports a function for each provider, named as its id', () => {
  const functions = new Map<string, unknown>(Object.entries(entryPoint))
  for (const provider of providers) {
    const name = provider.id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    expect(functions.get(name), name).toHaveProperty('provider', provider)
  }
})
