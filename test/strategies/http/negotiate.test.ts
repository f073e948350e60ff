import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { runFlow } from '../../../src/auth/strategy.ts'
import type { Connection, HttpRequest } from '../../../src/http/message.ts'
import { negotiate } from '../../../src/strategies/http/schemes.ts'
import { unauthorized, wordContext } from '../../harness/auth-flow.ts'
import { failureOf } from '../../harness/failure.ts'
import { script } from '../../harness/scripted.ts'
import { ticketsFor } from '../../harness/tickets.ts'
import { DATA } from '../../harness/victim.ts'
import type { Answer } from '../../servers/answering-server.ts'
import { type NegotiateOptions, negotiateServer } from '../../servers/negotiate-server.ts'

const F = `${DATA}f.tif`
const SERVICE = 'HTTP@data.victim.example'
const KEY = randomBytes(32)
const request: HttpRequest = { method: 'GET', url: F, headers: { accept: '*/*' } }

afterEach(() => vi.restoreAllMocks())

/** A client with a ticket for the service, and what went over the connections that it opened. */
function client(fields: Readonly<Record<string, unknown>> = {}, keys: Readonly<Record<string, Uint8Array>> = { [SERVICE]: KEY }) {
  const tickets = ticketsFor(keys)
  vi.spyOn(platform, 'securityContext').mockImplementation(tickets.securityContext)
  const sent: { authorization: string; connection: number }[] = []
  const closed: number[] = []
  let opened = 0
  const numbers = new Map<Connection, number>()
  const connect = async (): Promise<Connection> => {
    const number = ++opened
    const connection = { send: () => Promise.reject(), keyingMaterial: () => undefined, close: () => closed.push(number) }
    numbers.set(connection, number)
    return connection
  }
  const context = { ...wordContext('negotiate', fields), connect }
  /** The answer to one request. */
  const get = async (answerTo: (request: { headers: { authorization?: string }; connection: number }) => Answer, wanted = request) => {
    const result = await runFlow(negotiate.authorize(wanted, context), (step) => {
      const connection = (step.connection && numbers.get(step.connection)) ?? 0
      const headers = { authorization: step.request.headers.authorization ?? '' }
      sent.push({ ...headers, connection })
      return script(() => answerTo({ headers, connection })).send(step.request)
    })
    return result?.response
  }
  return { get, sent, closed, tickets }
}

const server = (options: Partial<NegotiateOptions> = {}) => negotiateServer({ key: KEY, service: SERVICE, ...options }) as never

describe('Negotiate', () => {
  it('sends a token at once, and hears the proof of the server', async () => {
    const { get, sent, closed, tickets } = client()
    expect(await (await get(server()))?.text(99)).toBe('data')
    expect(sent).toEqual([{ authorization: expect.stringMatching(/^Negotiate [\w+/]+=*$/), connection: 1 }])
    expect(tickets.wanted).toEqual([{ id: 'mine', service: SERVICE }])
    expect(closed).toEqual([1])
  })

  it.each([2, 3, 7])('continues over one connection for %i rounds', async (rounds) => {
    const { get, sent, closed } = client()
    expect((await get(server({ rounds })))?.status).toBe(200)
    expect(sent.map(({ connection }) => connection)).toEqual(Array(rounds).fill(1))
    expect(closed).toEqual([1])
  })

  it('begins anew with every request', async () => {
    const { get, sent } = client()
    const files = server({ rounds: 2 })
    for (let round = 0; round < 2; round++) expect((await get(files))?.status).toBe(200)
    expect(sent.map(({ connection }) => connection)).toEqual([1, 1, 2, 2])
  })

  it.each([
    ['https://Data.Victim.Example:8443/f', 'HTTP@data.victim.example'],
    ['https://[2001:DB8::1]/f', 'HTTP@2001:db8::1'],
  ])('names the service by the host of %s', async (url, service) => {
    const { get, tickets } = client({}, {})
    await failureOf(get(server(), { ...request, url: new URL(url).href }))
    expect(tickets.wanted).toEqual([{ id: 'mine', service }])
  })

  it('takes the principal of the credential, and delegates only when it says so', async () => {
    for (const [fields, wanted] of [
      [
        { principal: 'ada@EXAMPLE', delegate: true },
        { principal: 'ada@EXAMPLE', delegate: true },
      ],
      [{ delegate: false }, {}],
    ] as const) {
      const { get, tickets } = client(fields)
      await get(server())
      expect(tickets.wanted).toEqual([{ id: 'mine', service: SERVICE, ...wanted }])
    }
  })

  it('sends nothing without a ticket', async () => {
    const { get, sent, closed } = client({}, {})
    expect(await failureOf(get(server()))).toMatchObject({ code: 'LOGIN_REQUIRED', hint: 'kinit' })
    expect([sent, closed]).toEqual([[], [1]])
  })

  it('Negotiate is for programs outside the browser', () => {
    const refusal = negotiate.unsupported?.({} as never)
    if (platform.connect) expect(refusal).toBeUndefined()
    else expect(refusal).toMatchObject({ code: 'UNSUPPORTED_IN_BROWSER', hint: expect.stringContaining("credentials: 'include'") })
  })

  it('Negotiate has principals without control characters', () => {
    expect(negotiate.check?.({ principal: 'a\0b' } as never)).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/principal' })
    expect(negotiate.check?.({} as never)).toBeUndefined()
  })
})

describe('a server that refuses', () => {
  const always = (answer: Answer) => () => answer
  const refusals: readonly [string, ReturnType<typeof server> | (() => Answer), string, number][] = [
    ['with another key than the ticket is for', server({ key: randomBytes(32) }), 'AUTH_REJECTED', 1],
    ['without a challenge', always({ status: 401 }), 'AUTH_REJECTED', 1],
    ['with a token that is not of this exchange', always(unauthorized('Negotiate YII=') as Answer), 'AUTH_REJECTED', 1],
    ['with other schemes only', always(unauthorized('Basic realm="b", Digest realm="d"') as Answer), 'AUTH_CHALLENGE_UNSUPPORTED', 1],
    ['with text that is no base64', always(unauthorized('Negotiate a-~b') as Answer), 'AUTH_CHALLENGE_UNSUPPORTED', 1],
    ['with NTLM', always(unauthorized('Negotiate TlRMTVNTUAACAAAA') as Answer), 'AUTH_CHALLENGE_UNSUPPORTED', 1],
    ['after several rounds', server({ rounds: 2, answer: (one, round) => (round === 2 ? { status: 401 } : one) }), 'AUTH_REJECTED', 2],
    ['never, and asks for ever', server({ rounds: 99 }), 'AUTH_REJECTED', 7],
  ]

  it.each(refusals)('%s', async (_how, files, code, steps) => {
    const { get, sent, closed } = client()
    expect(await failureOf(get(files as never))).toMatchObject({ code, credential: 'mine' })
    expect([sent.length, closed]).toEqual([steps, [1]])
  })

  it('a server that refuses when it says that all is done, and still refuses', async () => {
    const { get } = client()
    const files = server({ answer: ({ headers = {} }) => ({ status: 401, headers }) })
    expect(await failureOf(get(files))).toMatchObject({ code: 'AUTH_REJECTED' })
  })

  it('a continuation on another connection', async () => {
    const { get } = client()
    const files = negotiateServer({ key: KEY, service: SERVICE, rounds: 2 })
    let moved = 0
    expect(await failureOf(get(((one: object) => files({ ...one, connection: moved++ } as never)) as never))).toMatchObject({
      code: 'AUTH_REJECTED',
    })
  })
})

describe('a server that does not prove itself', () => {
  const instead = (headers: Answer['headers'], status = 200) => server({ answer: () => ({ status, headers, body: 'data' }) })

  it.each([
    ['gives no token', instead({})],
    ['gives the token of another', instead({ 'www-authenticate': 'Negotiate YII=' })],
    ['gives text that is no base64', instead({ 'www-authenticate': 'Negotiate a-~b' })],
    ['gives NTLM', instead({ 'www-authenticate': 'Negotiate TlRMTVNTUAACAAAA' })],
    ['redirects', instead({ location: '/other' }, 302)],
    ['ends too early', server({ rounds: 2, answer: ({ headers = {} }) => ({ status: 200, headers, body: 'data' }) })],
    ['has another key', server({ key: randomBytes(32), answer: (one) => ({ ...one, status: 200, body: 'data' }) })],
  ])('%s: its answer is thrown away', async (_what, files) => {
    const { get, closed } = client()
    expect(await failureOf(get(files))).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN', credential: 'mine' })
    expect(closed).toEqual([1])
  })

  it('a server that does not prove itself may leave it out where it gives nothing', async () => {
    const { get } = client()
    expect((await get(instead({}, 404)))?.status).toBe(404)
  })
})

describe('NTLM in place of a ticket', () => {
  it.each(['TlRMTVNTUAABAAAA', btoa('\x60\x40\x06NTLMSSP\0\x01')])('NTLM in place of a ticket is not sent: %s', async (token) => {
    const { get, sent, closed } = client()
    vi.spyOn(platform, 'securityContext').mockResolvedValue({ isComplete: false, step: async () => token })
    expect(await failureOf(get(server()))).toMatchObject({ code: 'LOGIN_REQUIRED', hint: 'kinit' })
    expect([sent, closed]).toEqual([[], [1]])
  })
})
