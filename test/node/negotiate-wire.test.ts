import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { ticketsFor } from '../harness/tickets.ts'
import { unchecked } from '../harness/unchecked.ts'
import { type Answer, type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { type NegotiateOptions, negotiateServer } from '../servers/negotiate-server.ts'

const SERVICE = 'HTTP@127.0.0.1'
const servers: AnsweringServer[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const server of servers.splice(0)) await server.close()
})

/** A server, and an engine whose user has a ticket for it. */
async function facing(options: Partial<NegotiateOptions> = {}, fields: Partial<CredentialInput> = {}) {
  const key = randomBytes(32)
  vi.spyOn(platform, 'securityContext').mockImplementation(ticketsFor({ [SERVICE]: key }).securityContext)
  const server = await startAnswering(negotiateServer({ key, service: SERVICE, ...options }))
  servers.push(server)
  const entry = { id: 'mine', type: 'http', scheme: 'negotiate', sendTo: `${server.origin}/`, ...fields }
  const auth = createAuth({ credentials: unchecked(entry), typed: [server.origin] })
  const file = target({ type: 'http', scheme: 'Negotiate' }, `${server.origin}/f.txt`)
  const statuses = () => server.exchanges.map(({ answer }) => answer.status)
  return { auth, file, server, statuses, key }
}

describe('Negotiate on the wire', () => {
  it.each([1, 2, 3])('gets a file in %i rounds over one connection', async (rounds) => {
    const { auth, file, server, statuses } = await facing({ rounds })
    expect(await (await auth.fetch(file)).text()).toBe('data')
    expect(statuses()).toEqual([...Array(rounds - 1).fill(401), 200])
    expect(server.connections).toBe(1)
  })

  it('gets many files at a time, each over its own connection', async () => {
    const { auth, file, server } = await facing({ rounds: 2 })
    const texts = await Promise.all(Array.from({ length: 8 }, async () => (await auth.fetch(file)).text()))
    expect(texts).toEqual(Array(8).fill('data'))
    expect(server.connections).toBe(8)
  })

  it('does not continue over a second connection when the first is closed', async () => {
    const answer = (one: Answer) => ({ ...one, headers: { ...one.headers, connection: 'close' } })
    const { auth, file, server } = await facing({ rounds: 2, answer })
    expect(await failureOf(auth.fetch(file))).toMatchObject({ code: 'NETWORK_RESET' })
    expect([server.connections, server.exchanges.length]).toEqual([1, 1])
  })

  it('keeps back the file of a server without a proof', async () => {
    const { auth, file } = await facing({ answer: ({ body }) => ({ status: 200, ...(body !== undefined && { body }) }) })
    expect(await failureOf(auth.fetch(file))).toMatchObject({ code: 'AUTH_SERVER_UNPROVEN', credential: 'mine' })
  })

  it('returns no request, and connects to no one for one', async () => {
    const { auth, file, server } = await facing()
    expect(await failureOf(auth.authorize(file))).toMatchObject({ code: 'SCHEME_UNSUPPORTED', hint: 'send the request with fetch' })
    expect([auth.peek(file), server.connections]).toEqual([undefined, 0])
  })

  it('sends no token where sendTo does not cover', async () => {
    const { auth, file, server } = await facing({}, { sendTo: 'https://data.example/' })
    expect(await failureOf(auth.fetch(file))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    expect(server.connections).toBe(0)
  })

  it('Negotiate on the wire is sent nowhere else when it is redirected', async () => {
    const { server: other } = await facing()
    const { auth, file, server } = await facing({
      answer: (one) => (one.status === 200 ? { ...one, status: 302, headers: { ...one.headers, location: `${other.origin}/g.txt` } } : one),
    })
    expect(await failureOf(auth.fetch(file))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
    expect([server.exchanges.length, other.connections]).toEqual([1, 0])
  })

  it('refuses what real servers refuse', async () => {
    const { auth, file, server } = await facing({ rounds: 2 })
    await (await auth.fetch(file)).text()
    const tokens = server.exchanges.map(({ request }) => request.headers.authorization ?? '')
    const url = `${server.origin}/f.txt`
    for (const authorization of [...tokens, 'Negotiate YWJj', 'Negotiate', 'Basic YTpi']) {
      expect((await fetch(url, { headers: { authorization } })).headers.get('www-authenticate'), authorization).toBe('Negotiate')
    }
  })
})
