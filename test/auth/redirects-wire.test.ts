import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type AuthOptions, createAuth } from '../../src/auth/create-auth.ts'
import type { CredentialInput } from '../../src/auth/credential.ts'
import { undiciTransport } from '../../src/node/transport/undici-transport.ts'
import { type Canary, canary, leaks, shown } from '../harness/canary.ts'
import { scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { unchecked } from '../harness/unchecked.ts'
import { HOSTS, network, type RecordingServer, startServer } from '../servers/harness.ts'

const GOOD = `https://${HOSTS.good.name}/`
const EVIL = `https://${HOSTS.evil.name}/`
const INTERNAL = `https://${HOSTS.internal.name}/`

const open: RecordingServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((started) => started.close()))
})

async function server(listener?: RequestListener): Promise<RecordingServer> {
  const started = await startServer(listener, { tls: 'valid' })
  open.push(started)
  return started
}

/** Good, evil and internal servers by name, and an engine that reaches them through the real transport. */
async function setUp(
  credential: CredentialInput,
  listeners: { good?: RequestListener; evil?: RequestListener } = {},
  options: Partial<AuthOptions> = {},
) {
  const servers = { good: await server(listeners.good), evil: await server(listeners.evil), internal: await server() }
  const auth = createAuth({ credentials: { ...credential, sendTo: GOOD }, transport: undiciTransport(network(servers)), ...options })
  return { ...servers, auth }
}

const to =
  (location: string, status = 302): RequestListener =>
  (request, response) => {
    if (request.url?.startsWith('/f')) response.writeHead(status, { location }).end()
    else response.end('ok')
  }

interface Material {
  readonly credential: CredentialInput
  readonly scheme: Record<string, unknown>
  readonly secret: Canary
}

const secret = canary('wire', '+/~')
const b64 = canary('wire')
const materials: { readonly [name: string]: Material } = {
  bearer: { credential: unchecked({ type: 'http', scheme: 'bearer', token: b64.value }), scheme: scheme.bearer, secret: b64 },
  basic: {
    credential: unchecked({ type: 'http', scheme: 'basic', username: 'ada', password: secret.value }),
    scheme: scheme.basic,
    secret,
  },
  'key in a header': {
    credential: unchecked({ type: 'apiKey', in: 'header', name: 'x-key', value: secret.value }),
    scheme: scheme.key('x-key'),
    secret,
  },
  'key in the query': {
    credential: unchecked({ type: 'apiKey', in: 'query', name: 'key', value: secret.value }),
    scheme: scheme.key('key', 'query'),
    secret,
  },
  'key in a cookie': {
    credential: unchecked({ type: 'apiKey', in: 'cookie', name: 'key', value: secret.value }),
    scheme: scheme.key('key', 'cookie'),
    secret,
  },
}

describe.each(Object.entries(materials))('over the wire, a request with %s', (_name, { credential, scheme: k, secret: one }) => {
  const wanted = target(k, `${GOOD}f.tif`)
  const sees = ({ received }: RecordingServer) => one.seenIn(received).length > 0

  it.each([301, 302, 303, 307, 308])('H01 loses it by a %i to another origin', async (status) => {
    const { auth, good, evil } = await setUp(credential, { good: to(`${EVIL}g`, status) })
    expect(await (await auth.fetch(wanted)).text()).toBe('ok')
    expect([sees(good), sees(evil)]).toEqual([true, false])
    expect(evil.requests.map(({ method, path }) => [method, path])).toEqual([['GET', '/g']])
    expect(leaks([one], { evil: evil.received })).toEqual([])
  })

  it('H02, H03 a redirect out and back sends the secret again only where it is allowed', async () => {
    const evil = to(`${GOOD}back`)
    const { auth, good, evil: other } = await setUp(credential, { good: to(`${EVIL}f`), evil })
    expect(await (await auth.fetch(wanted)).text()).toBe('ok')
    expect(good.requests.map((request) => one.seenIn(JSON.stringify(request)).length > 0)).toEqual([true, true])
    expect(leaks([one], { evil: other.received })).toEqual([])
  })

  it('H01 never leaves when redirects to other origins are refused', async () => {
    const { auth, evil } = await setUp(credential, { good: to(EVIL) }, { redirects: 'error' })
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN', message: expect.stringContaining(HOSTS.evil.name) })
    expect(evil.connections).toBe(0)
    expect(leaks([one], { error: shown(error) })).toEqual([])
  })

  it.each([
    ['no encryption', `http://${HOSTS.good.name}/g`, 'REDIRECT_DOWNGRADE'],
    ['localhost', 'https://localhost/g', 'URL_ADDRESS_FORBIDDEN'],
    ['H07 a private address', 'https://10.1.2.3/g', 'URL_ADDRESS_FORBIDDEN'],
    ['H07, H08 a public name of a private address', `${INTERNAL}g`, 'URL_ADDRESS_FORBIDDEN'],
  ])('does not follow a redirect to %s', async (_place, location, code) => {
    const { auth, internal, evil } = await setUp(credential, { good: to(location) })
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ code })
    expect([internal.connections, evil.connections]).toEqual([0, 0])
    expect(leaks([one], { error: shown(error) })).toEqual([])
  })

  it('B05 is not sent to a public name of a private address', async () => {
    const { auth, internal } = await setUp(credential)
    const named = createAuth({ credentials: { ...credential, sendTo: INTERNAL }, transport: undiciTransport(network({ internal })) })
    await Promise.allSettled([auth.fetch(`${INTERNAL}f`), auth.fetch(target(k, `${INTERNAL}f`))])
    expect(internal.connections).toBe(0)
    expect((await named.fetch(target(k, `${INTERNAL}f`))).status).toBe(200)
  })

  it('reports a refusal by the server without showing the secret', async () => {
    const { auth } = await setUp(credential, {
      good: (request, response) => response.writeHead(403).end(JSON.stringify(request.headers) + request.url),
    })
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ code: 'AUTH_REJECTED', status: 403 })
    expect(leaks([one], { error: shown(error) })).toEqual([])
  })
})

describe('over the wire', () => {
  const bearer = { type: 'http', scheme: 'bearer', token: b64.value }
  const wanted = target(scheme.bearer, `${GOOD}f.tif`)

  it('a body is not redirected to another origin', async () => {
    const { auth, evil } = await setUp(unchecked(bearer), { good: to(EVIL, 307) })
    expect(await failureOf(auth.fetch(wanted, { method: 'POST', body: b64.value }))).toMatchObject({ code: 'REDIRECT_CROSS_ORIGIN' })
    expect(evil.connections).toBe(0)
  })

  it('an endless redirect ends', async () => {
    let count = 0
    const { auth, good } = await setUp(unchecked(bearer), {
      good: (_request, response) => response.writeHead(302, { location: `/f${++count}` }).end(),
    })
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'REDIRECT_TOO_MANY' })
    expect(good.requests).toHaveLength(11)
  })

  it('an abort ends the request with its reason', async () => {
    const { auth } = await setUp(unchecked(bearer), { good: () => {} })
    const controller = new AbortController()
    const fetching = failureOf(auth.fetch(wanted, { signal: controller.signal }))
    setTimeout(() => controller.abort('bored'), 50)
    expect(await fetching).toMatchObject({ name: 'AbortError', code: 'ABORTED', cause: 'bored' })
  })
})
