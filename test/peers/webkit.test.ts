/** Pages in WebKitGTK: two tabs, logins by popup and redirect, and a service worker. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweringServer } from '../servers/answering-server.ts'
import type { AuthorizationServer, ServerSettings } from '../servers/authorization-server.ts'
import { bearerGuard } from '../servers/guards.ts'
import { startTabSite, type TabSite } from './live-tabs-site.ts'
import { addressOf, startLoginSite, startProviderFor } from './login-site.ts'
import { scriptOf } from './page-script.ts'
import { png, startHoldings, startSite } from './page-server.ts'
import { useWebKit, type WebKit } from './webkit.ts'

const browser = useWebKit()
const PATIENTLY = { timeout: 15_000 }

/** Closes all windows but one, and chooses that. */
async function oneWindow(webkit: WebKit): Promise<string> {
  const [first = '', ...others] = await webkit.windows()
  for (const other of others) {
    await webkit.choose(other)
    await webkit.close()
  }
  await webkit.choose(first)
  return first
}

describe('two tabs in WebKit', () => {
  let site: TabSite
  beforeAll(async () => {
    site = await startTabSite()
  }, 60_000)
  afterAll(() => site.close())

  async function twoTabs() {
    const one = await oneWindow(browser())
    const two = await browser().open()
    const inTab = async <T>(window: string, expression: string): Promise<T> => {
      await browser().choose(window)
      return browser().run<T>(expression)
    }
    for (const window of [one, two]) {
      await browser().choose(window)
      await browser().goto(site.url)
    }
    const heard = (window: string, kind: string) =>
      expect.poll(() => inTab(window, `app.changes.some(({ kind, tab }) => kind === '${kind}' && tab === 'other')`), PATIENTLY).toBe(true)
    return { one, two, inTab, heard }
  }

  it('share a new login, and neither sends the token after a logout in one of them', async () => {
    const { one, two, inTab, heard } = await twoTabs()
    expect(await inTab(two, `app.read('portal')`)).toBe('LOGIN_REQUIRED')
    await inTab(one, 'app.login()')
    await heard(two, 'login')
    expect([await inTab(one, `app.read('portal')`), await inTab(two, `app.read('portal')`)]).toEqual(['file', 'file'])
    const before = site.sent()
    expect(before).toBeGreaterThanOrEqual(2)
    await inTab(one, 'app.logout()')
    await heard(two, 'logout')
    const after = [await inTab(one, `app.read('portal')`), await inTab(two, `app.read('portal')`)]
    expect([after, site.sent()]).toEqual([['LOGIN_REQUIRED', 'LOGIN_REQUIRED'], before])
  }, 60_000)

  it('both lose a key that is removed in one of them', async () => {
    const { one, two, inTab, heard } = await twoTabs()
    expect([await inTab(one, `app.read('key')`), await inTab(two, `app.read('key')`)]).toEqual(['file', 'file'])
    const before = site.sent()
    await inTab(two, `app.remove('key')`)
    await heard(one, 'removed')
    const after = [await inTab(one, `app.read('key')`), await inTab(two, `app.read('key')`)]
    expect([after, site.sent()]).toEqual([['NO_CREDENTIAL', 'NO_CREDENTIAL'], before])
  }, 60_000)
})

describe('a login in WebKit', () => {
  let site: AnsweringServer
  const open: AuthorizationServer[] = []
  beforeAll(async () => {
    site = await startLoginSite()
  }, 60_000)
  afterAll(async () => {
    await Promise.all([site.close(), ...open.map((server) => server.close())])
  })

  async function provider(settings: ServerSettings = {}): Promise<AuthorizationServer> {
    const server = await startProviderFor(site, settings)
    open.push(server)
    return server
  }

  /** Logs in, where the provider does not remember that, and consents in the chosen window. */
  async function agree(): Promise<void> {
    const has = (selector: string) =>
      browser()
        .run<boolean>(`document.querySelector('${selector}') !== null`)
        .catch(() => false)
    await expect.poll(() => has('button[type=submit]'), PATIENTLY).toBe(true)
    if (await has('input[name=login]')) {
      await browser().type('input[name=login]', 'alice')
      await browser().type('input[name=password]', 'any')
      await browser().click('button[type=submit]')
      await expect.poll(async () => (await has('button[type=submit]')) && !(await has('input[name=login]')), PATIENTLY).toBe(true)
    }
    await browser().click('button[type=submit]')
  }

  const policies = [undefined, 'same-origin-allow-popups'] as const
  it.each(policies)(
    'by popup reaches the page (Cross-Origin-Opener-Policy of the page: %s)',
    async (policy) => {
      const server = await provider()
      const main = await oneWindow(browser())
      await browser().goto(addressOf(site, server, policy === undefined ? '' : `&policy=${policy}`))
      await browser().click('#app')
      await expect.poll(async () => (await browser().windows()).length, PATIENTLY).toBe(2)
      const popup = (await browser().windows()).find((window) => window !== main) ?? ''
      await browser().choose(popup)
      // A window that the page takes for closed would have ended the login by now.
      await new Promise((resolve) => setTimeout(resolve, 2000))
      await agree()
      await browser().choose(main)
      expect(await browser().run('app.login')).toEqual({ value: null })
      expect(await browser().run(`app.read('${server.resource}')`)).toEqual({ value: 'file of alice' })
      // The browser looks for an icon by itself.
      expect(await browser().run(`app.violations.filter((text) => !text.endsWith('/favicon.ico'))`)).toEqual([])
    },
    60_000,
  )

  it('by redirect comes back to the page', async () => {
    const server = await provider()
    await oneWindow(browser())
    const address = addressOf(site, server)
    await browser().goto(address)
    await browser()
      .run('void app.redirect()')
      .catch(() => undefined)
    await agree()
    await expect.poll(() => browser().url(), PATIENTLY).toBe(address)
    expect(await browser().run('app.finished')).toEqual({ value: { credential: 'portal', returnTo: address } })
    expect(await browser().run(`app.read('${server.resource}')`)).toEqual({ value: 'file of alice' })
  }, 60_000)
})

describe('a service worker in WebKit', () => {
  let site: AnsweringServer
  let archive: AnsweringServer
  let stranger: AnsweringServer
  beforeAll(async () => {
    const files = { '/a.png': { type: 'image/png', body: png(16) }, '/tile': { type: 'image/png', body: png(8) } }
    site = await startSite(
      {
        '/': { type: 'text/html', body: '<!doctype html><meta charset="utf-8"><title>page</title>' },
        '/worker.js': { type: 'text/javascript', body: await scriptOf('examples/adapters/service-worker.ts') },
      },
      (path) => (path === '/session/token' ? { status: 200, body: 'right' } : { status: 405 }),
    )
    stranger = await startHoldings({ files })
    archive = await startHoldings({
      files,
      guard: bearerGuard((text) => text === 'right'),
      moved: stranger.origin,
      allows: { origin: site.origin, headers: 'authorization, range' },
    })
  }, 60_000)
  afterAll(() => Promise.all([site.close(), archive.close(), stranger.close()]))

  const picture = (src: string) => `new Promise((resolve) => {
    const image = new Image()
    image.onload = () => resolve(image.naturalWidth)
    image.onerror = () => resolve(0)
    image.src = '${src}'
  })`

  it('opens pictures and what scripts request, and sends nothing to other hosts', async () => {
    await oneWindow(browser())
    await browser().goto(`${site.origin}/`)
    const worker = `/worker.js?archive=${encodeURIComponent(`${archive.origin}/`)}`
    await browser().run(`navigator.serviceWorker.register('${worker}').then(() => navigator.serviceWorker.ready).then(() => 1)`)
    await browser().goto(`${site.origin}/`)
    await expect.poll(() => browser().run('navigator.serviceWorker.controller !== null'), PATIENTLY).toBe(true)
    expect(await browser().run(picture(`${archive.origin}/a.png`))).toBe(16)
    expect(await browser().run(`fetch('${archive.origin}/tiles/0/0/0').then(({ status }) => status)`)).toBe(200)
    expect(await browser().run(picture(`${stranger.origin}/a.png`))).toBe(16)
    await browser().run(picture(`${archive.origin}/moved/0/0/0`))
    expect(stranger.exchanges.length).toBeGreaterThan(0)
    expect(stranger.exchanges.filter(({ request }) => request.headers.authorization !== undefined)).toEqual([])
  }, 60_000)
})
