import { describe, expect, it } from 'vitest'
import { type AuthOptions, createAuth } from '../../src/auth/create-auth.ts'
import { bearer } from '../../src/auth/credential.ts'
import { defaultStrategies } from '../../src/strategies/index.ts'
import { thrownBy } from '../harness/failure.ts'

const credentials = bearer('t', 'https://data.example/')

/** Programs without types write what TypeScript refuses. */
const ready = (options: object) => createAuth({ credentials, ...options } as AuthOptions).ready()

const STRATEGY = {
  type: 'com.example.ticket',
  forms: [{ fields: { ticket: { kind: 'secret', label: 'Ticket' } } }],
  identity: () => [[]],
  schemeOf: () => ({ type: 'com.example.ticket' }),
  describe: () => ({ credential: {}, fields: {} }),
  async *authorize() {},
}

const readyWith = (strategy: object) =>
  ready({
    credentials: { type: 'com.example.ticket', ticket: 'A-17', sendTo: 'https://data.example/' },
    strategies: [...defaultStrategies, strategy],
  })

describe('options of an engine in JavaScript', () => {
  it.each([
    [{ byAdress: true }, 'createAuth has no option "byAdress"', 'did you mean "byAddress"?'],
    [{ cookies: true }, 'createAuth has no option "cookies"', expect.stringMatching(/^options: credentials, /)],
    [{ anonymous: true }, 'the option anonymous of createAuth must be "allow" or "refuse"', undefined],
    [{ redirects: 'manual' }, 'the option redirects of createAuth must be "follow" or "error"', undefined],
    [{ minValidity: '5 min' }, 'the option minValidity of createAuth must be a number of milliseconds', undefined],
    [{ transport: {} }, 'the option transport of createAuth must be a function', undefined],
    [{ onWarning: 5 }, 'the option onWarning of createAuth must be a function', undefined],
    [{ clock: {} }, 'the option clock of createAuth must be an object with now', undefined],
    [{ session: new Map() }, 'the option session of createAuth must be a token store with read, write, remove, exclusively', undefined],
  ])('refuses %o', async (options, message, hint) => {
    await expect(ready(options)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message, ...(hint && { hint }) })
  })

  it('accepts options that are undefined', async () => {
    await expect(ready({ anonymous: undefined, transport: undefined, session: undefined })).resolves.toBeUndefined()
  })
})

describe('a strategy of the caller in JavaScript', () => {
  it('is accepted with all methods', async () => {
    await expect(readyWith(STRATEGY)).resolves.toBeUndefined()
  })

  it.each([
    [{ authorize: undefined }, 'authorize of the strategy "com.example.ticket" must be a function'],
    [{ authorize: async () => {} }, 'authorize of the strategy "com.example.ticket" must be an async generator'],
    [{ forms: undefined }, 'forms of the strategy "com.example.ticket" must be a list'],
    [{ forms: [{}] }, 'each of the forms of the strategy "com.example.ticket" must have fields'],
    [{ forms: [{ fields: { ticket: { kind: 'string' } } }] }, /^the kind of the field ticket of .* must be one of text, secret, /],
  ])('is refused with %o', async (change, message) => {
    await expect(readyWith({ ...STRATEGY, ...change })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  it.each([
    [[{ ticket: STRATEGY }], '/strategies/0', 'strategies/0 is not a strategy'],
    [[null], '/strategies/0', 'strategies/0 is not a strategy'],
    ['ticket', '/strategies', 'strategies must be a list of strategies'],
    [5, '/strategies', 'strategies must be a list of strategies'],
  ])('is refused in the list %o', (strategies, pointer, message) => {
    const made = () => createAuth({ credentials: [], strategies: strategies as never })
    expect(thrownBy(made)).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message), pointer })
  })

  it('is refused with a method that is not a function', async () => {
    const message = 'peek of the strategy "com.example.ticket" must be a function'
    await expect(readyWith({ ...STRATEGY, peek: true } as never)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
  })

  it('is refused when load() returns its module', async () => {
    const lazy = { type: 'com.example.ticket', load: async () => ({ ticket: STRATEGY }) }
    await expect(readyWith(lazy)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: 'a strategy has no type' })
  })
})
