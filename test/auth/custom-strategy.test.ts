import { describe, expect, it } from 'vitest'
import { type AuthContext, type AuthStep, authorized, handshake, type Preparation, type Strategy } from '../../src/auth/strategy.ts'
import { CredentialError, SelectionError } from '../../src/errors.ts'
import { type HttpRequest, type HttpResponse, withHeader, withUrl } from '../../src/http/message.ts'
import type { CustomScheme } from '../../src/stac/scheme.ts'
import { assetOf } from '../../src/stac/target.ts'
import { signedUrl } from '../../src/strategies/signed-url/signed-url.ts'
import { leaks, shown } from '../harness/canary.ts'
import { asset, found, item, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { script } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { DATA, entries, SIGN_URL, secrets, victim } from '../harness/victim.ts'

const EVIL = 'https://evil.example/'
const ENDPOINT = 'https://auth.example/token'
const wanted = target({ type: 'mine' }, `${DATA}f.tif`)
const silent = (href: string) => found(assetOf(item(undefined, { data: { href } }), 'data'))

type Flow = (request: HttpRequest, context: AuthContext) => AsyncGenerator<AuthStep, void, HttpResponse>

/** A strategy of a caller's own with that flow, and an engine with it. */
function engine(authorize: Flow, answer?: Parameters<typeof script>[0], members: Partial<Strategy<CustomScheme>> = {}) {
  const mine: Strategy<CustomScheme> = {
    type: 'mine',
    forms: [{ fields: {} }],
    identity: () => [[]],
    schemeOf: () => ({ type: 'mine' }),
    describe: () => ({ credential: { type: 'mine' }, fields: {} }),
    endpoints: () => [ENDPOINT],
    authorize,
    ...members,
  }
  const credential = { id: 'm', type: 'mine', sendTo: DATA, use: 'by-address' } as const
  return { mine, ...victim({ credentials: unchecked(credential), strategies: [mine] }, script(answer)) }
}

const signed = (request: HttpRequest) => withHeader(request, 'x-mine', secrets.key.value)

describe("a strategy of a caller's own", () => {
  it("a strategy of a caller's own is chosen by its type, and runs its flow to the end", async () => {
    const { auth, script: servers } = engine(
      async function* (request) {
        const challenge = yield handshake(request)
        const answer = yield authorized(withHeader(request, 'x-mine', challenge.headers.get('x-nonce') ?? ''))
        if (answer.status === 401) yield authorized(signed(request))
      },
      ({ headers }) => ({ status: headers['x-mine'] === secrets.key.value ? 200 : 401, headers: { 'x-nonce': 'n1' } }),
    )
    expect((await auth.fetch(wanted)).status).toBe(200)
    expect(servers.sent.map(({ headers }) => headers['x-mine'])).toEqual([undefined, 'n1', secrets.key.value])
    expect((await auth.authorize(wanted)).headers).toEqual({ 'x-mine': 'n1' })
    expect(servers.sent).toHaveLength(4)
  })

  it("a strategy of a caller's own that requests nothing leads to a plain request", async () => {
    const { auth, script: servers } = engine(async function* () {})
    await auth.fetch(wanted)
    expect(servers.sent).toMatchObject([{ headers: {} }])
    expect(await auth.authorize(wanted)).toMatchObject({ headers: {}, secretIn: { headers: [] } })
  })

  it("an error that a strategy of a caller's own did not mean reaches the caller, and nothing is sent", async () => {
    const bug = new TypeError('a bug')
    const prepare = () => {
      throw bug
    }
    const { auth, script: servers } = engine(async function* () {}, undefined, { prepare })
    expect(await auth.fetch(wanted).catch((error) => error)).toBe(bug)
    const schemes = { k: { type: 'mine' }, free: { type: 'none' } }
    const either = found(assetOf(item(schemes, { data: asset(`${DATA}f.tif`, ['k', 'free']) }), 'data'))
    expect(await auth.fetch(either).catch((error) => error)).toBe(bug)
    expect(servers.sent).toEqual([])
  })

  it('an error of a custom strategy is placed at the scheme, or at the URL where no scheme was named', async () => {
    const prepare = ({ pointer }: Preparation) => {
      throw new SelectionError('SCHEME_INVALID', 'the flow is missing', { pointer: `${pointer}/flow` })
    }
    const { auth } = engine(async function* () {}, undefined, { prepare })
    const refusal = await failureOf(auth.authorize(wanted))
    expect(refusal).toMatchObject({ code: 'SCHEME_INVALID', pointer: '/properties/auth:schemes/k/flow', ref: 'k' })
    const unnamed = await failureOf(auth.authorize(silent(`${DATA}f.tif`)))
    expect(unnamed).toMatchObject({ code: 'SCHEME_INVALID', pointer: '/assets/data/href' })
    expect(unnamed).not.toHaveProperty('ref')
  })

  it('an error of another class from a custom strategy has a place, also where no scheme was named', async () => {
    const prepare = () => {
      throw new CredentialError('CREDENTIAL_VALUE_INVALID', 'it does not fit')
    }
    const { auth } = engine(async function* () {}, undefined, { prepare })
    expect(await failureOf(auth.authorize(silent(`${DATA}f.tif`)))).toMatchObject({
      code: 'CREDENTIAL_VALUE_INVALID',
      pointer: '/assets/data/href',
    })
  })

  it("a strategy of a caller's own is not asked which credential suits a target where there is only a URL", async () => {
    const flow: Flow = async function* (request) {
      yield authorized(signed(request))
    }
    const { mine } = engine(flow, undefined, { suits: (_credential, needing) => needing.refs.length > 0 })
    const credential = (id: string) => ({ id, type: 'mine', sendTo: DATA })
    const { auth, script: servers } = victim({ credentials: unchecked([credential('m'), credential('n')]), strategies: [mine] })
    await auth.fetch(`${DATA}f.tif`)
    expect(servers.sent.map(({ headers }) => headers['x-mine'])).toEqual([secrets.key.value])
  })

  it("a refusal by a strategy of a caller's own keeps the class that its code has", async () => {
    const prepare = () => {
      throw new CredentialError('CREDENTIAL_VALUE_INVALID', 'it does not fit')
    }
    const { auth } = engine(async function* () {}, undefined, { prepare })
    expect(await failureOf(auth.authorize(wanted))).toMatchObject({ code: 'CREDENTIAL_VALUE_INVALID', name: 'CredentialError' })
  })

  it('a custom strategy that accepts every URL gets none without encryption where no scheme is named', async () => {
    const flow: Flow = async function* (request) {
      yield authorized(signed(request))
    }
    const { auth, script: servers } = engine(flow, undefined, { covers: () => true })
    for (const protocol of ['http', 'https']) await auth.fetch(silent(`${protocol}://elsewhere.example/f.tif`))
    expect(servers.sent.map(({ url, headers }) => [url, headers['x-mine']])).toEqual([
      ['http://elsewhere.example/f.tif', undefined],
      ['https://elsewhere.example/f.tif', secrets.key.value],
    ])
  })

  it('a credential of a custom type answers schemes with its identity alone, even if it accepts tokens', async () => {
    const identity = ({ realm }: CustomScheme) => [[{ name: 'realm', value: String(realm), pointer: '/realm' }]]
    const schemeOf = () => ({ type: 'mine', realm: 'ours' })
    const flow: Flow = async function* (request) {
      yield authorized(signed(request))
    }
    const { auth, script: servers } = engine(flow, undefined, { acceptsToken: true, isToken: () => true, identity, schemeOf })
    const outcome = async (realm: string) => (await auth.explain(target({ type: 'mine', realm }, `${DATA}f.tif`))).refs[0]
    expect(await outcome('ours')).toMatchObject({ credential: 'm' })
    expect(await outcome('theirs')).toMatchObject({ code: 'SCHEME_MISMATCH' })
    expect(servers.sent).toEqual([])
  })

  it("a scheme of a caller's own may be the input of another one", async () => {
    const { mine } = engine(async function* () {})
    const credentials = unchecked([
      { id: 'm', type: 'mine', sendTo: 'https://sign.victim.example/' },
      { ...entries.signer, with: 'm' },
    ])
    const { auth } = victim({ credentials, strategies: [{ ...mine, token: async () => ({ value: 't', tokenType: 'Bearer' }) }, signedUrl] })
    const document = (inner: object) =>
      item({ k: { ...scheme.signed(SIGN_URL), 'auth:refs': ['m'] }, m: inner }, { data: asset(`${DATA}f.tif`) })
    const outcome = async (inner: object) => (await auth.explain(found(assetOf(document(inner), 'data')))).refs[0]
    expect(await outcome({ type: 'mine' })).toMatchObject({ credential: 'signer' })
    expect(await outcome(scheme.basic)).toMatchObject({ code: 'SCHEME_MISMATCH' })
  })

  it.each([
    ['a handshake', handshake],
    ['a request with material', authorized],
  ])("a strategy of a caller's own cannot send %s where its credential may not go", async (_name, step) => {
    const { auth, script: servers } = engine(async function* (request) {
      yield step(withUrl(signed(request), EVIL))
    })
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ name: 'TrustError', code: 'CREDENTIAL_TARGET_UNTRUSTED', credential: 'm' })
    expect(leaks([secrets.key], { error: shown(error) })).toEqual([])
    expect(servers.sent).toEqual([])
  })

  it.each([EVIL, 'https://auth.example/other', 'http://auth.example/token', 'https://auth.example:8443/token', `${DATA}token`])(
    "a strategy of a caller's own cannot send token requests to %s",
    async (url) => {
      const { auth, script: servers } = engine(async function* (request, { send }) {
        await send({ method: 'POST', url, headers: {}, body: secrets.client.value })
        yield authorized(request)
      })
      for (const error of await Promise.all([auth.fetch(wanted), auth.authorize(wanted)].map(failureOf))) {
        expect(error).toMatchObject({ code: 'CREDENTIAL_ENDPOINT_UNTRUSTED', credential: 'm' })
      }
      expect(servers.sent).toEqual([])
    },
  )

  it('sends token requests to its endpoints, with a time limit', async () => {
    const { auth, script: servers } = engine(async function* (request, { send }) {
      await send({ method: 'GET', url: `${ENDPOINT}?a=1`, headers: {} })
      yield authorized(request)
    })
    await auth.fetch(wanted)
    expect(servers.sent[0]).toMatchObject({ url: `${ENDPOINT}?a=1`, options: { timeout: 60_000 } })
  })

  it('H22 that never comes to an end is stopped', async () => {
    const { auth, script: servers } = engine(
      async function* (request) {
        for (;;) yield handshake(request)
      },
      () => ({ status: 401 }),
    )
    for (const error of await Promise.all([auth.fetch(wanted), auth.authorize(wanted)].map(failureOf)))
      expect(error).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(servers.sent.length).toBeLessThanOrEqual(16)
  })

  it("a strategy of a caller's own gets the end of its flow when a request fails", async () => {
    let ended = false
    const { auth } = engine(
      async function* (request) {
        try {
          yield authorized(signed(request))
        } finally {
          ended = true
        }
      },
      (request) => Promise.reject(Object.assign(new TypeError(secrets.key.value), { request })),
    )
    const error = await failureOf(auth.fetch(wanted))
    expect(error).toMatchObject({ name: 'NetworkError', code: 'NETWORK_FAILED' })
    expect(leaks([secrets.key], { error: shown(error) })).toEqual([])
    expect(ended).toBe(true)
  })
})
