/** Two tabs of a page in real browsers: what one of them logs out of or removes, the other sends no more. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useChromium } from './chromium.ts'
import { useFirefox } from './firefox.ts'
import { type App, startTabSite, type TabSite } from './live-tabs-site.ts'

declare const app: App

let site: TabSite

beforeAll(async () => {
  site = await startTabSite()
}, 60_000)
afterAll(() => site.close())

async function twoTabs(browser: Browser): Promise<readonly [Page, Page]> {
  const context = await browser.newContext({ viewport: null })
  const open = async () => {
    const page = await context.newPage()
    await page.goto(site.url)
    return page
  }
  return [await open(), await open()]
}

const read = (page: Page, ref: string) => page.evaluate((wanted) => app.read(wanted), ref)
const heard = (page: Page, kind: string) =>
  page.waitForFunction((expected) => app.changes.some((change) => change.kind === expected && change.tab === 'other'), kind)

describe.each([
  ['Chromium', useChromium({ whole: true })],
  ['Firefox', useFirefox()],
] as const)('two tabs in %s', (_name, browser) => {
  it('share a new login, and neither sends the token after a logout in one of them', async () => {
    const [one, two] = await twoTabs(browser())
    expect(await read(two, 'portal')).toBe('LOGIN_REQUIRED')
    expect(await one.evaluate(() => app.login())).toBeUndefined()
    await heard(two, 'login')
    expect([await read(one, 'portal'), await read(two, 'portal')]).toEqual(['file', 'file'])
    const before = site.sent()
    expect(before).toBeGreaterThanOrEqual(2)
    expect(await one.evaluate(() => app.logout())).toBeUndefined()
    await heard(two, 'logout')
    expect([await read(one, 'portal'), await read(two, 'portal')]).toEqual(['LOGIN_REQUIRED', 'LOGIN_REQUIRED'])
    expect(site.sent()).toBe(before)
  }, 60_000)

  it('both lose a key that is removed in one of them', async () => {
    const [one, two] = await twoTabs(browser())
    expect([await read(one, 'key'), await read(two, 'key')]).toEqual(['file', 'file'])
    const before = site.sent()
    expect(before).toBeGreaterThanOrEqual(2)
    await two.evaluate(() => app.remove('key'))
    await heard(one, 'removed')
    expect([await read(one, 'key'), await read(two, 'key')]).toEqual(['NO_CREDENTIAL', 'NO_CREDENTIAL'])
    expect(site.sent()).toBe(before)
  }, 60_000)
})
