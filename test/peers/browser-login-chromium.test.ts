/** A person logs in from a page, in a real browser, at the pages of a real provider. */
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { type AuthorizationServer, type ServerSettings, startAuthorizationServer } from '../servers/authorization-server.ts'
import { useChromium } from './chromium.ts'
import { scriptOf } from './page-script.ts'

const browser = useChromium()
const PAGE = '<!doctype html><meta charset="utf-8"><title>page</title><body><script src="/app.js"></script>'
const POLICY = "default-src 'none'; script-src 'self'; connect-src http://127.0.0.1:*; base-uri 'none'; require-trusted-types-for 'script'"

let site: AnsweringServer
const open: AuthorizationServer[] = []

beforeAll(async () => {
  const script = await scriptOf('test/peers/browser-login-in-page.ts')
  site = await startAnswering(({ path }) => {
    if (path === '/app.js') return { status: 200, headers: { 'content-type': 'text/javascript' }, body: script }
    if (!['/', '/callback.html', '/bye.html'].includes(path)) return { status: 404 }
    return { status: 200, headers: { 'content-type': 'text/html', 'content-security-policy': POLICY }, body: PAGE }
  })
}, 60_000)
afterAll(() => site.close())
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())))

async function provider(settings: ServerSettings = {}): Promise<AuthorizationServer> {
  const client = {
    client_id: 'page',
    token_endpoint_auth_method: 'none',
    application_type: 'native' as const,
    redirect_uris: ['http://127.0.0.1/callback.html'],
    post_logout_redirect_uris: [`${site.origin}/bye.html`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'openid offline_access read',
  }
  const server = await startAuthorizationServer({ pages: site.origin, clients: [client], ...settings })
  open.push(server)
  return server
}

/** A browser of its own, and what it complained about on our pages. */
async function newPerson(): Promise<{ readonly context: BrowserContext; readonly complaints: string[] }> {
  const complaints: string[] = []
  const context = await browser().newContext()
  context.on('console', (message) => {
    if (message.location().url.startsWith(site.origin) && /Content Security Policy/i.test(message.text())) complaints.push(message.text())
  })
  return { context, complaints }
}

const addressOf = ({ issuer }: AuthorizationServer, more = '') => `${site.origin}/?issuer=${encodeURIComponent(issuer)}${more}`

/** Logs in and consents at the provider. */
async function agree(page: Page): Promise<void> {
  await page.fill('input[name=login]', 'alice')
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.click('button[type=submit]')
}

const read = (page: Page, url: string) => page.evaluate((url) => app.read(url), url)

describe('a login by popup', () => {
  it('goes through the pages of the provider, closes its window, and lasts through a reload', async () => {
    const server = await provider()
    const { context, complaints } = await newPerson()
    const page = await context.newPage()
    await page.goto(addressOf(server))
    expect(await read(page, server.resource)).toMatchObject({ code: 'LOGIN_REQUIRED' })
    const [popup] = await Promise.all([context.waitForEvent('page'), page.click('#popup')])
    const closed = popup.waitForEvent('close')
    await agree(popup)
    expect(await page.evaluate(() => app.login)).toEqual({ value: undefined })
    await closed
    expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
    expect(await page.evaluate(() => app.changes)).toEqual(['started'])
    await page.reload()
    expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
    expect(await page.evaluate(() => app.violations)).toEqual([])
    expect(complaints).toEqual([])
    expect(server.log.filter((line) => line.startsWith('granted'))).toEqual(['granted authorization_code'])
  }, 60_000)
})

describe('a login by redirect', () => {
  it('brings the user back to where they were, with a clean address', async () => {
    const server = await provider()
    const { context, complaints } = await newPerson()
    const page = await context.newPage()
    const start = addressOf(server, '&view=map#place')
    await page.goto(start)
    await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect())])
    await agree(page)
    await page.waitForURL(start)
    expect(await page.evaluate(() => app.finished)).toEqual({ value: { credential: 'portal', returnTo: start } })
    expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
    await page.reload()
    expect(await page.evaluate(() => app.finished)).toEqual({ value: undefined })
    expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
    expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([expect.stringMatching(/^stac-auth:[0-9a-f]{64}$/)])
    expect(complaints).toEqual([])
  }, 60_000)
})
