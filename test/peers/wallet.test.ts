/** Kept credentials and logins in real browsers: after a reload, in a second tab, and after a logout of everything. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useChromium } from './chromium.ts'
import { useFirefox } from './firefox.ts'
import { startTabSite, type TabSite } from './live-tabs-site.ts'
import type { WalletPage } from './wallet-in-page.ts'
import { useWebKit } from './webkit.ts'

declare const walletPage: WalletPage

let site: TabSite

beforeAll(async () => {
  site = await startTabSite('test/peers/wallet-in-page.ts')
}, 60_000)
afterAll(() => site.close())

async function open(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(site.url)
  return page
}
const newContext = (browser: Browser) => browser.newContext({ viewport: null })
const reload = async (page: Page) => {
  await page.reload()
  return page
}

describe.each([
  ['Chromium', useChromium({ whole: true })],
  ['Firefox', useFirefox()],
] as const)('a page in %s', (_name, browser) => {
  it('has a login of the user again after a reload, and in a second tab', async () => {
    const context = await newContext(browser())
    const page = await open(context)
    expect(await page.evaluate(() => walletPage.addLogin())).toBe('portal')
    expect(await page.evaluate(() => walletPage.read('portal'))).toBe('LOGIN_REQUIRED')
    expect(await page.evaluate(() => walletPage.needs())).toEqual(['portal LOGIN_REQUIRED'])
    await page.evaluate(() => walletPage.login())
    for (const other of [await reload(page), await open(context)])
      expect([await other.evaluate(() => walletPage.ids()), await other.evaluate(() => walletPage.read('portal'))]).toEqual([
        ['portal'],
        'file',
      ])
  }, 60_000)

  it('keeps a typed key only where the user asked for it', async () => {
    const page = await open(await newContext(browser()))
    await page.evaluate(() => walletPage.addKey('right-key', false))
    expect(await page.evaluate(() => walletPage.read('key'))).toBe('file')
    expect(await page.evaluate(() => walletPage.kept())).not.toContain('right-key')
    await reload(page)
    expect(await page.evaluate(() => walletPage.read('key'))).toBe('NO_CREDENTIAL')
    await page.evaluate(() => walletPage.addKey('right-key', true))
    await reload(page)
    expect(await page.evaluate(() => walletPage.read('key'))).toBe('file')
  }, 60_000)

  it('sends a kept key no more once another one, which is not kept, was typed in another tab', async () => {
    const context = await newContext(browser())
    const [one, two] = [await open(context), await open(context)]
    await one.evaluate(() => walletPage.addKey('right-key', true))
    await expect.poll(() => two.evaluate(() => walletPage.ids())).toEqual(['key'])
    expect(await one.evaluate(() => walletPage.changeKey('another-key'))).toBeUndefined()
    await expect.poll(() => two.evaluate(() => walletPage.ids())).toEqual([])
    expect(await two.evaluate(() => walletPage.read('key'))).toBe('NO_CREDENTIAL')
    expect(await one.evaluate(() => walletPage.read('key'))).toBe('AUTH_REJECTED')
  }, 60_000)

  it('leaves nothing to the next user after a logout of everything in another tab', async () => {
    const context = await newContext(browser())
    const [one, two] = [await open(context), await open(context)]
    await one.evaluate(() => walletPage.addLogin())
    await one.evaluate(() => walletPage.addKey('right-key', true))
    await one.evaluate(() => walletPage.login())
    await expect.poll(() => two.evaluate(() => walletPage.ids())).toEqual(['portal', 'key'])
    expect(await two.evaluate(() => walletPage.read('portal'))).toBe('file')
    const [before, valid] = [site.sent(), site.valid()]
    expect(await two.evaluate(() => walletPage.logoutAll())).toBeUndefined()
    await expect.poll(() => one.evaluate(() => walletPage.ids())).toEqual(['portal'])
    for (const page of [one, two, await open(context)]) {
      expect(await page.evaluate(() => walletPage.read('portal'))).toBe('LOGIN_REQUIRED')
      expect(await page.evaluate(() => walletPage.read('key'))).toBe('NO_CREDENTIAL')
    }
    expect([site.sent(), site.valid()]).toEqual([before, valid - 1])
    expect(await one.evaluate(() => walletPage.kept())).not.toMatch(/right-key|token-/)
  }, 60_000)

  it('finishes a logout of everything during which a tab was closed', async () => {
    const context = await newContext(browser())
    const page = await open(context)
    await page.evaluate(() => walletPage.addKey('right-key', true))
    await page.evaluate(() => walletPage.addLogin())
    await page.evaluate(() => walletPage.login())
    site.slowDown(true)
    await page.evaluate(() => void walletPage.logoutAll())
    // The provider is being asked; the key is still there.
    await expect.poll(() => page.evaluate(() => walletPage.kept())).not.toContain('token-')
    expect(await page.evaluate(() => walletPage.kept())).toContain('right-key')
    await page.close()
    site.slowDown(false)
    const next = await open(context)
    expect(await next.evaluate(() => walletPage.read('portal'))).toBe('LOGIN_REQUIRED')
    expect(await next.evaluate(() => walletPage.kept())).not.toMatch(/right-key|token-/)
  }, 60_000)

  it('shows no answer of a user from the cache after the logout, and no public one after the login', async () => {
    const page = await open(await newContext(browser()))
    const read = () => page.evaluate(() => walletPage.read('portal', 'public'))
    await page.evaluate(() => walletPage.addLogin())
    expect(await read()).toBe('public')
    await page.evaluate(() => walletPage.login())
    expect(await read()).toBe('more')
    await page.evaluate(() => walletPage.logoutAll())
    expect(await read()).toBe('public')
  }, 60_000)
})

describe('a page in WebKit', () => {
  const webkit = useWebKit()

  it('has a login of the user again after a reload, and ends it in all windows', async () => {
    const first = webkit()
    await first.goto(site.url)
    expect(
      await first.run("walletPage.addLogin().then(() => walletPage.addKey('right-key', true)).then(() => walletPage.login())"),
    ).toBeNull()
    await first.goto(site.url)
    expect(await first.run('walletPage.ids()')).toEqual(['key', 'portal'])
    expect(await first.run("walletPage.read('portal')")).toBe('file')
    const window = await first.open()
    const [own = ''] = (await first.windows()).filter((name) => name !== window)
    await first.choose(window)
    await first.goto(site.url)
    expect(await first.run("walletPage.read('portal')")).toBe('file')
    await first.run('walletPage.logoutAll()')
    await first.choose(own)
    expect(await first.run("walletPage.read('portal')")).toBe('LOGIN_REQUIRED')
    expect(await first.run("walletPage.read('key')")).toBe('NO_CREDENTIAL')
    expect(await first.run('walletPage.kept()')).not.toMatch(/right-key|token-/)
  }, 60_000)
})
