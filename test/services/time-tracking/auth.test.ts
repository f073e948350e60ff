import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it } from 'vitest'
import type { TimeTrackingClient } from '../../../src/services/time-tracking/time-tracking-client.ts'
import { canaryOf, leaks, shown } from '../../harness/canary.ts'
import { failureOf } from '../../harness/failure.ts'
import { ADA, KNOWN } from '../../servers/time-tracking/options.ts'
import { clientOf, timeTracking } from './service.ts'

const LOGIN = { operation: 'auth.login' }

const NOBODY = { auth: undefined as never, userAgent: 'acme-sync' }

describe('login', () => {
  it('returns a token that brings its User-Agent along', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service, { ...NOBODY, userAgent: 'nightly report' })
    const session = await client.auth.login(ADA)
    expect(session).toEqual({ token: expect.stringMatching(/^[\da-f]{40}$/), userAgent: 'nightly report', accountId: 7 })
    const { client: later } = clientOf(service, { token: session, userAgent: 'something else' })
    expect(await later.projects.list()).toHaveLength(2)
    expect(service.log[0]).toMatchObject({
      rawUrl: '/v1/auth',
      body: 'email=ada%40acme.example&password=pass%20w%C3%B6rd%2B%26%3D%25&account_id=7',
    })
    expect(service.log[0]?.headers).not.toHaveProperty('authorization')
    expect(service.plain.requests()).toBe(0)
  })

  it('sends no token, although the client has one', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    await client.auth.login(ADA)
    expect(service.log[0]?.headers).not.toHaveProperty('authorization')
  })

  it('says nothing about tokens when the password is wrong', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service, NOBODY)
    const error = await failureOf(client.auth.login({ ...ADA, password: 'wrong' }))
    expect(error).toMatchObject({ code: 'HTTP_401', message: expect.stringContaining('Wrong email'), attempts: 1, ...LOGIN })
    expect(error).not.toHaveProperty('hint')
  })

  it('needs a User-Agent that someone chose', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service, { auth: undefined as never })
    const error = await failureOf(client.auth.login(ADA))
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', hint: expect.stringContaining('userAgent'), ...LOGIN, attempts: 0 })
    expect(service.requests()).toBe(0)
  })

  it('without a token, only the login is sent', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service, NOBODY)
    const calls = [client.projects.list(), client.customers.update(1, { name: 'a' }), client.request('GET', '/x'), client.auth.revoke()]
    for (const error of await Promise.all(calls.map(failureOf))) expect(error).toMatchObject({ code: 'NO_CREDENTIAL', attempts: 0 })
    expect(service.requests()).toBe(0)
    expect(await client.projects.list({ credential: { type: 'http', scheme: 'bearer', token: KNOWN.token } })).toHaveLength(2)
  })

  it('keeps the password out of everything, also when the server repeats it', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service, NOBODY)
    const events: unknown[] = []
    for (const name of ['request', 'response', 'retry'] as const) client.on(name, (event) => events.push(event))
    const password = canaryOf('s3cret pass&wörd+%')
    service.script({ match: { op: 'login' }, do: { status: 422, body: { message: `no: ${password.value}`, errors: [password.value] } } })
    const error = await failureOf(client.auth.login({ ...ADA, password: password.value }))
    expect(error).toMatchObject({ code: 'HTTP_422', message: expect.stringContaining('[secret]'), attempts: 1 })
    expect(await failureOf(client.auth.login({ ...ADA, password: password.value }))).toMatchObject({ name: 'AuthenticationError' })
    expect(events).toHaveLength(4)
    expect(leaks([password], { error: shown(error), events: shown(events), client: shown(client) })).toEqual([])
  })

  it.each([{ dropField: 'token' }, { emptyBody: true }, { body: [], status: 200 }])(
    'refuses an answer without a token: %o',
    async (fault) => {
      const service = await timeTracking()
      service.script({ match: { op: 'login' }, do: fault })
      const { client } = clientOf(service, NOBODY)
      const error = await failureOf(client.auth.login(ADA))
      expect(error).toMatchObject({ name: 'ProtocolError', code: 'RESPONSE_INVALID', ...LOGIN, attempts: 1 })
    },
  )

  it('keeps a token out of the error of an answer that no one can read', async () => {
    const service = await timeTracking()
    const token = canaryOf('0123456789abcdef0123456789abcdef01234567')
    service.script({ match: { op: 'login' }, do: { status: 200, body: `token=${token.value}` } })
    const error = await failureOf(clientOf(service, NOBODY).client.auth.login(ADA))
    expect(error).toMatchObject({ code: 'RESPONSE_INVALID', snippet: '[secret]' })
    expect(leaks([token], { error: shown(error) })).toEqual([])
  })

  it('login is reported once to each who listens', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    const heard: unknown[] = []
    const listen = (message: unknown) => heard.push(['channel', (message as { operation: string }).operation])
    subscribe('stac-auth:request', listen)
    client.on('request', ({ operation }) => heard.push(['listener', operation]))
    await client.projects.list()
    await client.auth.login(ADA)
    unsubscribe('stac-auth:request', listen)
    const told = (operation: string) => [
      ['listener', operation],
      ['channel', operation],
    ]
    expect(heard).toEqual([...told('projects.list'), ...told('auth.login')])
  })

  it('waits for its own limit only', async () => {
    const service = await timeTracking({ loginsPerMinute: 1 })
    const { client, clock } = clientOf(service)
    await client.auth.login(ADA)
    const second = client.auth.login(ADA)
    await expect.poll(() => clock.pending('wait')).toBe(1)
    expect(await client.projects.list()).toHaveLength(2)
    service.clock.advance(60_000)
    clock.advance(66_001)
    expect(await second).toMatchObject({ accountId: 7 })
    expect(service.requests('login')).toBe(3)
  })
})

describe('revoke', () => {
  it('takes the token back', async () => {
    const service = await timeTracking()
    const { client } = clientOf(service)
    expect(await client.auth.revoke()).toBeUndefined()
    await expect(client.projects.list()).rejects.toMatchObject({ code: 'HTTP_401' })
    expect(service.log[0]).toMatchObject({ method: 'GET', rawUrl: '/v1/auth/revoke', bodyBytes: Buffer.alloc(0) })
  })

  it.each([
    ['429', { status: 429, retryAfter: 1 }],
    ['503 with a hint', { status: 503, retryAfter: 1 }],
    ['500', { status: 500 }],
    ['a lost connection', { resetBefore: true }],
    ['a lost answer', { performThen: { resetBefore: true } }],
    ['a redirect to itself', { redirect: { status: 307, location: '/v1/auth/revoke' } }],
  ])('revoke is requested once, also after %s', async (_what, fault) => {
    const service = await timeTracking()
    service.script({ match: { op: 'revoke' }, do: fault })
    const { client, clock } = clientOf(service)
    const error = await clock.run(failureOf(client.auth.revoke({ replay: 'idem', retry: { retries: 3 } } as never)))
    expect(error).toMatchObject({ attempts: 1, operation: 'auth.revoke' })
    expect(service.requests('revoke')).toBe(1)
  })

  it.each<[string, (client: TimeTrackingClient) => Promise<unknown>]>([
    ['a resource', (client) => client.resource('auth').get('revoke')],
    ['its request', (client) => client.resource('auth').request('GET', '/revoke')],
    ['escapes', (client) => client.request('GET', '/%61uth/revoke')],
  ])('revoke is not repeated by the way of %s', async (_what, revoke) => {
    const service = await timeTracking()
    service.script({ do: { performThen: { status: 502 } } })
    const { client, clock } = clientOf(service)
    expect(await clock.run(failureOf(revoke(client)))).toMatchObject({ code: 'HTTP_502', attempts: 1 })
    expect(service.log).toHaveLength(1)
  })

  it('revoke is not repeated below a base URL without a version', async () => {
    const service = await timeTracking()
    service.script({ do: { performThen: { status: 502 } } })
    const { client, clock } = clientOf(service, { baseUrl: new URL(service.base).origin, apiVersion: false })
    expect(await clock.run(failureOf(client.request('GET', '/v1/auth/revoke')))).toMatchObject({ code: 'HTTP_502', attempts: 1 })
    expect(service.log).toHaveLength(1)
  })

  it('revoke is not safe by the way of a raw request either', async () => {
    const service = await timeTracking()
    service.script({ match: { op: 'revoke' }, do: { performThen: { status: 502 } } })
    const { client, clock } = clientOf(service)
    expect(await clock.run(failureOf(client.request('GET', '/auth/revoke')))).toMatchObject({ code: 'HTTP_502', attempts: 1 })
    expect(service.requests('revoke')).toBe(1)
  })
})
