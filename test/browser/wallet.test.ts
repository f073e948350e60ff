/** Credentials and logins that are there again after a reload, and what ends them. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Redirection } from '../../src/auth/auth.ts'
import { memoryStore } from '../../src/auth/session.ts'
import { createLiveAuth, type LiveAuth, type LiveAuthOptions, type LiveChange } from '../../src/browser/live-auth.ts'
import { createLogins } from '../../src/browser/logins.ts'
import { dpopKeyStore, sessionStorageStore } from '../../src/browser/stores.ts'
import { type Endings, type KeptCredential, type PageStore, readKept, withEnding, withWallet } from '../../src/browser/wallet.ts'
import { target } from '../harness/documents.ts'
import { failureOf } from '../harness/failure.ts'
import { type Script, script } from '../harness/scripted.ts'
import { AUTHORIZE_URL, DATA, entries, secrets, TOKEN_URL } from '../harness/victim.ts'

const REVOKE_URL = 'https://auth.victim.example/revoke'
const F = `${DATA}f.tif`
const keyed = target({ type: 'apiKey', in: 'header', name: 'x-api-key' }, F)
const flows = { authorizationCode: { authorizationUrl: AUTHORIZE_URL, tokenUrl: TOKEN_URL, scopes: {} } }
const loggedIn = target({ type: 'oauth2', flows }, F)
/** A credential with a secret, and with tokens. */
const clientEntry = {
  id: 'client',
  type: 'oauth2',
  flow: 'clientCredentials',
  tokenUrl: TOKEN_URL,
  clientId: 'app',
  clientSecret: 'cs',
  sendTo: DATA,
} as const
const asClient = target({ type: 'oauth2', flows: { clientCredentials: { tokenUrl: TOKEN_URL, scopes: {} } } }, F)
const loginEntry = { ...entries.login, revocationUrl: REVOKE_URL }

let channels = 0
let channel = ''
let issued = 0
let good = new Set<string>()
let servers: Script
/** What IndexedDB has: shared by all tabs and kept after a reload. */
let texts: Map<string, string>
let kept: Map<string, KeptCredential>
let endings: Endings
/** What the token endpoint waits for. */
let beforeToken = async () => {}
/** True for a database that does not answer. */
let isSlow = false

beforeEach(() => {
  channel = `wallet-${++channels}`
  issued = 0
  good = new Set()
  texts = new Map()
  kept = new Map()
  endings = { number: 0, isUnderWay: false }
  isSlow = false
  beforeToken = async () => {}
  servers = script((request) => {
    if (request.url === TOKEN_URL) {
      good.add(`token-${++issued}`)
      return { body: { access_token: `token-${issued}`, token_type: request.headers.dpop ? 'DPoP' : 'Bearer', expires_in: 600 } }
    }
    if (request.url === REVOKE_URL) {
      good.delete(new URLSearchParams(String(request.body)).get('token') ?? '')
      return {}
    }
    if (request.url.includes('/public')) return { status: 200, body: request.headers.authorization === undefined ? 'public' : 'more' }
    const { authorization, 'x-api-key': key } = request.headers
    const isGood = good.has(authorization?.slice(7) ?? '') || key === secrets.key.value
    return { status: isGood ? 200 : 401, body: 'data' }
  })
})

function sharedStore(): PageStore {
  const store = memoryStore()
  return withWallet(
    {
      ...store,
      shared: true,
      read: async (key) => (isSlow ? new Promise<undefined>(() => {}) : texts.get(key)),
      write: async (key, text) => void texts.set(key, text),
      remove: async (key) => void texts.delete(key),
    },
    {
      keepsSecrets: true,
      entries: async () => [...kept.values()].flatMap((entry) => readKept(structuredClone(entry)) ?? []),
      change: async (id, next) => {
        const entry = next(kept.get(id))
        if (entry) kept.set(id, structuredClone(entry))
        else kept.delete(id)
      },
      removeOrphans: async () => {
        const owned = new Set([...kept.values()].flatMap(({ sessions }) => sessions))
        for (const key of texts.keys()) if (!owned.has(key)) texts.delete(key)
      },
      endings: async () => endings,
      setEnding: async (isUnderWay) => {
        endings = withEnding(endings, isUnderWay)
      },
    },
  )
}

function page(options: Partial<LiveAuthOptions> = {}) {
  const transport: LiveAuthOptions['transport'] = async (request, how) => {
    if (request.url === TOKEN_URL) await beforeToken()
    return servers.send(request, how)
  }
  const auth = createLiveAuth({ credentials: [], transport, tabs: channel, session: sharedStore(), ...options })
  const changes: LiveChange[] = []
  auth.credentials.subscribe((change) => changes.push(change))
  onTestFinished(() => auth.credentials.close())
  const ids = async () => {
    await auth.ready()
    return auth.credentials.list().map(({ id }) => id)
  }
  return { auth, changes, ids }
}

const redirection: Redirection = {
  uri: 'http://127.0.0.1/',
  answer: async (url) => new URL(`http://127.0.0.1/?code=c&state=${new URL(url).searchParams.get('state')}`),
  close: async () => {},
}
const login = (auth: LiveAuth) => auth.login('login', { redirect: async () => redirection })

type Tab = ReturnType<typeof page>

/** Begins a login; `go` lets it go on. */
async function pendingLogin(auth: LiveAuth, where: 'at the provider' | 'at the token endpoint'): Promise<{ go(): Promise<void> }> {
  await auth.credentials.add(loginEntry)
  let [go, arrive] = [() => {}, () => {}]
  const goes = new Promise<void>((resolve) => {
    go = resolve
  })
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const wait = () => {
    arrive()
    return goes
  }
  const waiting: Redirection = {
    ...redirection,
    answer: async (...given) => {
      if (where === 'at the provider') await wait()
      return redirection.answer(...given)
    },
  }
  if (where === 'at the token endpoint') beforeToken = wait
  const ended = auth.login('login', { redirect: async () => waiting })
  ended.catch(() => {})
  await arrived
  return {
    go: () => {
      go()
      return ended
    },
  }
}

describe('a reload', () => {
  it('keeps a login that was added by the user, and its session', async () => {
    const before = page()
    await before.auth.credentials.add(loginEntry)
    await login(before.auth)
    before.auth.credentials.close()
    const after = page()
    expect((await after.auth.fetch(loggedIn)).status).toBe(200)
    expect(after.auth.credentials.list()).toMatchObject([{ id: 'login', added: true, kept: true }])
    expect(after.changes).toEqual([{ kind: 'added', credential: 'login', tab: 'other' }])
    expect(issued).toBe(1)
  })

  it('forgets a typed secret, unless the user asked to keep it', async () => {
    const before = page()
    await before.auth.credentials.add(entries.key)
    expect(before.auth.credentials.list()).toMatchObject([{ id: 'key', added: true }])
    expect(before.auth.credentials.list()[0]).not.toHaveProperty('kept')
    expect(await page().ids()).toEqual([])
    expect(JSON.stringify([...kept.values()])).not.toContain(secrets.key.value)
    await before.auth.credentials.add(entries.key, { keep: true })
    expect((await page().auth.fetch(keyed)).status).toBe(200)
  })

  it('keeps no token of a credential whose secret it forgets', async () => {
    const { auth } = page()
    await auth.credentials.add(clientEntry)
    expect((await auth.fetch(asClient)).status).toBe(200)
    expect(await auth.status()).toMatchObject([{ credential: 'client', state: 'valid', persistent: false }])
    expect([texts.size, kept.size]).toEqual([0, 0])
  })

  it('removes a token without a credential', async () => {
    texts.set('f'.repeat(64), 'a token of someone')
    await page().auth.ready()
    expect(texts.size).toBe(0)
  })

  it('leaves alone what it cannot use: another page of the origin may', async () => {
    kept.set('odd', { credential: { id: 'odd', type: 'oauth2', flow: 'none', sendTo: DATA }, by: 'user', sessions: ['a'.repeat(64)] })
    texts.set('a'.repeat(64), 'token')
    const { auth, ids } = page()
    expect(await ids()).toEqual([])
    expect([kept.size, texts.size]).toEqual([1, 1])
    await auth.credentials.logoutAll()
    expect(texts.size).toBe(0)
  })

  it('keeps what the user removed away', async () => {
    const before = page()
    await before.auth.credentials.add(loginEntry)
    await login(before.auth)
    await before.auth.credentials.remove('login')
    expect(await page().ids()).toEqual([])
    expect([texts.size, good.size]).toEqual([0, 0])
  })

  it('does not answer from memory before the kept credentials are there', async () => {
    const before = page()
    await before.auth.credentials.add(entries.key, { keep: true })
    const after = page({ anonymous: 'allow' })
    expect(after.auth.peek(keyed)).toBeUndefined()
    await after.auth.ready()
    expect(after.auth.peek(keyed)?.headers).toEqual({ 'x-api-key': secrets.key.value })
  })

  it('refuses to keep a secret that is a function, or where secrets are not kept', async () => {
    const { auth } = page()
    const asked = { ...entries.key, value: () => 'typed' }
    expect(await failureOf(auth.credentials.add(asked, { keep: true }))).toMatchObject({ code: 'CONFIG_INVALID' })
    const tabOnly = page({ session: sessionStorageStore({ storage: itemStorage() }) })
    expect(tabOnly.auth.credentials.keepsSecrets).toBe(false)
    expect(await failureOf(tabOnly.auth.credentials.add(entries.key, { keep: true }))).toMatchObject({ code: 'CONFIG_INVALID' })
    expect([auth.credentials.list(), tabOnly.auth.credentials.list(), kept.size]).toEqual([[], [], 0])
  })

  it('keeps no credential with a function, and none of its tokens', async () => {
    const bound = { ...loginEntry, dpop: true, dpopKeyPair: dpopKeyStore().pair('login') }
    const { auth } = page()
    expect(await failureOf(auth.credentials.add(bound, { keep: true }))).toMatchObject({ code: 'CONFIG_INVALID' })
    await auth.credentials.add(bound)
    expect(auth.credentials.list()).toMatchObject([{ id: 'login', added: true }])
    expect(auth.credentials.list()[0]).not.toHaveProperty('kept')
    await login(auth)
    expect(await auth.status()).toMatchObject([{ credential: 'login', state: 'valid', persistent: false }])
    expect([texts.size, kept.size]).toEqual([0, 0])
    expect(await page().ids()).toEqual([])
  })

  it('in a tab with session storage keeps logins as well', async () => {
    const storage = itemStorage()
    const before = page({ session: sessionStorageStore({ storage }) })
    await before.auth.credentials.add(loginEntry)
    await before.auth.credentials.add(entries.key)
    await login(before.auth)
    storage.setItem(`stac-auth:${'e'.repeat(64)}`, 'a token without a credential')
    const after = page({ session: sessionStorageStore({ storage }) })
    expect((await after.auth.fetch(loggedIn)).status).toBe(200)
    expect(await after.ids()).toEqual(['login'])
    expect(Object.values(storage).join()).not.toContain(secrets.key.value)
    expect(storage.getItem(`stac-auth:${'e'.repeat(64)}`)).toBeNull()
    await after.auth.credentials.logoutAll()
    expect(Object.keys(storage).filter((name) => /[0-9a-f]{64}/.test(name))).toEqual([])
  })
})

/** As `sessionStorage`, whose items are its own members. */
function itemStorage(): Record<string, string> & Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items: Record<string, string> = {}
  return Object.defineProperties(items, {
    getItem: { value: (name: string) => items[name] ?? null },
    setItem: {
      value: (name: string, text: string) => {
        items[name] = text
      },
    },
    removeItem: { value: (name: string) => delete items[name] },
  }) as never
}

describe('what others write into the storage', () => {
  const evil = 'https://evil.example/'

  it('replaces no credential of the page', async () => {
    const { auth, ids } = page({ credentials: [loginEntry] })
    await auth.ready()
    kept.set('login', { credential: { ...loginEntry, sendTo: [DATA, evil] }, by: 'user', sessions: [] })
    const other = new BroadcastChannel(`wallet-${channels}`)
    other.postMessage({ kind: 'changed', credential: 'login' })
    await new Promise((resolve) => setTimeout(resolve, 30))
    other.close()
    expect(await ids()).toEqual(['login'])
    expect(auth.credentials.list()[0]?.sendTo).toEqual([DATA])
    expect(await failureOf(auth.credentials.add({ ...entries.key, id: 'login' }, { keep: true }))).toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('gives an offered credential no other URLs and no other fields', async () => {
    const offers = [{ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: [DATA, 'https://more.example/'] }]
    const stored = { ...entries.key, id: 'key', name: 'x-other', sendTo: [DATA, evil] }
    kept.set('key', { credential: stored, by: 'user', sessions: [], isSecret: true })
    const { auth, ids } = page({ offers })
    expect(await ids()).toEqual(['key'])
    expect(auth.credentials.list()).toMatchObject([{ name: 'x-api-key', sendTo: [DATA] }])
    expect((await auth.fetch(keyed)).status).toBe(200)
    kept.set('key', { credential: { ...stored, sendTo: evil }, by: 'user', sessions: [], isSecret: true })
    expect(await page({ offers }).ids()).toEqual([])
  })
})

describe('a second tab', () => {
  it('has what the first one adds, widens and removes', async () => {
    const [one, two] = [page(), page()]
    await one.auth.credentials.add(loginEntry)
    await expect.poll(two.ids).toEqual(['login'])
    await one.auth.credentials.allow('login', 'https://more.example/')
    await expect.poll(() => two.auth.credentials.list()[0]?.sendTo).toContain('https://more.example/')
    await login(one.auth)
    await expect.poll(async () => (await two.auth.fetch(loggedIn)).status).toBe(200)
    await one.auth.credentials.remove('login')
    await expect.poll(two.ids).toEqual([])
  })

  it('never gets a secret that is not kept', async () => {
    const [one, two] = [page(), page()]
    await one.auth.credentials.add(entries.key)
    await expect.poll(() => two.changes.length).toBe(1)
    expect(await two.ids()).toEqual([])
  })

  it.each([
    ['that was kept', true],
    ['that was typed in both', false],
  ])('forgets a secret %s once another one is typed in the first tab, and asks for it when it is needed', async (_which, keep) => {
    const offers = [{ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: DATA }]
    const [one, two] = [page({ offers, anonymous: 'allow' }), page({ offers, anonymous: 'allow' })]
    await one.auth.credentials.add(entries.key, { keep })
    if (!keep) await two.auth.credentials.add(entries.key)
    await expect.poll(two.ids).toEqual(['key'])
    await one.auth.credentials.change('key', { value: 'another' })
    await expect.poll(two.ids).toEqual([])
    expect(two.changes.at(-1)).toEqual({ kind: 'removed', credential: 'key', tab: 'other' })
    expect(two.auth.credentials.needs()).toEqual([])
    const before = servers.sent.length
    expect((await two.auth.fetch(F)).status).toBe(401)
    expect(servers.sent.slice(before).map(({ headers }) => headers['x-api-key'])).toEqual([undefined])
    expect(two.auth.credentials.needs()).toMatchObject([{ credential: 'key' }])
    expect(await one.ids()).toEqual(['key'])
  })

  it('keeps a secret of its own when the first tab may send the same one to further URLs', async () => {
    const [one, two] = [page(), page()]
    await one.auth.credentials.add(entries.key)
    await two.auth.credentials.add(entries.key)
    await one.auth.credentials.allow('key', 'https://more.example/')
    await one.auth.credentials.add(loginEntry)
    await expect.poll(two.ids).toEqual(['key', 'login'])
    expect((await two.auth.fetch(keyed)).status).toBe(200)
  })

  it('still lacks a secret that is typed in the first tab, and not kept', async () => {
    const offers = [{ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: DATA }]
    const [one, two] = [page({ offers, anonymous: 'allow' }), page({ offers, anonymous: 'allow' })]
    expect((await two.auth.fetch(F)).status).toBe(401)
    await one.auth.credentials.add(entries.key)
    await expect.poll(() => two.changes.map(({ kind }) => kind)).toEqual(['needed', 'added'])
    expect(two.auth.credentials.needs()).toMatchObject([{ credential: 'key' }])
  })
})

it.each(['at the provider', 'at the token endpoint'] as const)('a removal ends a login %s', async (stage) => {
  const { auth } = page()
  const pending = await pendingLogin(auth, stage)
  await auth.credentials.remove('login')
  expect(await failureOf(pending.go())).toMatchObject({ code: stage === 'at the provider' ? 'NO_CREDENTIAL' : 'LOGIN_REQUIRED' })
  expect([texts.size, good.size, kept.size]).toEqual([0, 0, 0])
})

describe('a logout of everything', () => {
  it('ends each session, revokes it, and removes typed secrets in all tabs', async () => {
    const [one, two] = [page(), page()]
    await one.auth.credentials.add(loginEntry)
    await one.auth.credentials.add(entries.key, { keep: true })
    await login(one.auth)
    await expect.poll(two.ids).toEqual(['login', 'key'])
    await two.auth.fetch(loggedIn)
    await createLogins(two.auth, { callback: '/' }).logoutAll()
    for (const { auth, ids } of [one, two]) {
      await expect.poll(ids).toEqual(['login'])
      expect(await failureOf(auth.fetch(loggedIn))).toMatchObject({ code: 'LOGIN_REQUIRED' })
      expect(await failureOf(auth.fetch(keyed))).toMatchObject({ code: 'NO_CREDENTIAL' })
    }
    expect([good.size, texts.size, endings.isUnderWay]).toEqual([0, 0, false])
    expect(JSON.stringify([...kept.values()])).not.toContain(secrets.key.value)
    expect(one.changes.some(({ kind, tab }) => kind === 'ended' && tab === 'other')).toBe(true)
  })

  it('in another tab, keys are sent no more while its tokens are still looked up', async () => {
    const one = page()
    await one.auth.credentials.add(loginEntry)
    await one.auth.credentials.add(entries.key)
    await login(one.auth)
    isSlow = true
    const other = new BroadcastChannel(channel)
    onTestFinished(() => other.close())
    other.postMessage({ kind: 'ended', credential: '' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await failureOf(one.auth.fetch(keyed))).toMatchObject({ code: 'NO_CREDENTIAL' })
  })

  it('leaves no mark when only the provider failed, and removes what was kept before a change', async () => {
    const { auth } = page({
      transport: async (request, how) => (request.url === REVOKE_URL ? Promise.reject(new Error('no')) : servers.send(request, how)),
    })
    await auth.credentials.add(loginEntry)
    await login(auth)
    expect(await failureOf(auth.credentials.logoutAll())).toMatchObject({ name: expect.any(String) })
    expect([texts.size, endings.isUnderWay]).toEqual([0, false])
    await login(auth)
    expect(texts.size).toBe(1)
    await auth.credentials.change('login', { clientSecret: 'typed' })
    expect([texts.size, kept.size]).toEqual([0, 0])
  })

  it('says so when what is kept cannot be removed', async () => {
    const store = sharedStore()
    const { auth } = page({ session: store })
    await auth.credentials.add(entries.key, { keep: true })
    const broken = () => Promise.reject(new Error('the disk is gone'))
    Object.assign(store.wallet, { entries: broken, change: broken })
    expect(await failureOf(auth.credentials.logoutAll())).toMatchObject({ message: 'the disk is gone' })
    expect(endings.isUnderWay).toBe(true)
  })

  it.each([
    ['in the same tab', (one) => one.auth.credentials.logoutAll()],
    ['in another tab', (_one, two) => two.auth.credentials.logoutAll()],
    ['in a page that sends no messages', () => page({ tabs: false }).auth.credentials.logoutAll()],
  ] satisfies [string, (...tabs: [Tab, Tab]) => Promise<void>][])('ends a login that is under way, %s', async (_where, end) => {
    for (const stage of ['at the provider', 'at the token endpoint'] as const) {
      const [one, two] = [page(), page()]
      const pending = await pendingLogin(one.auth, stage)
      await expect.poll(two.ids).toEqual(['login'])
      await end(one, two)
      expect(await failureOf(pending.go())).toMatchObject({ code: 'LOGIN_REQUIRED' })
      expect([texts.size, good.size]).toEqual([0, 0])
      await login(one.auth)
      expect([texts.size, good.size]).toEqual([1, 1])
      await one.auth.credentials.remove('login')
    }
  })

  it('ends sessions of other pages of the origin', async () => {
    const other = page({ credentials: [loginEntry], tabs: false })
    await login(other.auth)
    expect(good.size).toBe(1)
    await page().auth.credentials.logoutAll()
    expect([good.size, texts.size]).toEqual([0, 0])
  })

  it('that was interrupted is finished by the next page', async () => {
    const before = page()
    await before.auth.credentials.add(loginEntry)
    await login(before.auth)
    endings = { number: 1, isUnderWay: true }
    expect(await failureOf(page().auth.fetch(loggedIn))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect([good.size, texts.size, endings.isUnderWay]).toEqual([0, 0, false])
  })

  it('ends requests that wait for a token, unsent', async () => {
    const pending = page({
      transport: async (request, options) => {
        if (request.url === TOKEN_URL) await new Promise((_resolve, reject) => options?.signal?.addEventListener('abort', reject))
        return servers.send(request, options)
      },
    })
    await pending.auth.credentials.add(clientEntry)
    const reading = failureOf(pending.auth.fetch(asClient))
    await new Promise((resolve) => setTimeout(resolve, 20))
    await pending.auth.credentials.logoutAll()
    expect(await reading).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect(servers.sent).toEqual([])
  })
})

describe('a page that reads anonymously first', () => {
  const open = target({ type: 'oauth2', flows }, `${DATA}public.json`)

  it('reads public documents without a login, and with one after it', async () => {
    const { auth, changes } = page({ credentials: [loginEntry] })
    auth.credentials.allowAnonymous()
    expect(await (await auth.fetch(open)).text()).toBe('public')
    expect(changes).toEqual([])
    await login(auth)
    expect(await (await auth.fetch(open)).text()).toBe('more')
  })

  it('tells which login a refused document needs', async () => {
    const { auth, changes } = page({ credentials: [loginEntry], anonymous: 'allow' })
    expect(await failureOf(auth.fetch(loggedIn))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    expect(changes).toEqual([{ kind: 'needed', credential: 'login', tab: 'this' }])
    expect(auth.credentials.needs()).toMatchObject([{ credential: 'login', error: { code: 'LOGIN_REQUIRED' } }])
    await login(auth)
    await auth.fetch(loggedIn)
    expect(auth.credentials.needs()).toEqual([])
  })

  it('tells that a need is met by a login in a page that sends no messages', async () => {
    const { auth, changes } = page({ credentials: [loginEntry], anonymous: 'allow' })
    expect(await failureOf(auth.fetch(loggedIn))).toMatchObject({ code: 'LOGIN_REQUIRED' })
    await login(page({ credentials: [loginEntry], tabs: false }).auth)
    await auth.fetch(loggedIn)
    await auth.fetch(loggedIn)
    expect(changes).toEqual([
      { kind: 'needed', credential: 'login', tab: 'this' },
      { kind: 'met', credential: 'login', tab: 'this' },
    ])
    expect(auth.credentials.needs()).toEqual([])
  })

  it('tells that a need is met by another credential for the same URL only', async () => {
    const offers = [{ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: DATA }]
    const { auth, changes } = page({ offers, anonymous: 'allow' })
    expect((await auth.fetch(F)).status).toBe(401)
    await auth.credentials.add({ ...entries.key, id: 'other' })
    expect((await auth.fetch(`${DATA}other.tif`)).status).toBe(200)
    expect(auth.credentials.needs()).toMatchObject([{ credential: 'key' }])
    expect((await auth.fetch(F)).status).toBe(200)
    expect(changes.at(-1)).toEqual({ kind: 'met', credential: 'key', tab: 'this' })
    expect(auth.credentials.needs()).toEqual([])
  })

  it('offers the credentials of the page for URLs that are refused', async () => {
    const offers = [{ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: DATA }]
    const { auth, changes } = page({ offers, anonymous: 'allow' })
    expect((await auth.fetch(F)).status).toBe(401)
    expect(changes).toEqual([{ kind: 'needed', credential: 'key', tab: 'this' }])
    expect(auth.credentials.offer('key')).toEqual(offers[0])
    await auth.credentials.add({ ...entries.key, value: 'mistyped' })
    expect(await failureOf(auth.fetch(F))).toMatchObject({ code: 'AUTH_REJECTED' })
    expect(auth.credentials.needs()).toMatchObject([{ credential: 'key', error: { code: 'AUTH_REJECTED', status: 401 } }])
    await auth.credentials.add(entries.key)
    expect((await auth.fetch(F)).status).toBe(200)
    expect(auth.credentials.needs()).toEqual([])
  })

  it('asks for nothing where no credential of the page is for that host', async () => {
    const { auth, changes } = page({ offers: [{ ...entries.key, id: 'key', value: undefined, sendTo: 'https://else.example/' }] })
    expect((await auth.fetch(F)).status).toBe(401)
    expect(changes).toEqual([])
  })

  it('gets the error of the scheme where the server refuses the anonymous request', async () => {
    const { auth } = page({ anonymous: 'allow' })
    expect(await failureOf(auth.fetch(keyed))).toMatchObject({ code: 'NO_CREDENTIAL' })
    expect(servers.sent).toHaveLength(1)
  })
})
