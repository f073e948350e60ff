/** What strangers, thieves and neighbours on the same page try against logins in a real browser. */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { item } from '../harness/documents.ts'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import type { AuthorizationServer, ServerSettings } from '../servers/authorization-server.ts'
import { useChromium } from './chromium.ts'
import { addressOf, agree, loggedIn, newPerson, popupOf, read, startLoginSite, startProviderFor } from './login-site.ts'

const browser = useChromium()
let site: AnsweringServer
let tampered: readonly [string, string] | undefined
const open: { close(): Promise<void> }[] = []

beforeAll(async () => {
  site = await startLoginSite(() => tampered)
}, 60_000)
afterAll(() => site.close())
afterEach(() => {
  tampered = undefined
  return Promise.all(open.splice(0).map((server) => server.close()))
})

async function provider(settings: ServerSettings = {}): Promise<AuthorizationServer> {
  const server = await startProviderFor(site, settings)
  open.push(server)
  return server
}

async function pageAt(address: string): Promise<Page> {
  const page = await (await newPerson(browser(), site)).context.newPage()
  await page.goto(address)
  return page
}

const tokenRequests = ({ log }: AuthorizationServer) => log.filter((line) => line === 'POST /token').length

describe('an answer that was tampered with', () => {
  /** The provider's answer reaches the callback page with another value. */
  async function withAnswer(name: string, value: string): Promise<{ server: AuthorizationServer; page: Page }> {
    const server = await provider()
    const page = await pageAt(addressOf(site, server))
    tampered = [name, value]
    return { server, page }
  }

  it('an answer that was tampered with by another issuer is refused, and its code is not redeemed', async () => {
    const { server, page } = await withAnswer('iss', 'https://identity.example')
    expect(await loggedIn(page)).toMatchObject({ code: 'OAUTH_ISSUER_MISMATCH' })
    expect(tokenRequests(server)).toBe(0)
    await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect())])
    await page.click('button[type=submit]')
    await page.waitForURL(addressOf(site, server))
    expect(await page.evaluate(() => app.finished)).toMatchObject({ code: 'OAUTH_ISSUER_MISMATCH' })
    expect(tokenRequests(server)).toBe(0)
  }, 60_000)

  it('the callback page rejects an answer with another state under a clean URL, and the wait continues', async () => {
    const { server, page } = await withAnswer('state', 'another-state')
    const popup = await popupOf(page)
    await agree(popup)
    await popup.waitForURL(`${site.origin}/callback.html`)
    expect(await popup.evaluate(() => completed)).toBe('unclaimed')
    await popup.close()
    expect(await page.evaluate(() => app.login)).toMatchObject({ code: 'LOGIN_DENIED' })
    expect(tokenRequests(server)).toBe(0)
  }, 60_000)

  it('an answer that was tampered with by another nonce gives an ID token that is not believed', async () => {
    const server = await provider()
    const page = await pageAt(addressOf(site, server))
    await page.context().route(`${server.issuer}/request`, (route) => {
      const body = new URLSearchParams(route.request().postData() ?? '')
      if (body.has('nonce')) body.set('nonce', 'of-somebody-else')
      return route.continue({ postData: body.toString() })
    })
    expect(await loggedIn(page)).toMatchObject({ code: 'OIDC_ID_TOKEN' })
    expect(tokenRequests(server)).toBe(1)
    expect(await read(page, server.resource)).toMatchObject({ code: 'LOGIN_REQUIRED' })
  }, 60_000)

  it('an answer that was tampered with is good for no second time', async () => {
    const server = await provider()
    const page = await pageAt(addressOf(site, server))
    const answers: string[] = []
    page.on('request', (request) => request.url().includes('/callback.html?') && answers.push(request.url()))
    await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect())])
    await agree(page)
    await page.waitForURL(addressOf(site, server))
    expect(await page.evaluate(() => app.finished)).toMatchObject({ value: { credential: 'portal' } })
    await page.goto(String(answers[0]))
    expect(await page.evaluate(() => completed)).toBe('unclaimed')
    expect(page.url()).toBe(`${site.origin}/callback.html`)
    expect(tokenRequests(server)).toBe(1)
  }, 60_000)
})

describe('a bound token', () => {
  it('outlives a reload with its key, which no script can read out', async () => {
    const server = await provider({ dpopNonce: true })
    const page = await pageAt(addressOf(site, server, '&dpop'))
    await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect())])
    await agree(page)
    await page.waitForURL(addressOf(site, server, '&dpop'))
    expect(await page.evaluate(() => app.finished)).toMatchObject({ value: { credential: 'portal' } })
    const me = `${server.issuer}/me`
    expect(await read(page, me)).toMatchObject({ value: expect.stringContaining('alice') })
    await page.reload()
    expect(await read(page, me)).toMatchObject({ value: expect.stringContaining('alice') })
    expect(server.log.filter((line) => line.startsWith('granted'))).toEqual(['granted authorization_code'])
    expect(await page.evaluate(exportKeys)).toEqual(['InvalidAccessError'])
    const kept = await page.evaluate(() => Object.entries(sessionStorage).find(([name]) => /^stac-auth:[0-9a-f]{64}$/.test(name))?.[1])
    const stolen = JSON.parse(kept ?? '{}')
    expect(stolen).toMatchObject({ tokenType: 'DPoP' })
    for (const scheme of ['Bearer', 'DPoP']) {
      expect((await fetch(me, { headers: { authorization: `${scheme} ${stolen.accessToken}` } })).ok).toBe(false)
    }
  }, 60_000)

  /** What comes of reading the private keys of the database out, by all forms that there are. */
  async function exportKeys(): Promise<readonly string[]> {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('stac-auth')
      request.onsuccess = () => resolve(request.result)
    })
    const pairs = await new Promise<CryptoKeyPair[]>((resolve) => {
      const request = database.transaction('keys').objectStore('keys').getAll()
      request.onsuccess = () => resolve(request.result)
    })
    const names = pairs.flatMap(({ privateKey }) =>
      (['jwk', 'pkcs8'] as const).map((form) =>
        crypto.subtle.exportKey(form, privateKey).then(
          () => 'read out',
          (error: DOMException) => error.name,
        ),
      ),
    )
    return [...new Set(await Promise.all(names))]
  }
})

describe('a second copy of the library on the page', () => {
  it('logs in beside the first one, and knows its errors', async () => {
    const server = await provider()
    const page = await pageAt(addressOf(site, server, '', '/two.html'))
    const [one, two] = [await popupOf(page, '#app'), await popupOf(page, '#copy')]
    await agree(two)
    expect(await page.evaluate(() => copy.login)).toEqual({ value: undefined })
    await one.waitForURL(/\/interaction\//)
    expect(one.isClosed()).toBe(false)
    await agree(one)
    expect(await page.evaluate(() => app.login)).toEqual({ value: undefined })
    await page.evaluate(() => copy.logout(false))
    expect(await page.evaluate(async () => app.isAuthError(await copy.refusal()))).toBe(true)
    expect(await page.evaluate(() => [...app.violations, ...copy.violations])).toEqual([])
  }, 60_000)
})

describe('a worker', () => {
  it('sends requests, has keys and forms, and reports that it cannot log anybody in', async () => {
    const server = await provider()
    const page = await pageAt(addressOf(site, server))
    const inWorker = {
      url: server.resource,
      token: 'wrong',
      item: item({ k: { type: 'http', scheme: 'basic' } }, { data: { href: 'https://data.example/a', 'auth:refs': ['k'] } }),
    }
    const told = await page.evaluate(
      (message) =>
        new Promise((resolve, reject) => {
          const worker = new Worker('/worker.js')
          worker.onmessage = ({ data }) => resolve(data)
          worker.onerror = ({ message: says }) => reject(new Error(says))
          worker.postMessage(message)
        }),
      inWorker,
    )
    expect(told).toEqual({
      refused: 'AUTH_REJECTED',
      popup: 'UNSUPPORTED_IN_BROWSER',
      redirect: 'UNSUPPORTED_IN_BROWSER',
      forms: [['username', 'password']],
      extractable: false,
    })
  }, 60_000)
})

describe('a hostile catalog', () => {
  it('a hostile catalog with hosts that look like the user’s gets no token, not even a request', async () => {
    const server = await provider()
    const stranger = await startAnswering(() => ({
      status: 200,
      headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' },
      body: '{}',
    }))
    open.push(stranger)
    const page = await pageAt(addressOf(site, server))
    await loggedIn(page)
    const own = { type: 'openIdConnect', openIdConnectUrl: `${server.issuer}/.well-known/openid-configuration` }
    const theirs = { type: 'openIdConnect', openIdConnectUrl: `${stranger.origin}/.well-known/openid-configuration` }
    const exchange = {
      type: 'oauth2',
      flows: { authorizationCode: { authorizationUrl: `${server.issuer}/auth`, tokenUrl: `${stranger.origin}/token`, scopes: {} } },
    }
    const hosts = [
      stranger.origin,
      server.issuer.replace('127.0.0.1', '127.0.0.1.evil.example'),
      server.issuer.replace('//', '//127.0.0.1@'),
      `${server.issuer}0`,
    ]
    const assets = Object.fromEntries([
      ...hosts.map((host, index) => [`look-${index}`, { href: `${host}/files`, 'auth:refs': ['own'] }]),
      ['foreign', { href: server.resource, 'auth:refs': ['theirs'] }],
      ['exchange', { href: server.resource, 'auth:refs': ['exchange'] }],
      ['right', { href: server.resource, 'auth:refs': ['own'] }],
    ])
    const document = item({ own, theirs, exchange }, assets)
    const answers: Record<string, unknown> = {}
    for (const key of Object.keys(assets))
      answers[key] = await page.evaluate(([opened, asset]) => app.open(opened, asset), [document, key] as const)
    const { right, ...wrong } = answers
    expect(right).toEqual({ value: 'file of alice' })
    for (const answer of Object.values(wrong))
      expect(answer).toMatchObject({ code: expect.stringMatching(/^(?:CREDENTIAL_|URL_|NO_CREDENTIAL|SCHEME_)/) })
    expect(stranger.exchanges).toEqual([])
    expect(stranger.connections).toBe(0)
  }, 60_000)
})
