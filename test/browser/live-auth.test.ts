/** Credentials that change while an engine runs, in one tab and in several. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Redirection } from '../../src/auth/auth.ts'
import { memoryStore, type SessionStore } from '../../src/auth/session.ts'
import type { SessionChange } from '../../src/auth/strategy.ts'
import { createLiveAuth, type LiveAuth, type LiveAuthOptions, type LiveChange } from '../../src/browser/live-auth.ts'
import type { HttpRequest } from '../../src/http/message.ts'
import { assetOf } from '../../src/stac/target.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { redirectTo, type Script, script } from '../harness/scripted.ts'
import { AUTHORIZE_URL, DATA, entries, secrets, TOKEN_URL } from '../harness/victim.ts'

const F = `${DATA}f.tif`
const keyed = target({ type: 'apiKey', in: 'header', name: 'x-api-key' }, F)
const loggedIn = target(
  { type: 'oauth2', flows: { authorizationCode: { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL, scopes: {} } } },
  F,
)
const form = ({ body }: HttpRequest) => Object.fromEntries(new URLSearchParams(String(body)))
const turns = () => new Promise((resolve) => setTimeout(resolve, 20))
/** Until a tab has heard so many times that another one did this. */
const heard = ({ changes }: { readonly changes: readonly LiveChange[] }, kind: LiveChange['kind'], times = 1) =>
  expect.poll(() => changes.filter((change) => change.kind === kind && change.tab === 'other').length).toBe(times)
const otherKey = { ...entries.key, value: 'another-key' }

let channels = 0

/** A provider and its data: a token is good until it is revoked. */
function provider() {
  let issued = 0
  const good = new Set<string>()
  const servers = script((request) => {
    if (request.url === TOKEN_URL) {
      const token = `token-${++issued}`
      good.add(token)
      return { body: { access_token: token, refresh_token: `refresh-${issued}`, token_type: 'Bearer', expires_in: 600 } }
    }
    if (request.url === 'https://auth.victim.example/revoke') {
      good.delete(form(request).token ?? '')
      return {}
    }
    const bearer = request.headers.authorization?.slice(7)
    const isGood = bearer === undefined ? request.headers['x-api-key'] !== undefined : good.has(bearer)
    return { status: isGood ? 200 : 401, body: 'data' }
  })
  const shownTokens = () => servers.sent.flatMap(({ headers }) => headers.authorization ?? [])
  return { servers, shownTokens, issued: () => issued }
}

const page: Redirection = {
  uri: 'http://127.0.0.1/',
  answer: async (url) => new URL(`http://127.0.0.1/?code=c&state=${new URL(url).searchParams.get('state')}`),
  close: async () => {},
}
const login = (auth: LiveAuth) => auth.login('login', { redirect: async () => page })

function tab(servers: Script, options: Partial<LiveAuthOptions> = {}) {
  const changes: LiveChange[] = []
  const sessions: SessionChange[] = []
  const auth = createLiveAuth({
    credentials: [],
    transport: servers.send,
    tabs: false,
    onSession: (change) => sessions.push(change),
    ...options,
  })
  auth.credentials.subscribe((change) => void (change.kind !== 'needed' && changes.push(change)))
  onTestFinished(() => auth.credentials.close())
  return { auth, changes, sessions }
}

/** Two tabs of an origin; with `shared`, they use one store as IndexedDB is. */
function twoTabs(servers: Script, shared: boolean, credentials: LiveAuthOptions['credentials'] = [entries.login]) {
  const store: SessionStore | undefined = shared ? { ...memoryStore(), shared: true } : undefined
  const options = { credentials, tabs: `test-${++channels}`, ...(store && { session: store }) }
  return [tab(servers, options), tab(servers, options)] as const
}

describe('a live engine', () => {
  it('uses an added credential in functions that were made before', async () => {
    const { servers } = provider()
    const { auth, changes } = tab(servers)
    const fetch = auth.fetchFor(keyed)
    expect(await failureOf(fetch(F))).toMatchObject({ code: 'NO_CREDENTIAL' })
    expect(auth.peek(keyed)).toBeUndefined()
    expect(await auth.credentials.add(entries.key)).toBe('key')
    expect((await fetch(F)).status).toBe(200)
    expect(auth.peek(keyed)?.headers).toEqual({ 'x-api-key': secrets.key.value })
    expect(changes).toEqual([{ kind: 'added', credential: 'key', tab: 'this' }])
  })

  it('uses the credential of the moment for the service of a client', async () => {
    const { servers } = provider()
    const { auth } = tab(servers, { credentials: [entries.key] })
    const service = await auth.service(DATA)
    const request = { method: 'GET', url: F, headers: {} }
    await service.send(request, servers.send)
    await auth.credentials.add(otherKey)
    expect(service.peek(request)).toBeUndefined()
    await service.send(request, servers.send)
    expect(servers.sent.map(({ headers }) => headers['x-api-key'])).toEqual([secrets.key.value, 'another-key'])
    expect(service.peek(request)?.headers).toEqual({ 'x-api-key': 'another-key' })
    await auth.credentials.remove('key')
    expect(await failureOf(service.send(request, servers.send))).toMatchObject({ code: 'NO_CREDENTIAL' })
  })

  it('changes nothing when a credential is invalid', async () => {
    const { auth, changes } = tab(provider().servers, { credentials: [entries.key] })
    const invalid = { ...entries.key, sendTo: 'https://*.com/' }
    expect(await failureOf(auth.credentials.add(invalid))).toMatchObject({ code: 'CONFIG_INVALID', pointer: '/credentials/0/sendTo/0' })
    expect(await failureOf(auth.credentials.allow('key', 'https://token@h/'))).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await failureOf(auth.credentials.allow('gone', DATA))).toMatchObject({ code: 'CONFIG_INVALID' })
    expect([auth.credentials.list(), changes]).toEqual([[expect.objectContaining({ id: 'key', sendTo: [DATA] })], []])
  })

  it('sends a credential to a host only after the user allowed it', async () => {
    const { servers } = provider()
    const { auth, changes } = tab(servers, { credentials: [entries.key] })
    const mirror = target({ type: 'apiKey', in: 'header', name: 'x-api-key' }, 'https://mirror.example/f.tif')
    expect(await failureOf(auth.authorize(mirror))).toMatchObject({ code: 'CREDENTIAL_TARGET_UNTRUSTED' })
    await auth.credentials.allow('key', 'https://mirror.example/')
    expect((await auth.authorize(mirror)).headers).toEqual({ 'x-api-key': secrets.key.value })
    expect(changes).toEqual([{ kind: 'changed', credential: 'key', tab: 'this' }])
  })

  it('lists credentials without their secrets, by the ids that they have in errors', () => {
    const { id: _, ...unnamed } = entries.key
    const { auth } = tab(provider().servers, { credentials: [...Object.values(entries), unnamed] })
    const text = JSON.stringify(auth.credentials.list())
    for (const { value } of Object.values(secrets)) expect(text).not.toContain(value)
    expect(auth.credentials.list().at(-1)).toEqual({
      id: `apiKey-${Object.keys(entries).length + 1}`,
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
      sendTo: [DATA],
    })
  })

  it('gives an added credential without an id a free one', async () => {
    const { id: _, ...unnamed } = entries.key
    const { auth } = tab(provider().servers, { credentials: [{ ...entries.cookie, id: 'apiKey-1' }] })
    expect(await auth.credentials.add(unnamed)).toBe('apiKey-2')
  })

  it('keeps a login when another credential changes', async () => {
    const { servers, issued } = provider()
    const { auth } = tab(servers, { credentials: [entries.login] })
    await login(auth)
    await auth.credentials.add(entries.key)
    await auth.credentials.remove('key')
    expect((await auth.fetch(loggedIn)).status).toBe(200)
    expect(issued()).toBe(1)
  })

  it('removes and revokes the tokens of a removed credential', async () => {
    const { servers, shownTokens } = provider()
    const revocationUrl = 'https://auth.victim.example/revoke'
    const { auth, changes } = tab(servers, { credentials: [{ ...entries.login, revocationUrl }] })
    await login(auth)
    await auth.fetch(loggedIn)
    await auth.credentials.remove('login')
    expect(servers.sent.filter(({ url }) => url === revocationUrl).map((request) => form(request).token)).toEqual(['refresh-1', 'token-1'])
    expect(await failureOf(auth.fetch(loggedIn))).toMatchObject({ code: 'NO_CREDENTIAL' })
    await auth.credentials.add({ ...entries.login, revocationUrl })
    expect(await failureOf(auth.fetch(loggedIn))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect([shownTokens().length, changes.map(({ kind }) => kind)]).toEqual([1, ['login', 'removed', 'logout', 'added']])
  })

  it('sends a removed credential no further when a request is under way', async () => {
    let go = () => {}
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    const servers = script(async ({ url }) => {
      if (url !== F) return { body: 'data' }
      await new Promise<void>((resolve) => {
        go = resolve
        arrived()
      })
      return redirectTo(`${DATA}moved.tif`)
    })
    const { auth } = tab(servers, { credentials: [entries.key] })
    const answer = failureOf(auth.fetch(keyed))
    await arrival
    await auth.credentials.remove('key')
    go()
    expect(await answer).toMatchObject({ code: 'NO_CREDENTIAL', message: expect.stringContaining('was removed') })
    expect(servers.sent.map(({ url }) => url)).toEqual([F])
  })

  it.each([
    ['another credential was added', (auth: LiveAuth) => auth.credentials.add(entries.cookie)],
    ['the user typed a URL', (auth: LiveAuth) => auth.credentials.typed('https://127.0.0.1:8080/')],
  ])('sends a removed credential no further when a request is under way and %s meanwhile', async (_name, change) => {
    let go = () => {}
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    const servers = script(async ({ url }) => {
      if (url !== F) return { body: 'data' }
      await new Promise<void>((resolve) => {
        go = resolve
        arrived()
      })
      return redirectTo(`${DATA}moved.tif`)
    })
    const { auth } = tab(servers, { credentials: [entries.key] })
    const answer = failureOf(auth.fetch(keyed))
    await arrival
    await change(auth)
    await auth.credentials.remove('key')
    go()
    expect(await answer).toMatchObject({ code: 'NO_CREDENTIAL' })
    expect(servers.sent.map(({ url }) => url)).toEqual([F])
  })

  it('does not answer a challenge with a credential that was removed meanwhile', async () => {
    let go = () => {}
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    const servers = script(async (_request, index) => {
      if (index > 0) return { body: 'data' }
      arrived()
      await new Promise<void>((resolve) => (go = resolve))
      return { status: 401, headers: { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256' } }
    })
    const { auth } = tab(servers, { credentials: [entries.account] })
    const answer = failureOf(auth.fetch(target({ type: 'http', scheme: 'digest' }, F)))
    await arrival
    await auth.credentials.remove('account')
    go()
    expect(await answer).toMatchObject({ code: 'NO_CREDENTIAL', message: expect.stringContaining('was removed') })
    expect(servers.sent.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('removes a preferred credential', async () => {
    const { auth } = tab(script(), { credentials: { credentials: [entries.key, entries.cookie], preferred: ['key'] } })
    await auth.credentials.remove('key')
    expect(auth.credentials.list().map(({ id }) => id)).toEqual(['cookie'])
  })

  it('changes on after its connection to other tabs is closed', async () => {
    const { auth, changes } = tab(script(), { tabs: `test-${++channels}` })
    auth.credentials.close()
    await auth.credentials.add(entries.key)
    expect(changes).toEqual([{ kind: 'added', credential: 'key', tab: 'this' }])
  })

  it('does not answer a challenge to the service of a client with a credential that was removed meanwhile', async () => {
    const sent: HttpRequest[] = []
    const { auth } = tab(script(), { credentials: [entries.account] })
    const service = await auth.service(DATA)
    const challenge = 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256'
    const send: Script['send'] = async (request, options) => {
      sent.push(request)
      await auth.credentials.remove('account')
      return script(() => ({ status: 401, headers: { 'www-authenticate': challenge } })).send(request, options)
    }
    expect(await failureOf(service.send({ method: 'GET', url: F, headers: {} }, send))).toMatchObject({ code: 'NO_CREDENTIAL' })
    expect(sent.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('tells every listener, and the caller nothing of the fault of one', async () => {
    const { auth, changes } = tab(script())
    const faults: unknown[] = []
    const onFault = (error: unknown) => faults.push(error)
    const present = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', onFault)
    onTestFinished(() => {
      process.off('uncaughtException', onFault)
      for (const listener of present) process.on('uncaughtException', listener)
    })
    const fault = new Error('of a listener')
    auth.credentials.subscribe(() => {
      throw fault
    })
    const later: LiveChange[] = []
    auth.credentials.subscribe((change) => later.push(change))
    await auth.credentials.add(entries.key)
    await turns()
    expect([changes, later, faults]).toEqual([[expect.objectContaining({ kind: 'added' })], changes, [fault]])
  })

  it('refuses a host without a scheme, which would allow nothing', () => {
    for (const host of [
      'localhost:5173',
      '127.0.0.1:8080',
      'localhost',
      'data.example/?api_key=s3cr3t',
      'ada:1s3cr3t@h/',
      undefined as never,
    ]) {
      const message = 'typed must be absolute URLs such as http://localhost:5173/'
      const refused = expect.objectContaining({ code: 'CONFIG_INVALID', message })
      expect(() => createLiveAuth({ credentials: [], tabs: false, typed: [host] })).toThrow(refused)
      expect(() => createLiveAuth({ credentials: [], tabs: false }).credentials.typed(host)).toThrow(refused)
    }
  })

  it('takes a page without an origin, from which nothing is allowed', async () => {
    for (const url of ['file:///home/ada/page.html', 'about:srcdoc', 'capacitor://localhost/index.html']) {
      const auth = createLiveAuth({ credentials: [], tabs: false, typed: [url] })
      auth.credentials.typed(url)
      const local = assetOf({ assets: { data: { href: 'https://127.0.0.1:8080/f.tif' } } }, 'data')
      expect(await failureOf(auth.fetch(local))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
    }
  })

  it('allows the private address that the user typed', async () => {
    const { auth } = tab(script(), { credentials: [] })
    const local = assetOf({ assets: { data: { href: 'https://127.0.0.1:8080/f.tif' } } }, 'data')
    expect(await failureOf(auth.fetch(local))).toMatchObject({ code: 'URL_ADDRESS_FORBIDDEN' })
    auth.credentials.typed('https://127.0.0.1:8080/catalog.json')
    expect((await auth.fetch(local)).status).toBe(200)
  })
})

describe('two tabs', () => {
  it.each([true, false])('stop sending a token after a logout in one of them (shared store: %s)', async (shared) => {
    const { servers, shownTokens } = provider()
    const [one, two] = twoTabs(servers, shared)
    await login(one.auth)
    if (!shared) await login(two.auth)
    await heard(two, 'login')
    await one.auth.fetch(loggedIn)
    await two.auth.fetch(loggedIn)
    const before = shownTokens().length
    await one.auth.logout('login')
    await heard(two, 'logout')
    for (const { auth } of [one, two]) expect(await failureOf(auth.fetch(loggedIn))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect(shownTokens()).toHaveLength(before)
    expect(two.changes.at(-1)).toEqual({ kind: 'logout', credential: 'login', tab: 'other' })
    expect(two.sessions.at(-1)).toEqual({ credential: 'login', change: 'removed' })
    // Nobody hears an echo of what it did itself.
    expect(one.changes.filter(({ kind, tab: source }) => kind === 'logout' && source === 'other')).toEqual([])
  })

  it('both use a new login where they share a store', async () => {
    const { servers, issued } = provider()
    const [one, two] = twoTabs(servers, true)
    expect(await failureOf(two.auth.fetch(loggedIn))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    await login(one.auth)
    await heard(two, 'login')
    expect((await two.auth.fetch(loggedIn)).status).toBe(200)
    expect([issued(), two.sessions]).toEqual([1, [{ credential: 'login', change: 'started' }]])
  })

  it('use the token of the last user after a login over another login', async () => {
    const { servers, shownTokens } = provider()
    const [one, two] = twoTabs(servers, true)
    await login(one.auth)
    await two.auth.fetch(loggedIn)
    await login(one.auth)
    await heard(two, 'login', 2)
    await two.auth.fetch(loggedIn)
    expect(shownTokens()).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it('both lose a credential that is removed in one of them', async () => {
    const { servers } = provider()
    const [one, two] = twoTabs(servers, false, [entries.key])
    await two.auth.fetch(keyed)
    await one.auth.credentials.remove('key')
    await heard(two, 'removed')
    expect(two.auth.credentials.list()).toEqual([])
    expect(await failureOf(two.auth.fetch(keyed))).toMatchObject({ code: 'NO_CREDENTIAL' })
    expect(two.changes).toEqual([{ kind: 'removed', credential: 'key', tab: 'other' }])
  })

  it('lose with a removed credential those that need it', async () => {
    const { servers } = provider()
    const name = `test-${++channels}`
    const signer = { ...entries.signer, with: 'key' }
    const key = { ...entries.key, sendTo: [DATA, 'https://sign.victim.example/'] }
    const one = tab(servers, { credentials: [key], tabs: name })
    const two = tab(servers, { credentials: [key, signer], tabs: name })
    await two.auth.fetch(keyed)
    await one.auth.credentials.remove('key')
    await expect.poll(() => two.changes.length).toBe(2)
    expect(two.auth.credentials.list()).toEqual([])
    expect(await failureOf(two.auth.fetch(keyed))).toMatchObject({ code: 'NO_CREDENTIAL' })
    expect(two.changes.map(({ kind, credential }) => [kind, credential])).toEqual([
      ['removed', 'signer'],
      ['removed', 'key'],
    ])
  })

  it('hear of each other by storage events where there is no BroadcastChannel', async () => {
    const { BroadcastChannel } = globalThis
    const listeners = new Set<(event: object) => void>()
    const stub = {
      BroadcastChannel: undefined,
      localStorage: {
        setItem: (key: string, newValue: string) => {
          for (const listener of listeners) listener({ key, newValue })
        },
        removeItem: (key: string) => {
          for (const listener of listeners) listener({ key, newValue: null })
        },
      },
      addEventListener: (_type: string, listener: (event: object) => void) => listeners.add(listener),
      removeEventListener: (_type: string, listener: (event: object) => void) => listeners.delete(listener),
    }
    const present = new Map(Object.keys(stub).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]))
    onTestFinished(() => {
      for (const [name, descriptor] of present) {
        if (descriptor) Object.defineProperty(globalThis, name, descriptor)
        else Reflect.deleteProperty(globalThis, name)
      }
      expect(globalThis.BroadcastChannel).toBe(BroadcastChannel)
    })
    for (const [name, value] of Object.entries(stub)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    const [one, two] = twoTabs(script(), false, [entries.key])
    expect(listeners.size).toBe(2)
    await one.auth.credentials.remove('key')
    await turns()
    expect(two.auth.credentials.list()).toEqual([])
    for (const listener of listeners) listener({ key: `test-${channels}:message`, newValue: 'no JSON' })
    one.auth.credentials.close()
    expect(listeners.size).toBe(1)
  })

  it.each([
    ['a text', 'logout'],
    ['an unknown kind', { kind: 'constructor', credential: 'key' }],
    ['an unknown credential', { kind: 'removed', credential: 'gone' }],
    ['a credential that is no text', { kind: 'removed', credential: ['key'] }],
    ['an inherited field', Object.create({ kind: 'removed', credential: 'key' })],
    ['a long id', { kind: 'removed', credential: 'k'.repeat(65) }],
    ['a new credential', { kind: 'added', credential: 'key', value: { ...otherKey, sendTo: 'https://evil.example/' } }],
  ])('ignore %s on the channel', async (_name, data) => {
    const { auth } = tab(script(), { credentials: [entries.key], tabs: `test-${++channels}` })
    const channel = new BroadcastChannel(`test-${channels}`)
    onTestFinished(() => channel.close())
    channel.postMessage(data)
    await turns()
    expect(auth.peek(keyed) ?? (await auth.authorize(keyed))).toMatchObject({ headers: { 'x-api-key': secrets.key.value } })
    expect(auth.credentials.list()).toEqual([expect.objectContaining({ id: 'key', sendTo: [DATA] })])
  })

  it('send no secret to each other', async () => {
    const { servers } = provider()
    const { auth } = tab(servers, { credentials: [entries.login], tabs: `test-${++channels}` })
    const channel = new BroadcastChannel(`test-${channels}`)
    onTestFinished(() => channel.close())
    const messages: unknown[] = []
    channel.onmessage = ({ data }: MessageEvent) => messages.push(data)
    await login(auth)
    await auth.credentials.add(entries.key)
    await auth.credentials.remove('key')
    await auth.logout('login')
    await expect.poll(() => messages).toHaveLength(4)
    expect(messages).toEqual([
      { kind: 'login', credential: 'login' },
      { kind: 'added', credential: 'key' },
      { kind: 'removed', credential: 'key' },
      { kind: 'logout', credential: 'login' },
    ])
  })
})
