/** A person logs in from a page, in a real browser, at the pages of a real provider. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweringServer } from '../servers/answering-server.ts'
import type { AuthorizationServer, ServerSettings } from '../servers/authorization-server.ts'
import { useChromium } from './chromium.ts'
import { useFirefox } from './firefox.ts'
import { addressOf, agree, loggedIn, newPerson, popupOf, read, startLoginSite, startProviderFor } from './login-site.ts'

const [inChromium, inFirefox] = [useChromium({ whole: true }), useFirefox()]
let browser = inChromium
/** Tokens live for seconds. */
const PATIENTLY = { timeout: 20_000 }
let site: AnsweringServer
const open: AuthorizationServer[] = []

beforeAll(async () => {
  site = await startLoginSite()
}, 60_000)
afterAll(() => site.close())
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())))

async function provider(settings: ServerSettings = {}): Promise<AuthorizationServer> {
  const server = await startProviderFor(site, settings)
  open.push(server)
  return server
}

const grants = ({ log }: AuthorizationServer) => log.filter((line) => /^(?:granted|refused)/.test(line))

describe.each([
  ['Chromium', inChromium],
  ['Firefox', inFirefox],
] as const)('in %s', (name, own) => {
  beforeAll(() => {
    browser = own
  })

  describe('a login by popup', () => {
    it('a login by popup passes the pages of the provider, closes its window, and outlives a reload', async () => {
      const server = await provider()
      const { context, complaints } = await newPerson(browser(), site)
      const page = await context.newPage()
      await page.goto(addressOf(site, server))
      expect(await read(page, server.resource)).toMatchObject({ code: 'LOGIN_REQUIRED' })
      const popup = await popupOf(page)
      await popup.waitForURL(/\/interaction\//)
      expect(await popup.evaluate(() => opener)).toBeNull()
      const closed = popup.waitForEvent('close')
      await agree(popup)
      expect(await page.evaluate(() => app.login)).toEqual({ value: undefined })
      await closed
      expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
      expect(await page.evaluate(() => app.changes)).toEqual(['portal started'])
      await page.reload()
      expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
      expect(await page.evaluate(() => app.violations)).toEqual([])
      expect(complaints).toEqual([])
      expect(grants(server)).toEqual(['granted authorization_code'])
    }, 60_000)

    it('a login by popup is denied when the person says no, closes the window, or gives up on this page', async () => {
      const server = await provider()
      const { context } = await newPerson(browser(), site)
      const page = await context.newPage()
      await page.goto(addressOf(site, server))
      await (await popupOf(page)).click('a[href$="/abort"]')
      expect(await page.evaluate(() => app.login)).toMatchObject({ code: 'LOGIN_DENIED' })
      const second = await popupOf(page)
      await second.waitForURL(/\/interaction\//)
      await second.close()
      expect(await page.evaluate(() => app.login)).toMatchObject({ code: 'LOGIN_DENIED', message: expect.stringContaining('closed') })
      const third = await popupOf(page)
      await third.waitForURL(/\/interaction\//)
      await page.evaluate(() => app.giveUp())
      expect(await page.evaluate(() => app.login)).toMatchObject({ code: 'ABORTED' })
      // Firefox closes the window. Others do not close one that has no opener: a login in it is ignored.
      if (name === 'Firefox') await expect.poll(() => third.isClosed()).toBe(true)
      else {
        await agree(third)
        await third.waitForURL(`${site.origin}/callback.html`)
        expect(await third.evaluate(() => completed)).toBe('unclaimed')
      }
      expect(grants(server)).toEqual([])
    }, 60_000)

    it('a login by popup arrives though the pages of the provider cut the tie between the windows', async () => {
      const interfere: ServerSettings['interfere'] = (_request, response) => {
        response.setHeader('cross-origin-opener-policy', 'same-origin')
        return false
      }
      const server = await provider({ interfere })
      const { context } = await newPerson(browser(), site)
      const page = await context.newPage()
      await page.goto(addressOf(site, server, '&coop'))
      expect(await loggedIn(page)).toEqual({ value: undefined })
      expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
    }, 60_000)
  })

  describe('a login by redirect', () => {
    it('brings the user back to where they were, with a clean URL', async () => {
      const server = await provider()
      const { context, complaints } = await newPerson(browser(), site)
      const page = await context.newPage()
      const start = addressOf(site, server, '&view=map#place')
      await page.goto(start)
      await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect())])
      await agree(page)
      await page.waitForURL(start)
      expect(await page.evaluate(() => app.finished)).toEqual({ value: { credential: 'portal', returnTo: start } })
      expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
      await page.reload()
      expect(await page.evaluate(() => app.finished)).toEqual({ value: undefined })
      expect(await read(page, server.resource)).toEqual({ value: 'file of alice' })
      const { 'stac-auth:credentials': known = '', ...tokens } = await page.evaluate(
        () => ({ ...sessionStorage }) as Record<string, string>,
      )
      expect(Object.keys(tokens)).toEqual([expect.stringMatching(/^stac-auth:[0-9a-f]{64}$/)])
      // What the page said of the credential itself, and which tokens are its own.
      const { issuer } = server
      const credential = { id: 'portal', type: 'openIdConnect', issuer, clientId: 'page', flow: 'authorizationCode' }
      expect(JSON.parse(known).entries).toEqual([
        { by: 'page', sessions: [expect.any(String)], credential: { ...credential, scopes: expect.any(Array), sendTo: [`${issuer}/`] } },
      ])
      expect(complaints).toEqual([])
    }, 60_000)

    it('reports the page where the person said no', async () => {
      const server = await provider()
      const page = await (await newPerson(browser(), site)).context.newPage()
      await page.goto(addressOf(site, server))
      await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect())])
      await page.click('a[href$="/abort"]')
      await page.waitForURL(addressOf(site, server))
      expect(await page.evaluate(() => app.finished)).toMatchObject({ code: 'LOGIN_DENIED' })
    }, 60_000)
  })

  describe('a session', () => {
    it('a session is refreshed when its token ends', async () => {
      const server = await provider({ life: 2 })
      const page = await (await newPerson(browser(), site)).context.newPage()
      await page.goto(addressOf(site, server))
      await loggedIn(page)
      await expect
        .poll(async () => [await read(page, server.resource), grants(server).includes('granted refresh_token')], PATIENTLY)
        .toEqual([{ value: 'file of alice' }, true])
      expect(await page.evaluate(() => app.changes)).toContain('portal refreshed')
      expect(grants(server).filter((line) => line.startsWith('refused'))).toEqual([])
    }, 60_000)

    it('a session without a refresh token ends with its token, which is reported', async () => {
      const server = await provider({ life: 2 })
      const page = await (await newPerson(browser(), site)).context.newPage()
      await page.goto(addressOf(site, server, '&short'))
      await loggedIn(page)
      await expect.poll(() => read(page, server.resource), PATIENTLY).toMatchObject({ code: 'LOGIN_REQUIRED' })
    }, 60_000)

    it('a session of two tabs is refreshed once', async () => {
      const server = await provider()
      const { context } = await newPerson(browser(), site)
      const [one, two] = [await context.newPage(), await context.newPage()]
      await one.goto(addressOf(site, server, '&shared'))
      await loggedIn(one)
      await two.goto(addressOf(site, server, '&shared'))
      await Promise.all([read(one, server.resource), read(two, server.resource)])
      server.refuseShown()
      const files = await Promise.all([read(one, server.resource), read(two, server.resource)])
      expect(files).toEqual([{ value: 'file of alice' }, { value: 'file of alice' }])
      expect(grants(server)).toEqual(['granted authorization_code', 'granted refresh_token'])
    }, 60_000)

    it('a session at one provider is none at another one, and all end together', async () => {
      const [server, other] = [await provider(), await provider()]
      const page = await (await newPerson(browser(), site)).context.newPage()
      await page.goto(addressOf(site, server, `&other=${encodeURIComponent(other.issuer)}`))
      await loggedIn(page)
      expect(await read(page, other.resource)).toMatchObject({ code: 'LOGIN_REQUIRED' })
      await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect('other'))])
      // Cookies know no ports: this provider remembers who it is, and only asks whether it may.
      await page.click('button[type=submit]')
      await page.waitForURL(/issuer=/)
      expect(await page.evaluate(() => app.finished)).toMatchObject({ value: { credential: 'other' } })
      expect(await Promise.all([server, other].map(({ resource }) => read(page, resource)))).toEqual(
        Array(2).fill({ value: 'file of alice' }),
      )
      expect(await page.evaluate(() => app.logoutAll())).toEqual({ value: undefined })
      expect([server, other].map(({ log }) => log.filter((line) => line === 'POST /token/revocation').length)).toEqual([2, 2])
      const { 'stac-auth:credentials': known = '', ...tokens } = await page.evaluate(
        () => ({ ...sessionStorage }) as Record<string, string>,
      )
      expect(tokens).toEqual({})
      expect(JSON.parse(known).entries.map(({ by }: { readonly by: string }) => by)).toEqual(['page', 'page'])
    }, 60_000)

    it('ends at the provider too, if asked to', async () => {
      const server = await provider()
      const page = await (await newPerson(browser(), site)).context.newPage()
      await page.goto(addressOf(site, server))
      await loggedIn(page)
      await Promise.all([page.waitForURL(/\/session\/end/), page.evaluate(() => void app.logout(true))])
      await page.click('button[value=yes]')
      await page.waitForURL(`${site.origin}/bye.html`)
      await page.goto(addressOf(site, server))
      expect(await read(page, server.resource)).toMatchObject({ code: 'LOGIN_REQUIRED' })
      await Promise.all([page.waitForURL(/\/interaction\//), page.evaluate(() => void app.redirect())])
      expect(await page.locator('input[name=login]').count()).toBe(1)
    }, 60_000)
  })
})
