import { describe, expect, it } from 'vitest'
import type { AuthOptions } from '../../src/auth/create-auth.ts'
import { createEngine } from '../../src/auth/create-engine.ts'
import type { CredentialObject } from '../../src/auth/credential.ts'
import { type AuthFlow, authorized, handshake, type Strategy, type Warning } from '../../src/auth/strategy.ts'
import type { AuthError } from '../../src/errors.ts'
import type { HttpRequest, HttpResponse, Send } from '../../src/http/message.ts'
import { withHeader, withUrl } from '../../src/http/message.ts'
import type { CustomScheme } from '../../src/stac/scheme.ts'
import { assetOf } from '../../src/stac/target.ts'
import { asset, found, item, scheme, target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { type Reply, redirectTo, routes, type Script, script } from '../harness/scripted.ts'
import { unchecked } from '../harness/unchecked.ts'
import { AUTHORIZE_URL, DATA, entries, secrets, TOKEN_URL, victim } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const EVIL = 'https://evil.example/'
const { key, login, oauth } = entries

type Own = Partial<Strategy<CustomScheme>> & Pick<Strategy<CustomScheme>, 'authorize'>

/** A strategy of a caller's own; its credentials are called as it is unless they say otherwise. */
function own(type: string, members: Own): Strategy<CustomScheme> {
  return {
    type,
    forms: [{ fields: {} }],
    identity: () => [[]],
    schemeOf: () => ({ type }),
    describe: () => ({ credential: { type }, fields: {} }),
    ...members,
  }
}

/** An engine with one strategy of a caller's own, whose credential may go to the data. */
function engineOf(members: Own, servers: Script = routes({}), options: Partial<AuthOptions> = {}, entry: object = {}) {
  const credentials = unchecked({ id: 'm', type: 'mine', sendTo: DATA, ...entry })
  return victim({ credentials, strategies: [own('mine', members)], ...options }, servers)
}

const wanted = (url = F) => target({ type: 'mine' }, url)
const carrying = async function* (request: HttpRequest): AuthFlow {
  yield authorized(withHeader(request, 'x-mine', 'secret'))
}
const carries = ({ headers }: HttpRequest) => headers['x-mine'] !== undefined

/** An asset with these alternatives, each a scheme. */
const either = (...schemes: readonly unknown[]) => {
  const names = schemes.map((_, index) => `s${index}`)
  const all = Object.fromEntries(schemes.map((one, index) => [`s${index}`, one]))
  return found(assetOf(item(all, { data: asset(F, names) }), 'data'))
}

const byLogin = scheme.oauth2({ authorizationCode: { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL, scopes: {} } })

describe('the next reference', () => {
  it('is tried after one that needs a login, or that the server refuses', async () => {
    const servers = routes({ [F]: ({ headers }) => ({ status: headers['x-api-key'] ? 200 : 401 }) })
    for (const [first, credential] of [
      [byLogin, login],
      [scheme.bearer, { id: 'bearer', type: 'http', scheme: 'bearer', token: 'refused', sendTo: DATA } as const],
    ] as const) {
      const { auth } = victim({ credentials: [credential, key] }, servers)
      const used: string[] = []
      const response = await auth.send(either(first, scheme.key()), { onUse: (id) => used.push(id) })
      expect([response.status, used]).toEqual([200, ['key']])
    }
  })

  it('is not tried after another error: a token endpoint that fails ends the request', async () => {
    const { auth, script: servers } = victim({ credentials: [oauth, key] }, routes({ [TOKEN_URL]: { status: 400, body: { error: 'x' } } }))
    expect(await failureOf(auth.fetch(either(scheme.client(TOKEN_URL), scheme.key())))).toMatchObject({ code: 'OAUTH_ERROR' })
    expect(servers.sent.map(({ url }) => url)).toEqual([TOKEN_URL])
  })

  it('is not tried after a credential that may not go where its flow leads', async () => {
    const mine = own('mine', {
      authorize: async function* (request) {
        yield authorized(withUrl(request, EVIL))
      },
    })
    const { apiKey } = await import('../../src/strategies/api-key.ts')
    const servers = routes({})
    const auth = createEngine({
      credentials: unchecked([{ id: 'm', type: 'mine', sendTo: DATA }, key]),
      strategies: [mine, apiKey],
      transport: servers.send,
    })
    expect(await failureOf(auth.fetch(either({ type: 'mine' }, scheme.key())))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    expect(servers.sent).toEqual([])
  })

  it('is tried after an unreadable one only where the caller allows none, and never after another error', async () => {
    const unreadable = { ...key, value: () => Promise.reject(new Error('not there')) }
    const bearer = { id: 'bearer', type: 'http', scheme: 'bearer', token: 'x', sendTo: DATA } as const
    const sentFor = async (anonymous: 'allow' | undefined, first: unknown, ...credentials: CredentialObject[]) => {
      const { auth, script: servers } = victim(
        { credentials: unchecked(credentials) },
        routes({ [F]: {}, [TOKEN_URL]: { status: 400, body: { error: 'invalid_client' } } }),
      )
      const alternatives = either(first, scheme.bearer)
      const result = await auth.send(alternatives, { ...(anonymous && { anonymous }) }).catch(({ code }) => code)
      return [result.status ?? result, ...servers.sent.map(({ headers }) => headers.authorization)]
    }
    expect(await sentFor('allow', scheme.key(), unreadable, bearer)).toEqual([200, 'Bearer x'])
    expect(await sentFor(undefined, scheme.key(), unreadable, bearer)).toEqual(['CREDENTIAL_SOURCE'])
    expect(await sentFor('allow', scheme.client(TOKEN_URL), oauth, bearer)).toEqual([
      'OAUTH_ERROR',
      expect.stringMatching(/^Basic /),
      expect.stringMatching(/^Basic /),
    ])
  })

  it('does not hide that the last one was refused: the first refusal is the error', async () => {
    const servers = routes({ [F]: { status: 403 } })
    const other = { id: 'bearer', type: 'http', scheme: 'bearer', token: 'x', sendTo: DATA } as const
    const { auth } = victim({ credentials: [other, key] }, servers)
    expect(await failureOf(auth.fetch(either(scheme.bearer, scheme.key())))).toMatchObject({ code: 'AUTH_REJECTED', credential: 'bearer' })
    expect(servers.sent).toHaveLength(2)
  })
})

describe('a request that the caller allows without a credential', () => {
  const unreadable = (message = 'not there') => ({ ...key, value: () => Promise.reject(new Error(message)) })
  const read = (credentials: CredentialObject | readonly CredentialObject[], servers: Script, warnings: Warning[] = []) => {
    const { auth } = victim({ credentials: unchecked([credentials].flat()), onWarning: (warning) => warnings.push(warning) }, servers)
    const send = (anonymous?: 'allow') => auth.send({ method: 'GET', url: F, headers: {} }, { ...(anonymous && { anonymous }) })
    return { auth, send, warnings }
  }

  it('is sent without one that cannot be read, with one warning for all requests', async () => {
    const servers = routes({ [F]: { body: 'public' } })
    const { send, warnings } = read(unreadable(), servers)
    for (let round = 0; round < 2; round++) expect(await (await send('allow')).text(100)).toBe('public')
    expect(servers.sent.every(({ headers }) => headers['x-api-key'] === undefined)).toBe(true)
    expect(warnings).toMatchObject([{ code: 'CREDENTIAL_SOURCE' }])
    expect(warnings[0]?.message).toContain('Public documents are read without this credential')
  })

  it('is sent without one whose value is not one, and warns of each credential', async () => {
    const servers = routes({ [F]: { body: 'public' }, [EVIL]: { body: 'public' } })
    const { auth, warnings } = read(
      [
        { ...key, value: () => 'a\r\nb' },
        { ...unreadable(), id: 'other', sendTo: EVIL },
      ],
      servers,
    )
    for (const url of [F, EVIL]) await auth.send({ method: 'GET', url, headers: {} }, { anonymous: 'allow' })
    expect(warnings.map(({ code }) => code)).toEqual(['CREDENTIAL_VALUE_INVALID', 'CREDENTIAL_SOURCE'])
  })

  it('is sent without one that needs a login, and without a warning', async () => {
    const servers = routes({ [F]: { body: 'public' } })
    const { send, warnings } = read(login, servers)
    expect(await (await send('allow')).text(100)).toBe('public')
    expect([servers.sent.length, warnings]).toEqual([1, []])
  })

  it.each([401, 403])('ends in the error of the credential when the server answers %i', async (status) => {
    const { send, warnings } = read(unreadable(), routes({ [F]: { status } }))
    expect(await failureOf(send('allow'))).toMatchObject({ code: 'CREDENTIAL_SOURCE', credential: 'key' })
    expect(warnings).toEqual([])
  })

  it('is answered with any other status as usual', async () => {
    for (const status of [400, 402, 404]) expect((await read(unreadable(), routes({ [F]: { status } })).send('allow')).status).toBe(status)
  })

  it('is never sent after the server has refused the credential itself', async () => {
    const servers = routes({ [F]: ({ headers }) => ({ status: headers['x-api-key'] ? 401 : 200 }) })
    expect(await failureOf(read(key, servers).send('allow'))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(servers.sent).toHaveLength(1)
  })

  it('is not sent without one where the caller does not say so', async () => {
    for (const [credential, code] of [
      [unreadable(), 'CREDENTIAL_SOURCE'],
      [login, 'LOGIN_REQUIRED'],
    ] as const) {
      const servers = routes({ [F]: { body: 'public' } })
      expect(await failureOf(read(credential, servers).send())).toMatchObject({ code })
      expect(servers.sent).toEqual([])
    }
  })
})

describe('a redirect hop', () => {
  it('is hidden by the transport only where the caller follows redirects anyway', async () => {
    const hidden = async (init: RequestInit, options: Partial<AuthOptions> = {}) => {
      const { auth, script: servers } = victim({ credentials: [key], ...options }, routes({ [F]: {}, [EVIL]: {} }))
      for (const url of [F, EVIL]) await auth.fetch(url, init)
      return servers.sent.map(({ options: sentOptions }) => sentOptions.followHidden)
    }
    expect(await hidden({})).toEqual([true, true])
    expect(await hidden({ redirect: 'follow' })).toEqual([true, true])
    expect(await hidden({ redirect: 'manual' })).toEqual([false, false])
    expect(await hidden({ redirect: 'error' })).toEqual([false, false])
    expect(await hidden({}, { redirects: 'error' })).toEqual([false, false])
  })

  it('within the origin is followed by an engine that refuses redirects to others', async () => {
    const { auth, script: servers } = victim(
      { credentials: [key], redirects: 'error' },
      routes({ [F]: redirectTo('/g'), [`${DATA}g`]: {} }),
    )
    expect((await auth.fetch(F)).status).toBe(200)
    expect(servers.sent.map(({ headers }) => headers['x-api-key'])).toEqual([secrets.key.value, secrets.key.value])
  })

  it('of a request for a URL carries the credential for its own URL, and none elsewhere', async () => {
    const servers = routes({ [F]: redirectTo('/g'), [`${DATA}g`]: redirectTo(EVIL), [EVIL]: redirectTo(`${DATA}h`), [`${DATA}h`]: {} })
    const { auth } = victim({ credentials: [key] }, servers)
    expect((await auth.fetch(F)).status).toBe(200)
    expect(servers.sent.map(({ headers }) => headers['x-api-key'] !== undefined)).toEqual([true, true, false, true])
  })

  it('of a target carries a credential that its references select, and never another one for that URL', async () => {
    const other = 'https://other.victim.example/'
    const servers = routes({ [F]: redirectTo(other), [other]: redirectTo(`${DATA}g`), [`${DATA}g`]: {} })
    const strange = { id: 'strange', type: 'http', scheme: 'bearer', token: 'strange', sendTo: [other, DATA] } as const
    const { auth } = victim({ credentials: [strange, key] }, servers)
    await auth.fetch(target(scheme.key(), F))
    expect(servers.sent.map(({ headers }) => Object.keys(headers))).toEqual([['x-api-key'], [], ['x-api-key']])
  })

  it('to http: carries a credential only to an origin that the user named, whatever the strategy allows', async () => {
    const named = 'http://127.0.0.1:8080/'
    const plain = 'http://data.example/'
    const servers = routes({ [named]: redirectTo(`${named}b`), [`${named}b`]: redirectTo(plain), [plain]: redirectTo(EVIL), [EVIL]: {} })
    const { auth } = engineOf({ authorize: carrying, covers: () => true, reaches: () => true }, servers, {}, { sendTo: named })
    await auth.fetch(wanted(named))
    expect(servers.sent.map(({ url }) => url)).toEqual([named, `${named}b`, plain, EVIL])
    expect(servers.sent.map(carries)).toEqual([true, true, false, true])
  })

  it('discards each body that is not returned: of redirects, and of refusals', async () => {
    const discarded: string[] = []
    const watched =
      (servers: Script): Send =>
      async (request, options) => {
        const response = await servers.send(request, options)
        return { ...response, discard: async () => void discarded.push(`${response.status} ${new URL(response.url).pathname}`) }
      }
    const replies = routes({ [F]: redirectTo('/g'), [`${DATA}g`]: { status: 403 } })
    await failureOf(victim({ credentials: [key], transport: watched(replies) }).auth.fetch(F))
    expect(discarded).toEqual(['302 /f.tif', '403 /g'])
    const { auth } = victim({ credentials: [login], transport: watched(routes({ [F]: { status: 401 } })) })
    await failureOf(auth.send({ method: 'GET', url: F, headers: {} }, { anonymous: 'allow' }))
    expect(discarded.slice(2)).toEqual(['401 /f.tif'])
  })

  it('is not begun by a call that was aborted before, with a transport that knows no signal', async () => {
    const { auth, script: servers } = victim({ credentials: [key], transport: (request) => servers.send(request) })
    expect(await failureOf(auth.fetch(F, { signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED' })
    expect(servers.sent).toEqual([])
  })
})

describe('a refusal', () => {
  const refused = async (status: number, headers: Record<string, string> = {}) =>
    failureOf(victim({ credentials: [key] }, routes({ [F]: { status, headers } })).auth.fetch(F))

  it('advises by its status', async () => {
    expect(await refused(401)).toMatchObject({ code: 'AUTH_REJECTED', hint: expect.stringContaining('whether it has expired') })
    expect(await refused(403)).toMatchObject({
      code: 'AUTH_REJECTED',
      hint: 'check its value, and that the account has access and accepted the terms',
    })
  })

  it.each([
    ['Bearer error="invalid_token", error_description="x"', ' (invalid_token)'],
    ['DPoP error=use_dpop_nonce', ' (use_dpop_nonce)'],
    ['Bearer realm_error="invalid_token"', ''],
    ['Bearer error="invalid_token_of_ada"', ''],
    ['Bearer error="secret"', ''],
  ])('quotes the error codes of the RFCs only: %s', async (challenge, quoted) => {
    expect((await refused(401, { 'www-authenticate': challenge })).message).toBe(
      `https://data.victim.example refused "key" with 401${quoted}`,
    )
  })

  it('may be retried where the authorization was valid when the call began, and ended on the way', async () => {
    const retryable = async (expiresAt: number | undefined) => {
      let now = 1000
      const servers = script(() => {
        now = 2000
        return { status: 401 }
      })
      const authorize = async function* (request: HttpRequest): AuthFlow {
        yield authorized(request, expiresAt)
      }
      const error = await failureOf(engineOf({ authorize }, servers, { clock: { now: () => now } }).auth.fetch(wanted()))
      return (error as { retryable?: boolean }).retryable
    }
    expect(await Promise.all([undefined, 999, 1000, 1001, 1999, 2000, 2001].map(retryable))).toEqual([
      ...[false, false, false, true, true, true, false],
    ])
  })

  it('is not told as a use of the credential', async () => {
    const used: string[] = []
    const servers = routes({ [F]: {}, [`${DATA}g`]: { status: 401 } })
    const { auth } = victim({ credentials: [key], onUse: (id, url) => used.push(`${id} ${url}`) }, servers)
    await auth.fetch(F)
    await failureOf(auth.fetch(`${DATA}g`))
    expect(used).toEqual([`key ${F}`])
  })
})

describe('the URL of an object', () => {
  const STORE = 'https://store.example/'
  const opening = (url = `${STORE}k`) =>
    async function* (request: HttpRequest): AuthFlow {
      yield authorized(withUrl(request, url))
    }
  const engineWith = (
    credentials: readonly CredentialObject[],
    strategies: readonly Strategy[],
    servers = routes({ [`${STORE}k`]: {} }),
  ) => ({
    servers,
    auth: createEngine({ credentials: unchecked(credentials), strategies, transport: servers.send }),
  })
  const nothing = async function* (): AuthFlow {}

  it.each(['s3://bucket/k', 's3://bucket/https://data.example/k'])('%s is not fetched without a strategy that opens it', async (url) => {
    for (const strategies of [[], [own('s3', { authorize: nothing })], [own('s3', { authorize: nothing, open: nothing })]]) {
      const { auth, servers } = engineWith([], strategies)
      expect(await failureOf(auth.fetch(url))).toMatchObject({ code: 'SCHEME_UNSUPPORTED' })
      expect(servers.sent).toEqual([])
    }
  })

  it('is opened with the first credential of its type for that bucket, and with no other', async () => {
    const given: unknown[] = []
    const open: Strategy['open'] = (request, _resource, entry) => {
      given.push(entry?.id)
      return opening()(request)
    }
    const bucket = (id: string, sendTo: string, type = 's3') => ({ id, type, sendTo })
    const strategies = [own('s3', { authorize: nothing, open, covers: undefined }), own('mine', { authorize: nothing })]
    const credentials = [
      bucket('elsewhere', 's3://other/'),
      bucket('strange', 's3://eo/', 'mine'),
      bucket('first', 's3://eo/'),
      bucket('second', 's3://eo/'),
    ]
    const { auth } = engineWith(credentials, strategies)
    const plain = (href: string) => assetOf(item({}, { data: { href } }), 'data')
    for (const href of ['s3://eo/k', 's3://third/k']) expect((await auth.fetch(plain(href))).status).toBe(200)
    expect(given).toEqual(['first', undefined])
  })

  it.each([
    [
      'https://10.0.0.1/k',
      'URL_ADDRESS_FORBIDDEN',
      'if you trust that host: stac-auth credentials trust ID https://10.0.0.1/; in code, "sendTo" of a credential',
    ],
    [
      'http://127.0.0.1:9000/k',
      'URL_ADDRESS_FORBIDDEN',
      'if you trust that host: stac-auth credentials trust ID http://127.0.0.1:9000/; in code, "sendTo" of a credential',
    ],
    ['http://10.0.0.1/k', 'URL_ADDRESS_FORBIDDEN', undefined],
    ['https://store.example./k', 'URL_INVALID', undefined],
  ])('is not requested from %s: %s', async (url, code, hint) => {
    let isEnded = false
    const open = async function* (request: HttpRequest): AuthFlow {
      try {
        yield* opening(url)(request)
      } finally {
        isEnded = true
      }
    }
    const { auth, servers } = engineWith([], [own('s3', { authorize: nothing, open })])
    const error = (await failureOf(auth.fetch('s3://eo/k'))) as AuthError
    expect([error.code, error.hint]).toEqual([code, hint])
    expect(await failureOf(auth.fetch(assetOf(item({}, { data: { href: 's3://eo/k' } }), 'data')))).toMatchObject({
      code,
      pointer: '/assets/data/href',
    })
    expect([isEnded, servers.sent]).toEqual([true, []])
  })

  it('ends the flow of its strategy when the request fails', async () => {
    let isEnded = false
    const open = async function* (request: HttpRequest): AuthFlow {
      try {
        yield* opening()(request)
      } finally {
        isEnded = true
      }
    }
    const servers = routes({ [`${STORE}k`]: () => Promise.reject(new Error('gone')) })
    await failureOf(engineWith([], [own('s3', { authorize: nothing, open })], servers).auth.fetch('s3://eo/k'))
    expect(isEnded).toBe(true)
  })

  it('may be redirected to a URL that carries a credential of its own', async () => {
    const servers = routes({ [`${STORE}k`]: redirectTo(F), [F]: {} })
    const strategies = [own('s3', { authorize: nothing, open: opening() }), own('mine', { authorize: carrying })]
    const { auth } = engineWith([{ id: 'm', type: 'mine', sendTo: DATA }], strategies, servers)
    expect((await auth.fetch('s3://eo/k')).status).toBe(200)
    expect(servers.sent.map(carries)).toEqual([false, true])
  })
})

describe('cookies of redirects', () => {
  /** Answers by path: sets a cookie with its name and redirects to `/end`, which answers with the status. */
  function cookieServer(statusOf: (path: string) => number = () => 200): Script {
    return script(({ url }): Reply => {
      const { pathname, origin } = new URL(url)
      const [, name, cookie] = pathname.split('/')
      if (name !== 'set') return { status: statusOf(pathname), headers: { 'set-cookie': 'refused=1; Path=/' } }
      return { status: 302, headers: { location: `${origin}/end`, 'set-cookie': `${cookie}; Path=/` } }
    })
  }
  const seen = (servers: Script) => servers.sent.map(({ headers }) => headers.cookie)
  const COVERS_ALL = { covers: () => true, reaches: () => true }

  it('are kept for later requests, those of each chain of redirects beside the older ones', async () => {
    const servers = cookieServer()
    const { auth } = engineOf({ authorize: carrying }, servers)
    for (const path of ['set/a=1', 'set/b=2', 'end']) await auth.fetch(wanted(DATA + path))
    expect(seen(servers)).toEqual([undefined, 'a=1', 'a=1', 'a=1; b=2', 'a=1; b=2'])
  })

  it('are not kept when the chain ends in an error', async () => {
    for (const [status, cookie] of [
      [400, undefined],
      [404, undefined],
      [204, 'a=1'],
    ] as const) {
      const servers = cookieServer((path) => (path === '/end' ? status : 200))
      const { auth } = engineOf({ authorize: carrying }, servers)
      await auth.fetch(wanted(`${DATA}set/a=1`))
      await auth.fetch(wanted(`${DATA}other`))
      expect(seen(servers)).toEqual([undefined, 'a=1', cookie])
    }
  })

  it.each([
    [401, undefined],
    [403, 'a=1'],
  ])('are removed, with those that it sets, by a refusal with 401 only: %i', async (refusal, cookie) => {
    const servers = cookieServer((path) => (path === '/refused' ? refusal : 200))
    const { auth } = engineOf({ authorize: carrying }, servers)
    for (const path of ['set/a=1', 'refused', 'other']) await auth.fetch(wanted(DATA + path)).catch(() => undefined)
    expect(seen(servers)).toEqual([undefined, 'a=1', 'a=1', cookie])
  })

  it('are not taken from a challenge', async () => {
    const servers = script(({ headers }) => ({ status: headers['x-mine'] ? 200 : 401, headers: { 'set-cookie': 'a=1; Path=/' } }))
    const authorize = async function* (request: HttpRequest): AuthFlow {
      yield handshake(request)
      yield* carrying(request)
    }
    const { auth } = engineOf({ authorize }, servers)
    for (const path of ['one', 'two']) expect((await auth.fetch(wanted(DATA + path))).status).toBe(200)
    expect(seen(servers)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('are not taken from a challenge after a login that set one', async () => {
    const servers = script(({ url, headers }): Reply => {
      if (!headers['x-mine']) return { status: 401, headers: { 'set-cookie': 'refused=1; Path=/' } }
      if (!url.endsWith('/set')) return { status: 200 }
      return { status: 302, headers: { location: `${DATA}end`, 'set-cookie': 'a=1; Path=/' } }
    })
    const authorize = async function* (request: HttpRequest): AuthFlow {
      yield handshake(request)
      yield* carrying(request)
    }
    const { auth } = engineOf({ authorize }, servers)
    expect((await auth.fetch(wanted(`${DATA}set`))).status).toBe(200)
    expect(seen(servers)).toEqual([undefined, undefined, 'a=1', undefined])
  })

  it('are removed by a logout of their credential', async () => {
    const servers = cookieServer()
    const { auth } = engineOf({ authorize: carrying, logout: async () => {} }, servers)
    await auth.fetch(wanted(`${DATA}set/a=1`))
    await auth.logout('m')
    await auth.fetch(wanted(`${DATA}other`))
    expect(seen(servers)).toEqual([undefined, 'a=1', undefined])
  })

  it('are neither kept from nor sent to a host that is not in sendTo, whatever the strategy allows', async () => {
    const servers = cookieServer()
    const { auth } = engineOf({ authorize: carrying, ...COVERS_ALL }, servers)
    for (const path of ['set/a=1', 'end']) await auth.fetch(wanted(EVIL + path))
    expect(servers.sent.map(carries)).toEqual([true, true, true])
    expect(seen(servers)).toEqual([undefined, undefined, undefined])
  })

  it('are neither kept from nor sent with a signed URL', async () => {
    const servers = cookieServer()
    const authorize = async function* (request: HttpRequest): AuthFlow {
      yield { ...authorized(request), replaces: request.url.includes('signed') }
    }
    const { auth } = engineOf({ authorize }, servers)
    for (const path of ['set/signed=1', 'end', 'set/a=1', 'signed']) await auth.fetch(wanted(DATA + path))
    expect(seen(servers)).toEqual([undefined, undefined, undefined, undefined, 'a=1', undefined])
  })

  it('leave requests that they do not belong to as they are', async () => {
    const servers = script(({ url }) =>
      url.endsWith('/set') ? { status: 302, headers: { location: '/end', 'set-cookie': 'a=1; Path=/deep' } } : {},
    )
    const { auth } = engineOf({ authorize: carrying }, servers)
    for (const path of ['set', 'other', 'deep/f']) await auth.fetch(wanted(DATA + path))
    expect(servers.sent.map(({ headers }) => Object.keys(headers))).toEqual([['x-mine'], ['x-mine'], ['x-mine'], ['x-mine', 'cookie']])
  })

  it('need a transport that shows them: without, the redirect is followed all the same', async () => {
    const servers = cookieServer()
    const transport: Send = async (request, options) => {
      const response = await servers.send(request, options)
      return { ...response, headers: { get: (name) => response.headers.get(name) } as HttpResponse['headers'] }
    }
    const { auth } = engineOf({ authorize: carrying }, servers, { transport })
    expect((await auth.send(wanted(`${DATA}set/a=1`))).status).toBe(200)
    expect(seen(servers)).toEqual([undefined, undefined])
  })
})
