import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { TimeTrackingClient, type TimeTrackingOptions } from '../../../src/services/time-tracking/time-tracking-client.ts'
import { thrownBy } from '../../harness/failure.ts'
import { unchecked } from '../../harness/unchecked.ts'
import { KNOWN } from '../../servers/time-tracking/options.ts'
import { clientOf, timeTracking } from './service.ts'

const baseUrl = 'https://host.example/api/v1'
const make = (options: Partial<TimeTrackingOptions>) => new TimeTrackingClient({ baseUrl, token: 'a-token', ...options })

describe('the base URL', () => {
  it.each(['http://host.example/v1', 'http://127.0.0.1/v1', 'http://[::1]/v1', 'http://localhost/v1'])(
    '%s is refused before a credential is looked at',
    (url) => {
      let looked = false
      const options = {
        baseUrl: url,
        get token(): string {
          looked = true
          return 'a-token'
        },
      }
      expect(thrownBy(() => new TimeTrackingClient(options))).toMatchObject({ name: 'ConfigurationError', code: 'URL_INSECURE' })
      expect(looked).toBe(false)
    },
  )

  it.each(['http://host.example/v1', 'http://10.0.0.1/v1', 'http://localhost.example/v1'])('loopback on request is not %s', (url) =>
    expect(thrownBy(() => make({ baseUrl: url, allowInsecure: 'loopback' }))).toMatchObject({ code: 'URL_INSECURE' }),
  )

  it.each(['127.0.0.1', '127.8.9.1', '[::1]', 'localhost'])('loopback on request is %s', (host) => {
    expect(JSON.stringify(make({ baseUrl: `http://${host}/v1`, allowInsecure: 'loopback' }))).toContain('http://')
  })

  it.each(['https://host.example/', 'https://host.example/v2', 'https://host.example/api/v10', 'https://host.example/v1/projects'])(
    '%s does not end in the version',
    (url) => {
      const error = thrownBy(() => make({ baseUrl: url }))
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('does not end in the version, /v1') })
    },
  )

  it.each<Partial<TimeTrackingOptions>>([
    { baseUrl: 'https://host.example/v1/' },
    { baseUrl: 'https://host.example/v2', apiVersion: 'v2' },
    { baseUrl: 'https://host.example/', apiVersion: false },
  ])('the base URL is accepted: %o', (options) => expect(make(options)).toBeInstanceOf(TimeTrackingClient))

  it('the base URL is needed', () => {
    expect(thrownBy(() => new TimeTrackingClient({ token: 'a' } as never))).toBeInstanceOf(TypeError)
    expect(() => new TimeTrackingClient(undefined as never)).toThrow('new TimeTrackingClient(options): options must be an object')
  })
})

it('a token that is null is named', async () => {
  const client = make({ token: null as never })
  await expect(client.projects.list()).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('token of') })
})

describe('what else is wrong', () => {
  it.each<Partial<TimeTrackingOptions>>([
    { authHeader: { name: 'Host' } },
    { authHeader: { name: 'Content-Type' } },
    { authHeader: { name: 'a b' } },
    { authHeader: { name: 'Authorization', prefix: 'Bearer token' } },
    { userAgent: 'a\r\nx-injected: b' },
    { userAgent: '' },
    { userAgent: ' acme' },
    { auth: { type: 'http', scheme: 'bearer', token: 'a' } },
  ])('%o', (options) => expect(thrownBy(() => make(options))).toMatchObject({ code: 'CONFIG_INVALID' }))
})

it('shows its origin and nothing else', () => {
  const client = make({ token: 'tok-8c1f2e-tok' })
  const shown = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client) + String(client)
  expect(shown).toContain('https://host.example')
  expect(shown).not.toMatch(/8c1f|\/api/)
})

describe('the token', () => {
  it.each([
    ['bearer', undefined, { authorization: `Bearer ${KNOWN.token}` }],
    ['bare', { name: 'Authorization', prefix: '' }, { authorization: KNOWN.token }],
    ['x-api-token', 'x-api-token', { 'x-api-token': KNOWN.token }],
  ] as const)('the token is sent where the service requires it and nowhere else: %s', async (tokenField, authHeader, expected) => {
    const service = await timeTracking({ tokenField })
    for (const token of [KNOWN.token, async () => KNOWN.token]) {
      const { client } = clientOf(service, { token, ...(authHeader && { authHeader }) })
      expect(await client.projects.list()).toHaveLength(2)
    }
    const fields = ['authorization', 'x-api-token']
    for (const { headers } of service.log)
      expect(Object.fromEntries(Object.entries(headers).filter(([name]) => fields.includes(name)))).toEqual(expected)
    expect(service.log).toHaveLength(2)
    expect(service.plain.requests()).toBe(0)
  })

  it('the token may have another word before it', async () => {
    const service = await timeTracking({ strict: false })
    const { client } = clientOf(service, { authHeader: { name: 'Authorization', prefix: 'Token' } })
    await client.projects.list().catch(() => undefined)
    expect(service.log[0]?.headers.authorization).toBe(`Token ${KNOWN.token}`)
    service.reset()
  })

  it('the token may be a credential or come from an engine that covers the base URL', async () => {
    const service = await timeTracking()
    const entry = { type: 'http', scheme: 'bearer', token: KNOWN.token } as const
    const { createAuth } = await import('../../../src/auth/create-auth.ts')
    const auth = createAuth({ credentials: unchecked([{ ...entry, sendTo: [`${service.url}/`] }]) })
    for (const given of [entry, auth]) {
      const { client } = clientOf(service, { auth: given, userAgent: KNOWN.userAgent })
      expect(await client.projects.list()).toHaveLength(2)
    }
  })

  it('the token is not sent elsewhere by an engine', async () => {
    const service = await timeTracking()
    const { createAuth } = await import('../../../src/auth/create-auth.ts')
    const auth = createAuth({ credentials: [{ type: 'http', scheme: 'bearer', token: 'a', sendTo: ['https://other.example/'] }] })
    const { client } = clientOf(service, { auth, baseUrl })
    await expect(client.projects.list()).rejects.toMatchObject({ code: 'NO_CREDENTIAL', operation: 'projects.list', attempts: 0 })
    expect(service.requests()).toBe(0)
  })
})
