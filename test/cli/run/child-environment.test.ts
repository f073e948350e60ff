import { describe, expect, it } from 'vitest'
import { childEnvironment, secretVariables } from '../../../src/cli/run/child-environment.ts'

const without = (credentials: readonly unknown[], env: Record<string, string>) =>
  childEnvironment(env, { added: {}, without: secretVariables(credentials) })

describe('the environment of the program', () => {
  it('has no variable that a credential takes a secret from', () => {
    const credentials = [
      { id: 'a', type: 'http', scheme: 'bearer', token: { env: 'TOKEN' }, username: { env: 'USER_NAME' } },
      { id: 'b', type: 'signedUrl', parameters: { key: { env: 'PARAMETER' }, text: 'env' } },
      { id: 'c', type: 'apiKey', value: { command: ['env', 'COMMAND'] } },
    ]
    const env = {
      TOKEN: 't',
      USER_NAME: 'u',
      PARAMETER: 'p',
      COMMAND: 'c',
      env: 'e',
      STAC_AUTH_TOKEN: 's',
      STAC_AUTH_QUEUE: 'redis://:password@127.0.0.1/',
      PATH: '/bin',
      AWS_SECRET_ACCESS_KEY: 'w',
    }
    expect(without(credentials, env)).toEqual({ COMMAND: 'c', env: 'e', PATH: '/bin', AWS_SECRET_ACCESS_KEY: 'w' })
  })

  it('has no keys of object stores where a credential uses those of the environment', () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'i',
      AWS_SECRET_ACCESS_KEY: 's',
      AWS_SESSION_TOKEN: 't',
      CLOUD_SECRET_ACCESS_KEY: 'c',
      AWS_REGION: 'r',
    }
    expect(without([{ id: 's', type: 's3' }], env)).toEqual({ AWS_REGION: 'r' })
    expect(without([{ id: 's', type: 's3', accessKeyId: { env: 'MINE' } }], { ...env, MINE: 'm' })).toEqual(env)
  })

  it('keeps a proxy away from the gateway', () => {
    const exempt = { no_proxy: 'a.example,127.0.0.1,localhost,::1', NO_PROXY: 'a.example,127.0.0.1,localhost,::1' }
    expect(without([], { http_proxy: 'http://proxy', NO_PROXY: 'a.example, 127.0.0.1' })).toEqual({ http_proxy: 'http://proxy', ...exempt })
    expect(without([], { NO_PROXY: 'a.example' })).toEqual({ NO_PROXY: 'a.example' })
  })

  it('has the variables of the gateway in the place of older ones', () => {
    expect(childEnvironment({ STAC_AUTH_GATEWAY: 'old', A: undefined }, { added: { STAC_AUTH_GATEWAY: 'new' }, without: [] })).toEqual({
      STAC_AUTH_GATEWAY: 'new',
    })
  })
})
