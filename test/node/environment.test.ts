import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { credentialsFromEnvironment } from '../../src/node/credentials/credential-file.ts'
import { thrownBy } from '../harness/failure.ts'

function read(env: NodeJS.ProcessEnv) {
  const warnings: string[] = []
  const set = credentialsFromEnvironment(env, { warn: (message) => warnings.push(message) })
  return { ...set, warnings }
}

describe('credentialsFromEnvironment', () => {
  it('makes a bearer credential for the patterns', () => {
    const { credentials, warnings } = read({
      STAC_AUTH_TOKEN: 'canary',
      STAC_AUTH_TOKEN_FOR: ' https://data.example/\thttps://*.tiles.example/ ',
    })
    const sendTo = ['https://data.example/', 'https://*.tiles.example/']
    expect(credentials).toEqual([{ id: 'env', type: 'http', scheme: 'bearer', token: expect.any(Function), sendTo }])
    expect(warnings).toEqual([])
  })

  it('reads the token when it is needed', () => {
    const env: NodeJS.ProcessEnv = { STAC_AUTH_TOKEN: 'early', STAC_AUTH_TOKEN_FOR: 'https://data.example/' }
    const { credentials } = read(env)
    env.STAC_AUTH_TOKEN = 'late'
    const { token } = credentials[0] as unknown as { token: () => string }
    expect(token()).toBe('late')
    expect(JSON.stringify(credentials)).not.toMatch(/early|late/)
  })

  it.each([undefined, '', '  \n'])('ignores a token for %j, with one line that does not show it', (patterns) => {
    const { credentials, warnings } = read({ STAC_AUTH_TOKEN: 'canary', ...(patterns !== undefined && { STAC_AUTH_TOKEN_FOR: patterns }) })
    expect(credentials).toEqual([])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/^STAC_AUTH_TOKEN is ignored: set STAC_AUTH_TOKEN_FOR [^\n]*$/)
    expect(warnings[0]).not.toContain('canary')
  })

  it.each(['canary', 'https://data.example/ canary', 'https://ada:canary@data.example/', 'https://data.example/?key=canary'])(
    'refuses %j without showing it in any field of the error',
    (patterns) => {
      const failure = thrownBy(() => read({ STAC_AUTH_TOKEN: 'x', STAC_AUTH_TOKEN_FOR: patterns }))
      expect(failure).toMatchObject({ code: 'CONFIG_INVALID', hint: 'separate patterns with spaces' })
      expect(inspect(failure, { depth: 9 })).not.toContain('canary')
    },
  )

  it('names a pattern that cannot hold a secret', () => {
    const failure = thrownBy(() => read({ STAC_AUTH_TOKEN: 'canary', STAC_AUTH_TOKEN_FOR: 'https://*.com/' }))
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID', actual: 'https://*.com/' })
  })

  it('credentialsFromEnvironment is silent without a token', () => {
    expect(read({})).toEqual({ credentials: [], warnings: [] })
    expect(read({ STAC_AUTH_TOKEN: '', STAC_AUTH_TOKEN_FOR: 'https://data.example/' })).toEqual({ credentials: [], warnings: [] })
  })

  it('warns through the process by default', async () => {
    const warning = new Promise<Error>((resolve) => process.once('warning', resolve))
    credentialsFromEnvironment({ STAC_AUTH_TOKEN: 'canary' })
    expect((await warning).message).toMatch(/^STAC_AUTH_TOKEN is ignored/)
  })
})
