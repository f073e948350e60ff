/** Workers of a page in Chromium that share its store: they have what is kept, and lose it with a logout of everything in the page. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useChromium } from './chromium.ts'
import { startTabSite, type TabSite } from './live-tabs-site.ts'
import type { WalletPage } from './wallet-in-page.ts'

declare const walletPage: WalletPage

const browser = useChromium({ whole: true })
let site: TabSite
let data: string

beforeAll(async () => {
  const workers = { '/service-worker.js': 'examples/adapters/service-worker-store.ts', '/worker.js': 'examples/adapters/worker.ts' }
  site = await startTabSite('test/peers/wallet-in-page.ts', workers)
  data = new URL(site.url).searchParams.get('data') ?? ''
}, 60_000)
afterAll(() => site.close())

async function openPage(): Promise<Page> {
  const page = await (await browser().newContext({ viewport: null })).newPage()
  await page.goto(site.url)
  return page
}

/** A page that a service worker watches over. */
async function watchedPage(): Promise<Page> {
  const page = await openPage()
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/service-worker.js')
    await navigator.serviceWorker.ready
  })
  await page.reload()
  await page.waitForFunction('navigator.serviceWorker.controller !== null')
  return page
}

async function addAll(page: Page): Promise<void> {
  await page.evaluate(() => walletPage.addLogin())
  await page.evaluate(() => walletPage.addKey('right-key', true))
  await page.evaluate(() => walletPage.login())
}

describe('a service worker with the store of its page', () => {
  /** What a script of the page gets that knows nothing of credentials. */
  const plain = (page: Page, path: string) =>
    page.evaluate(
      (url) => fetch(url).then(async (response) => (response.ok ? response.text() : response.status), String),
      `${data}/${path}`,
    )
  const stop = async (page: Page) => {
    const session = await page.context().newCDPSession(page)
    await session.send('ServiceWorker.enable')
    await session.send('ServiceWorker.stopAllWorkers')
  }

  it('sends the login and the kept key of the page, and neither after a logout of everything', async () => {
    const page = await watchedPage()
    expect([await plain(page, 'public'), await plain(page, 'portal')]).toEqual(['public', 401])
    await addAll(page)
    await expect.poll(() => plain(page, 'key')).toBe('file')
    expect([await plain(page, 'portal'), await plain(page, 'public')]).toEqual(['file', 'more'])
    expect(await page.evaluate(() => walletPage.logoutAll())).toBeUndefined()
    const before = site.sent()
    expect([await plain(page, 'key'), await plain(page, 'portal')]).toEqual([401, 401])
    expect([await plain(page, 'public'), site.sent()]).toEqual(['public', before])
  }, 60_000)

  it('has both again after the browser stopped it, unless the page logged out meanwhile', async () => {
    const page = await watchedPage()
    await addAll(page)
    await stop(page)
    expect([await plain(page, 'key'), await plain(page, 'portal')]).toEqual(['file', 'file'])
    await stop(page)
    await page.evaluate(() => walletPage.logoutAll())
    const before = site.sent()
    expect([await plain(page, 'key'), await plain(page, 'portal')]).toEqual([401, 401])
    expect(site.sent()).toBe(before)
  }, 60_000)

  it('does not send a key that is not kept', async () => {
    const page = await watchedPage()
    await page.evaluate(() => walletPage.addKey('right-key', false))
    expect(await page.evaluate(() => walletPage.read('key'))).toBe('file')
    expect(await plain(page, 'key')).toBe(401)
  }, 60_000)
})

describe('a film', () => {
  it('is shown by the parts that its service worker requests, without one as a whole, and not after a logout', async () => {
    const [whole, parts] = [await openPage(), await watchedPage()]
    for (const [page, status] of [
      [whole, 200],
      [parts, 206],
    ] as const) {
      await page.evaluate(() => walletPage.addLogin())
      await page.evaluate(() => walletPage.login())
      const before = site.films().length
      expect(await page.evaluate(() => walletPage.film())).toBe(30)
      expect(new Set(site.films().slice(before))).toEqual(new Set([status]))
      await page.evaluate(() => walletPage.logoutAll())
      const sent = site.sent()
      // Browsers keep what an element has shown in the memory of the page.
      await page.reload()
      expect([await page.evaluate(() => walletPage.film()), site.sent()]).toEqual(['LOGIN_REQUIRED', sent])
    }
  }, 60_000)
})

describe('workers of a pool with the store of their page', () => {
  /** Lets each of two workers request a file, also as soon as the page has logged out: its text, or the code of an error. */
  const ask = (page: Page, path: string, { credential, afterLogout = false }: { credential?: object; afterLogout?: boolean } = {}) =>
    page.evaluate(
      async ({ url, credential: own, afterLogout: ends }) => {
        const pool = ((globalThis as { pool?: readonly Worker[] }).pool ??= [new Worker('/worker.js'), new Worker('/worker.js')])
        if (ends) await walletPage.logoutAll()
        const answers = pool.map(
          (worker) =>
            new Promise<string>((resolve) => {
              worker.onmessage = ({ data: { bytes, code } }) => resolve(code ?? new TextDecoder().decode(bytes))
              worker.postMessage({ url, credential: own })
            }),
        )
        return Promise.all(answers)
      },
      { url: `${data}/${path}`, credential, afterLogout },
    )
  const key = () => ({ id: 'key', type: 'apiKey', in: 'header', name: 'x-api-key', value: 'right-key', sendTo: [`${data}/key`] })
  /** The archive of the test is on loopback, where only credentials allow requests. */
  const NEITHER = ['URL_ADDRESS_FORBIDDEN', 'URL_ADDRESS_FORBIDDEN']
  const LOGIN = ['LOGIN_REQUIRED', 'LOGIN_REQUIRED']

  it('send the login and the kept key of the page, and neither after a logout of everything', async () => {
    const page = await openPage()
    expect(await ask(page, 'key')).toEqual(NEITHER)
    await addAll(page)
    await expect.poll(() => ask(page, 'key')).toEqual(['file', 'file'])
    expect(await ask(page, 'portal')).toEqual(['file', 'file'])
    const before = site.sent()
    expect([await ask(page, 'key', { afterLogout: true }), await ask(page, 'portal')]).toEqual([LOGIN, LOGIN])
    expect(site.sent()).toBe(before)
  }, 60_000)

  it('send a key that the page posts to them until a logout of everything, and keep it nowhere', async () => {
    const page = await openPage()
    await page.evaluate(() => walletPage.addKey('right-key', false))
    expect(await ask(page, 'key')).toEqual(NEITHER)
    expect(await ask(page, 'key', { credential: key() })).toEqual(['file', 'file'])
    expect(await ask(page, 'key')).toEqual(['file', 'file'])
    expect(await page.evaluate(() => walletPage.kept())).not.toContain('right-key')
    const before = site.sent()
    expect(await ask(page, 'key', { afterLogout: true })).toEqual(NEITHER)
    expect(site.sent()).toBe(before)
  }, 60_000)
})
