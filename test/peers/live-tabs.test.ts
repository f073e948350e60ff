/** Two tabs of a page in real browsers: what one of them logs out of or removes, the other sends no more. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnsweringServer, jsonAnswer, startAnswering } from '../servers/answering-server.ts'
import { crossOrigin } from '../servers/cross-origin.ts'
import { useChromium } from './chromium.ts'
import { useFirefox } from './firefox.ts'
import { scriptOf } from './page-script.ts'
import { startSite } from './page-server.ts'

interface App {
  readonly changes: readonly { readonly kind: string; readonly credential: string; readonly tab: string }[]
  read(ref: string): Promise<unknown>
  login(): Promise<unknown>
  logout(): Promise<unknown>
  remove(id: string): Promise<unknown>
}
declare const app: App

let site: AnsweringServer
let provider: AnsweringServer
let data: AnsweringServer
/** Tokens that the provider gave and has not revoked. */
const good = new Set<string>()

beforeAll(async () => {
  const html = '<!doctype html><meta charset="utf-8"><title>page</title><script src="/app.js"></script>'
  site = await startSite(
    {
      '/': { type: 'text/html', body: html },
      '/app.js': { type: 'text/javascript', body: await scriptOf('test/peers/live-tabs-in-page.ts') },
    },
    () => ({ status: 405 }),
  )
  const allows = { origin: site.origin, headers: 'authorization, content-type, x-api-key' }
  let issued = 0
  provider = await startAnswering(
    crossOrigin(({ path, body }) => {
      if (path !== '/token' || new URLSearchParams(body).get('code') !== 'c') return { status: 400 }
      const token = `token-${++issued}`
      good.add(token)
      return jsonAnswer(200, { access_token: token, token_type: 'Bearer', expires_in: 600 })
    }, allows),
  )
  data = await startAnswering(
    crossOrigin(({ path, headers }) => {
      const isRight = path === '/key' ? headers['x-api-key'] === 'right-key' : good.has(headers.authorization?.slice(7) ?? '')
      return isRight ? { status: 200, body: 'file' } : { status: 401 }
    }, allows),
  )
}, 60_000)
afterAll(() => Promise.all([site.close(), provider.close(), data.close()]))

/** Requests for data that had a token or a key. */
const sent = () => data.exchanges.filter(({ request: { headers } }) => (headers.authorization ?? headers['x-api-key']) !== undefined).length

async function twoTabs(browser: Browser): Promise<readonly [Page, Page]> {
  const context = await browser.newContext({ viewport: null })
  const open = async () => {
    const page = await context.newPage()
    await page.goto(`${site.origin}/?data=${encodeURIComponent(data.origin)}&provider=${encodeURIComponent(provider.origin)}`)
    return page
  }
  return [await open(), await open()]
}

const read = (page: Page, ref: string) => page.evaluate((ref) => app.read(ref), ref)
const heard = (page: Page, kind: string) =>
  page.waitForFunction((kind) => app.changes.some((change) => change.kind === kind && change.tab === 'other'), kind)

describe.each([
  ['Chromium', useChromium()],
  ['Firefox', useFirefox()],
] as const)('two tabs in %s', (_name, browser) => {
  it('share a new login, and neither sends the token after a logout in one of them', async () => {
    const [one, two] = await twoTabs(browser())
    expect(await read(two, 'portal')).toBe('LOGIN_REQUIRED')
    expect(await one.evaluate(() => app.login())).toBeUndefined()
    await heard(two, 'login')
    expect([await read(one, 'portal'), await read(two, 'portal')]).toEqual(['file', 'file'])
    const before = sent()
    expect(before).toBeGreaterThanOrEqual(2)
    expect(await one.evaluate(() => app.logout())).toBeUndefined()
    await heard(two, 'logout')
    expect([await read(one, 'portal'), await read(two, 'portal')]).toEqual(['LOGIN_REQUIRED', 'LOGIN_REQUIRED'])
    expect(sent()).toBe(before)
  }, 60_000)

  it('both lose a key that is removed in one of them', async () => {
    const [one, two] = await twoTabs(browser())
    expect([await read(one, 'key'), await read(two, 'key')]).toEqual(['file', 'file'])
    const before = sent()
    expect(before).toBeGreaterThanOrEqual(2)
    await two.evaluate(() => app.remove('key'))
    await heard(one, 'removed')
    expect([await read(one, 'key'), await read(two, 'key')]).toEqual(['NO_CREDENTIAL', 'NO_CREDENTIAL'])
    expect(sent()).toBe(before)
  }, 60_000)
})
