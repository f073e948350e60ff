/** What the context lets a strategy do, whatever a strategy tries. */
import { describe, expect, it } from 'vitest'
import { createEngine, type EngineOptions } from '../../src/auth/create-engine.ts'
import { engineMemory } from '../../src/auth/session.ts'
import { type AuthContext, type AuthFlow, authorized, type Strategy } from '../../src/auth/strategy.ts'
import { type Connection, type HttpRequest, type Transport, withHeader } from '../../src/http/message.ts'
import type { CustomScheme } from '../../src/stac/scheme.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { routes } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const EVIL = 'https://evil.example/'
const SERVICE = 'https://auth.example/token'
const wanted = target({ type: 'taker' }, F)

/** A strategy with these members, whose credential may name another one in `with`. */
function strategy(type: string, members: Partial<Strategy<CustomScheme>>): Strategy<CustomScheme> {
  return {
    type,
    forms: [{ fields: { with: { kind: 'id', label: 'Other' } } }],
    identity: () => [[]],
    schemeOf: () => ({ type }),
    describe: () => ({ credential: { type }, fields: {} }),
    authorize: async function* () {},
    ...members,
  }
}

interface Circumstances extends Partial<EngineOptions> {
  /** The strategy of the credential that is named in `with`. */
  readonly giver?: Partial<Strategy<CustomScheme>>
  /** Members of the credential of the strategy under test. */
  readonly entry?: object
  /** The forms of that credential. */
  readonly forms?: Strategy['forms']
}

/** An engine with a strategy that does this with its context before the request. */
function engine(act: (context: AuthContext) => Promise<unknown>, { giver = {}, entry, forms, ...options }: Circumstances = {}) {
  const servers = routes({ [F]: {}, [SERVICE]: {} })
  const taker = strategy('taker', {
    ...(forms && { forms }),
    endpoints: () => [SERVICE],
    authorize: async function* (request: HttpRequest, context: AuthContext): AuthFlow {
      await act(context)
      yield authorized(request)
    },
  })
  const credentials = unchecked([
    { id: 't', type: 'taker', sendTo: DATA, with: 'g', ...entry },
    { id: 'g', type: 'giver', sendTo: SERVICE },
  ])
  const auth = createEngine({ credentials, strategies: [taker, strategy('giver', giver)], transport: servers.send, ...options })
  return { auth, servers }
}

const post = (url: string): HttpRequest => ({ method: 'POST', url, headers: {} })

describe('requests of a strategy', () => {
  it('go anywhere on an origin whose endpoints are discovered, and to no other', async () => {
    const endpoints = () => [{ origin: 'https://auth.example', publishedAt: `${SERVICE}/.well-known` }]
    const reached = async (url: string) => {
      const servers = routes({})
      const taker = strategy('taker', {
        endpoints,
        authorize: async function* (request: HttpRequest, context: AuthContext): AuthFlow {
          await context.send(post(url))
          yield authorized(request)
        },
      })
      const credentials = unchecked({ id: 't', type: 'taker', sendTo: DATA })
      const result = createEngine({ credentials, strategies: [taker], transport: servers.send }).fetch(wanted)
      return result.then(
        () => servers.sent[0]?.url,
        ({ code }) => (servers.sent.length > 0 ? 'sent' : code),
      )
    }
    for (const url of ['https://auth.example/a', 'https://auth.example/b/c?d']) expect(await reached(url)).toBe(url)
    for (const url of ['https://auth.example:8443/a', 'http://auth.example/a', 'https://x.auth.example/a', EVIL, F])
      expect(await reached(url), url).toBe('CREDENTIAL_ENDPOINT_UNTRUSTED')
  })

  it('name the credential, and whether they go to the target or to an endpoint', async () => {
    const { auth, servers } = engine(({ send }) => send(post(SERVICE)))
    await auth.fetch(wanted)
    expect(servers.sent.map(({ options }) => options.use)).toEqual([
      { credential: 't', type: 'taker', to: 'endpoint' },
      { credential: 't', type: 'taker', to: 'resource' },
    ])
  })

  it('and everything else end with the removal of the credential, also where nothing would be sent', async () => {
    let begun = false
    const memory = { ...engineMemory({ now: Date.now }), removed: new Set(['t']) }
    const act = async () => {
      begun = true
    }
    const { auth, servers } = engine(act, { memory })
    for (const work of [auth.fetch(wanted), auth.authorize(wanted)])
      expect(await failureOf(work)).toMatchObject({ code: 'NO_CREDENTIAL', credential: 't' })
    expect([begun, servers.sent]).toEqual([false, []])
  })
})

describe('the credential that another one names', () => {
  const token = async () => ({ value: 'secret', tokenType: 'Bearer' }) as const

  it('gives its token for its own allowed URLs, and its type', async () => {
    const seen: unknown[] = []
    const { auth } = engine(async ({ input }) => seen.push(await input?.token(SERVICE), input?.type), { giver: { token } })
    await auth.fetch(wanted)
    expect(seen).toEqual([await token(), 'giver'])
  })

  it('gives no token for any other URL', async () => {
    let asked = false
    const giver = {
      token: () => {
        asked = true
        return token()
      },
    }
    for (const url of [F, EVIL, 'http://auth.example/token']) {
      const { auth, servers } = engine(async ({ input }) => input?.token(url), { giver })
      expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED', credential: 'g' })
      expect([asked, servers.sent]).toEqual([false, []])
    }
  })

  it('authorizes requests to the endpoints of the other, and nothing else', async () => {
    const giver = {
      authorize: async function* (request: HttpRequest): AuthFlow {
        yield authorized(withHeader(request, 'x-giver', 'secret'))
      },
    }
    const { auth, servers } = engine(async ({ input }) => input?.send(post(SERVICE)), { giver })
    await auth.fetch(wanted)
    expect(servers.sent.map(({ url, headers }) => [url, headers])).toEqual([
      [SERVICE, { 'x-giver': 'secret' }],
      [F, {}],
    ])
    for (const url of [F, EVIL]) {
      const strange = engine(async ({ input }) => input?.send(post(url)), { giver })
      expect(await failureOf(strange.auth.fetch(wanted))).toMatchObject({ code: 'CREDENTIAL_ENDPOINT_UNTRUSTED', credential: 't' })
      expect(strange.servers.sent).toEqual([])
    }
  })

  it('is refused where it can do neither', async () => {
    for (const [act, why] of [
      [({ input }: AuthContext) => input?.token(SERVICE), 'cannot provide a token'],
      [({ input }: AuthContext) => input?.send(post(SERVICE)), 'cannot authorize signing requests'],
    ] as const) {
      const { auth, servers } = engine(async (context) => act(context))
      expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'CONFIG_INVALID', message: `credential "g" ${why}` })
      expect(servers.sent).toEqual([])
    }
  })

  it('is refused where there is none of that name, and the strategy did not declare that it must exist', async () => {
    const forms: Strategy['forms'] = [{ fields: { with: { kind: 'text', label: 'Other' } } }]
    for (const act of [({ input }: AuthContext) => input?.token(SERVICE), ({ input }: AuthContext) => input?.send(post(SERVICE))]) {
      const { auth, servers } = engine(async (context) => act(context), { forms, entry: { with: 'nobody' } })
      expect(await failureOf(auth.fetch(wanted))).toMatchObject({ code: 'CONFIG_INVALID', message: 'there is no credential "nobody"' })
      expect(servers.sent).toEqual([])
    }
  })

  it('is absent for a credential that names none', async () => {
    const seen: unknown[] = []
    const { auth } = engine(async ({ input }) => seen.push(input), { entry: { with: undefined } })
    await auth.fetch(wanted)
    expect(seen).toEqual([undefined])
  })
})

describe('a dedicated connection', () => {
  /** A transport that remembers where connections were opened to. */
  const connecting = () => {
    const opened: unknown[] = []
    const { send } = routes({})
    const connection: Connection = { send, keyingMaterial: () => undefined, close: () => {} }
    const transport: Transport = Object.assign(send, {
      connect: async (url: string, options?: object) => {
        opened.push({ url, ...options })
        return connection
      },
    })
    return { opened, transport, connection }
  }

  it('is opened to the allowed URLs of the credential', async () => {
    const { opened, transport, connection } = connecting()
    const seen: unknown[] = []
    const { auth } = engine(async ({ connect }) => seen.push(await connect(F)), { transport })
    await auth.fetch(wanted)
    expect(seen).toEqual([connection])
    expect(opened).toMatchObject([{ url: F, allowPrivateNetwork: true }])
  })

  it('is opened to no other host', async () => {
    const { opened, transport } = connecting()
    for (const url of [EVIL, SERVICE, 'http://data.victim.example/f.tif']) {
      const { auth } = engine(({ connect }) => connect(url), { transport })
      expect(await failureOf(auth.fetch(wanted))).toMatchObject({
        code: 'CREDENTIAL_TARGET_UNTRUSTED',
        credential: 't',
        hint: expect.stringContaining(`credentials trust t ${new URL(url).origin}/;`),
      })
    }
    expect(opened).toEqual([])
  })

  it('is not opened for a request that the caller sends', async () => {
    const { opened, transport } = connecting()
    const { auth } = engine(({ connect }) => connect(F), { transport })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'SCHEME_UNSUPPORTED', hint: 'send the request with fetch' })
    expect(opened).toEqual([])
  })

  it('needs a transport that has them', async () => {
    const { auth } = engine(({ connect }) => connect(F))
    expect(await failureOf(auth.fetch(wanted))).toMatchObject({
      code: 'SCHEME_UNSUPPORTED',
      hint: expect.stringContaining('undiciTransport'),
    })
  })
})
