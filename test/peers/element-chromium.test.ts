/** `<stac-auth>` in a real browser: every state, the keyboard, logins, and documents of strangers. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnsweringServer } from '../servers/answering-server.ts'
import type { AuthorizationServer } from '../servers/authorization-server.ts'
import { useChromium } from './chromium.ts'
import type { Settings } from './element-in-page.ts'
import { itemOf, openPage, show, startElementSite, violations } from './element-page.ts'
import { agree, startProviderFor } from './login-site.ts'

const browser = useChromium()
let site: AnsweringServer
let provider: AuthorizationServer

beforeAll(async () => {
  site = await startElementSite()
  provider = await startProviderFor(site, { claims: { name: 'Ada <b>Lovelace</b>' } })
}, 60_000)
afterAll(() => Promise.all([site.close(), provider.close()]))

const KEY = { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Ask for a **key** at [our desk](https://help.example/).' }
const LOGIN = { type: 'openIdConnect', openIdConnectUrl: 'https://login.catalog.example/.well-known/openid-configuration' }
const key = (...sendTo: readonly string[]) => ({
  id: 'portal-key',
  type: 'apiKey',
  in: 'header',
  name: 'x-api-key',
  value: 'typed',
  sendTo,
})
const login = { id: 'portal', type: 'openIdConnect', issuer: 'https://login.catalog.example/', clientId: 'c' }
const DATA = 'https://data.catalog.example/'

/** Settings of each state, and what is pressed to get there. */
const STATES: Readonly<Record<string, { readonly settings: Settings; readonly press?: readonly string[]; readonly type?: string }>> = {
  'nothing needed': { settings: { document: itemOf({}, { a: [`${DATA}a`] }) } },
  needed: { settings: { document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'], b: ['https://other.example/b', 'key'] }) } },
  choice: { settings: { document: itemOf({ key: KEY, login: LOGIN }, { a: [`${DATA}a`, 'key', 'login'] }) } },
  form: { settings: { document: itemOf({ s3: { type: 's3' } }, { a: ['s3://bucket/a', 's3'] }) }, press: ['Enter it'] },
  consent: {
    settings: { document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'], b: ['https://tiles.catalog.example/b', 'key'] }) },
    press: ['Enter it', 'Continue'],
    type: 'secret',
  },
  ready: { settings: { document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] }), credentials: [key(DATA)] } },
  'another host': {
    settings: {
      document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'], b: ['https://more.example/b', 'key'] }),
      credentials: [key(DATA)],
    },
    press: ['Allow further hosts…'],
  },
  login: { settings: { document: itemOf({ login: LOGIN }, { a: [`${DATA}a`, 'login'] }), credentials: [{ ...login, sendTo: [DATA] }] } },
  unsupported: {
    settings: {
      document: itemOf(
        { cookie: { type: 'apiKey', in: 'cookie', name: 'sid' }, odd: { type: 'odd' } },
        {
          a: [`${DATA}a`, 'cookie'],
          b: [`${DATA}b`, 'odd'],
          c: [`${DATA}c`, 'none'],
        },
      ),
    },
  },
  German: { settings: { document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] }), properties: { locale: 'de-AT' } } },
}

describe('on a phone, a tablet and a desk, in light and dark colours', () => {
  it('no state breaks a rule of axe or is cut off', async () => {
    const { page, complaints } = await openPage(browser(), site)
    for (const { settings, press = [], type } of Object.values(STATES)) {
      expect(await show(page, { ...settings, beside: true })).not.toBe('failed')
      const element = page.locator('stac-auth').last()
      for (const name of press) {
        if (name === 'Continue' && type !== undefined) await element.locator('input').fill(type)
        await element.getByRole('button', { name }).click()
      }
    }
    expect(await violations(page)).toEqual([])
    expect(complaints).toEqual([])
  }, 60_000)

  it('axe finds what is hidden in the shadow tree', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, STATES.needed?.settings ?? {})
    await page.evaluate(() => elementPage.element?.shadowRoot?.append(document.createElement('input')))
    expect(await violations(page)).toEqual(Array(6).fill(expect.stringContaining('label')))
    // Rules of whole pages apply, too.
    await page.evaluate(() => document.querySelector('main')?.replaceWith(elementPage.element ?? ''))
    const found = await violations(page)
    for (const rule of ['landmark-one-main', 'page-has-heading-one', 'region']) {
      expect(found.filter((one) => one.includes(`: ${rule}: `)).length, rule).toBeGreaterThanOrEqual(6)
    }
  }, 30_000)
})

const focused = (page: Page) =>
  page.evaluate(() => {
    const active = elementPage.element?.shadowRoot?.activeElement
    return active instanceof HTMLInputElement ? active.name : active?.textContent?.trim()
  })
const state = (page: Page) => page.evaluate(() => elementPage.element?.state)
const held = (page: Page) => page.evaluate(() => elementPage.auth?.credentials.list())
/** Everything in the element: its markup, and what its fields hold. */
const content = (page: Page) =>
  page.evaluate(() => {
    const root = elementPage.element?.shadowRoot
    return [root?.innerHTML, ...[...(root?.querySelectorAll('input, textarea') ?? [])].map((input) => Reflect.get(input, 'value'))].join(
      '\n',
    )
  })

describe('with the keyboard alone', () => {
  it('a key is typed, its hosts are chosen, and it is removed again', async () => {
    const { page, complaints } = await openPage(browser(), site)
    const press = (...keys: readonly string[]) =>
      keys.reduce((before, one) => before.then(() => page.keyboard.press(one)), Promise.resolve())
    await show(page, STATES.consent?.settings ?? {})
    await press('Tab')
    expect(await focused(page)).toBe('Enter it')
    await press('Enter')
    await expect.poll(() => focused(page)).toBe('value')
    await page.keyboard.type('top-secret')
    await press('Enter')
    await expect.poll(() => focused(page)).toBe('Where may it be sent?')
    expect(await content(page)).not.toContain('top-secret')
    expect(await content(page)).toContain('tiles.catalog.example')
    // Nothing is chosen beforehand.
    await press('Tab', 'Tab', 'Tab')
    expect(await focused(page)).toBe('Allow')
    await press('Enter')
    expect(await page.getByRole('alert').textContent()).toBe('Select at least one.')
    expect(await held(page)).toEqual([])
    expect(await focused(page)).toBe('place')
    await press('Space', 'Tab', 'Tab', 'Enter')
    await expect.poll(() => held(page)).toEqual([expect.objectContaining({ type: 'apiKey', sendTo: [DATA] })])
    expect(await page.evaluate(() => elementPage.headers('a'))).toMatchObject({ 'x-api-key': 'top-secret' })
    expect(await content(page)).not.toContain('top-secret')
    // The other host needs a consent of its own.
    await page.getByText('Not allowed yet').waitFor()
    await expect.poll(() => focused(page)).toContain('Key for')
    await press('Tab')
    expect(await focused(page)).toBe('Remove')
    await press('Tab')
    expect(await focused(page)).toBe('Allow further hosts…')
    await press('Enter')
    await expect.poll(() => focused(page)).toBe('Where may it be sent?')
    await press('Tab', 'Enter')
    await expect.poll(() => state(page)).toBe('ready')
    expect(await held(page)).toEqual([expect.objectContaining({ sendTo: [DATA, 'https://tiles.catalog.example/'] })])
    expect(await page.evaluate(() => elementPage.events)).toEqual(['stac-auth-needed needed', 'stac-auth-ready ready'])
    await expect.poll(() => focused(page)).toContain('Key for')
    await press('Tab')
    expect(await focused(page)).toBe('Remove')
    await press('Enter')
    await expect.poll(() => held(page)).toEqual([])
    await expect.poll(() => state(page)).toBe('needed')
    expect(complaints).toEqual([])
  }, 60_000)
})

describe('a form', () => {
  const basic = itemOf({ basic: { type: 'http', scheme: 'basic' } }, { a: [`${DATA}a`, 'basic'] })

  it('has the attributes that password managers need, and none with a value', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { document: basic })
    await page.getByRole('button', { name: 'Enter it' }).click()
    await page.getByRole('textbox', { name: 'User name' }).fill('ada')
    await page.getByRole('textbox', { name: 'Password' }).fill('hidden!')
    const inputs = await page
      .locator('stac-auth input')
      .evaluateAll((all) => all.map((one) => [one.getAttribute('type'), one.getAttribute('autocomplete'), one.getAttribute('value')]))
    expect(inputs).toEqual([
      ['text', 'username', null],
      ['password', 'current-password', null],
    ])
  }, 30_000)

  it('keeps what is typed while other credentials change, and asks anew when its hosts change', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { document: basic })
    await page.getByRole('button', { name: 'Enter it' }).click()
    await page.getByRole('textbox', { name: 'User name' }).fill('ada')
    await page.evaluate(async () => {
      const { auth } = elementPage
      await auth?.credentials.add({ id: 'other', type: 'http', scheme: 'bearer', token: 't', sendTo: ['https://x.example/'] } as never)
    })
    await page.waitForTimeout(100)
    expect(await page.getByRole('textbox', { name: 'User name' }).inputValue()).toBe('ada')
    await page.getByRole('textbox', { name: 'Password' }).fill('hidden!')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    const wider = itemOf(
      { basic: { type: 'http', scheme: 'basic' } },
      { a: [`${DATA}a`, 'basic'], b: ['https://evil.catalog.example/b', 'basic'] },
    )
    await page.evaluate((shown) => Object.assign(elementPage.element ?? {}, { document: shown }), wider)
    await page.getByRole('button', { name: 'Enter it' }).waitFor()
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0)
  }, 30_000)

  it('adds one credential when the consent is given twice', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { document: basic })
    await page.getByRole('button', { name: 'Enter it' }).click()
    await page.getByRole('textbox', { name: 'User name' }).fill('ada')
    await page.getByRole('textbox', { name: 'Password' }).fill('hidden!')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Allow' }).dblclick()
    await expect.poll(() => state(page)).toBe('ready')
    expect(await held(page)).toHaveLength(1)
    expect(await page.evaluate(() => elementPage.events)).toEqual(['stac-auth-needed needed', 'stac-auth-ready ready'])
  }, 30_000)

  it('says that a value is wrong, and does not ask for consent', async () => {
    const { page } = await openPage(browser(), site)
    const signed = {
      type: 'signedUrl',
      flows: { authorizationCode: { authorizationApi: 'https://sign.catalog.example/', method: 'POST', responseField: 'url' } },
    }
    await show(page, { document: itemOf({ signed }, { a: [`${DATA}a`, 'signed'] }) })
    await page.getByRole('button', { name: 'Enter it' }).click()
    await page.getByRole('textbox', { name: 'Hosts that signed URLs may have' }).fill('https://*.example/')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('A value is not valid.')
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate(() => elementPage.events.at(-1))).toBe('stac-auth-error CONFIG_INVALID')
    // What is no secret can be corrected.
    expect(await page.getByRole('textbox', { name: 'Hosts that signed URLs may have' }).inputValue()).toBe('https://*.example/')
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0)
  }, 30_000)
})

describe('a login', () => {
  const settings = (more: Settings = {}): Settings => ({
    document: itemOf(
      { login: { type: 'openIdConnect', openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` } },
      {
        a: [provider.resource, 'login'],
      },
    ),
    properties: { typed: [provider.issuer], url: `${site.origin}/item.json` },
    ...more,
  })
  const client = () => ({ clients: [{ issuer: provider.issuer, clientId: 'page', scopes: ['read'] }] })

  it('is consented to, made in a window, shown with its end, and ended', async () => {
    const { page, complaints } = await openPage(browser(), site)
    const { properties } = settings()
    await show(page, { ...settings(), properties: { ...properties, ...client() } })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Allow' }).click()
    const [popup] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Log in in a window' }).click(),
    ])
    await page.getByText('Continue in the other window.').waitFor()
    expect(await violations(page)).toEqual([])
    await agree(popup)
    await page.getByText(/^Logged in as Ada <b>Lovelace<\/b> with 127\.0\.0\.1.* until /).waitFor()
    expect(await state(page)).toBe('ready')
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate(async (url) => (await elementPage.auth?.fetch(url))?.text(), provider.resource)).toBe('file of alice')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'Log in in a window' }).waitFor()
    expect(await page.evaluate(() => elementPage.auth?.status())).toMatchObject([{ state: 'none' }])
    expect(complaints).toEqual([])
  }, 60_000)

  const known = () =>
    settings({
      credentials: [{ id: 'portal', type: 'openIdConnect', issuer: provider.issuer, clientId: 'page', sendTo: [`${provider.issuer}/`] }],
    })

  it('leads to the page when windows are blocked', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, known())
    await page.evaluate(() => Object.assign(globalThis, { open: () => null }))
    await page.getByRole('button', { name: 'Log in in a window' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('The browser blocked the login window.')
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate(() => elementPage.events.at(-1))).toBe('stac-auth-error POPUP_BLOCKED')
    await page.getByRole('button', { name: 'Log in on this page' }).click()
    await page.waitForURL(/\/interaction\//)
  }, 30_000)

  it('can be given up, and says when its window was closed', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, known())
    const open = page.getByRole('button', { name: 'Log in in a window' })
    await Promise.all([page.context().waitForEvent('page'), open.click()])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await open.waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    const [popup] = await Promise.all([page.context().waitForEvent('page'), open.click()])
    await popup.close()
    await page.getByText('The login was not completed').waitFor()
  }, 30_000)

  it('is waited for where a closed window cannot be told, and ended at the provider', async () => {
    const { page } = await openPage(browser(), site)
    const { properties } = settings()
    await show(page, { ...known(), properties: { ...properties, watchClosing: false, atProvider: true } })
    const open = page.getByRole('button', { name: 'Log in in a window' })
    const [closed] = await Promise.all([page.context().waitForEvent('page'), open.click()])
    await closed.waitForURL(/\/interaction\//)
    await closed.close()
    // A window that is watched counts as closed after one second.
    await page.waitForTimeout(2000)
    expect(await page.getByText('Continue in the other window.').count()).toBe(1)
    await page.getByRole('button', { name: 'Cancel' }).click()
    const [popup] = await Promise.all([page.context().waitForEvent('page'), open.click()])
    await agree(popup)
    expect(await page.evaluate(() => elementPage.element?.getAttribute('watch-closing'))).toBe('false')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.waitForURL(/\/session\/end\?/)
  }, 30_000)

  it('is not offered on a page without logins', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { ...known(), logins: false })
    await page.getByText('This page offers no logins.').waitFor()
  }, 30_000)
})

describe('a document of a stranger', () => {
  const LONG = 'W'.repeat(50_000)
  const PATH = 'W'.repeat(7000)
  const hostile = itemOf(
    {
      [`Allow\u202e<img src=x onerror=alert(1)>${LONG}`]: {
        ...KEY,
        in: 'query',
        name: 'https://bank.example/ is safe',
        description: `<script>alert(1)</script><img src=x onerror=alert(1)>![**You**](https://track.example/a.png) [_are logged in_](javascript:alert(1)) \u202e\u2066${LONG}`,
      },
      html: { type: 'http', scheme: '<b>basic</b>' },
      basic: { type: 'http', scheme: 'basic' },
    },
    {
      a: [`https://login.bank.example.${'evil-'.repeat(10)}x.test/a`, `Allow\u202e<img src=x onerror=alert(1)>${LONG}`],
      b: [`https://xn--bnk-5na.example/${PATH}`, 'basic'],
      d: ['https://data.example/d', 'html'],
      c: [`https://storage.googleapis.com/${PATH}/c`, `Allow\u202e<img src=x onerror=alert(1)>${LONG}`],
    },
  )

  it('adds no markup, hides no host, and does not freeze or widen the page', async () => {
    const { page, complaints } = await openPage(browser(), site)
    await page.setViewportSize({ width: 360, height: 800 })
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await show(page, { document: hostile })
    await page.getByRole('button', { name: 'Enter it' }).first().click()
    await page.getByRole('textbox', { name: 'Key' }).fill('k')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    expect(
      await page
        .locator('stac-auth')
        .evaluate((element) => element.shadowRoot?.querySelectorAll('script, img, a, iframe, b, style, [style]').length),
    ).toBe(0)
    expect(await page.locator('stac-auth').textContent()).toBe('')
    const text = await page.evaluate(() => elementPage.element?.shadowRoot?.textContent ?? '')
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    expect(text).toContain(`login.bank.example.${'evil-'.repeat(10)}x.test`)
    expect(text).toContain('xn--bnk-5na.example')
    expect(text.length).toBeLessThan(8000)
    // What the catalog says stands in its quotation, and nowhere else among the words of the element.
    expect(
      await page
        .locator('stac-auth')
        .getByText('You are logged in')
        .evaluateAll((all) => all.map((one) => one.closest('blockquote')?.tagName)),
    ).toEqual(['BLOCKQUOTE'])
    expect(requested).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
    expect(complaints).toEqual([])
  }, 30_000)
})

it('reads properties that were set before it was defined, and takes the texts of the page', async () => {
  const { page } = await openPage(browser(), site)
  await show(page, {
    document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] }),
    properties: { strings: { title: 'Bonjour' }, locale: 'fr' },
  })
  await page.getByRole('heading', { name: 'Bonjour' }).waitFor()
  expect(await page.locator('stac-auth [lang]').first().getAttribute('lang')).toBe('fr')
  await page.evaluate(() => elementPage.upgradeLater())
  await expect.poll(() => page.getByRole('heading', { name: 'Zugang' }).count()).toBe(1)
}, 30_000)

it('has the language of the page inside the shadow tree of another element, too', async () => {
  const { page } = await openPage(browser(), site)
  await show(page, { document: itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] }) })
  await page.evaluate(() => {
    document.documentElement.lang = 'de'
    const host = document.createElement('div')
    document.querySelector('#place')?.append(host)
    host.attachShadow({ mode: 'open' }).append(elementPage.element ?? '')
  })
  await page.getByRole('button', { name: 'Eingeben' }).waitFor()
}, 30_000)

it('forgets the URL and the parents of the document before', async () => {
  const { page } = await openPage(browser(), site)
  const parent = { type: 'Catalog', 'auth:schemes': { key: KEY } }
  const properties = { url: 'https://before.example/item.json', parents: [parent] }
  await show(page, { document: itemOf({}, { a: ['./a', 'key'] }), properties })
  await page.getByText('Key for before.example').waitFor()
  await page.evaluate(() => Object.assign(elementPage.element ?? {}, { parents: undefined }))
  await page.getByText('The catalog does not say how to authenticate.').waitFor()
  await page.evaluate((document) => Object.assign(elementPage.element ?? {}, { document, url: undefined }), {
    ...itemOf({ key: KEY }, { a: ['./a', 'key'] }),
  })
  await page.getByText('before.example').waitFor({ state: 'detached' })
  expect(await page.evaluate(() => elementPage.element?.url)).toBeUndefined()
}, 30_000)

it('a page that renders after each event, with new lists each time, gets one event for each document', async () => {
  const { page } = await openPage(browser(), site)
  for (const document of [itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] }), { type: 'Catalog' }, { code: 'NotFound' }]) {
    await show(page, { document })
    const events = await page.evaluate(async () => {
      const { element, events: seen } = elementPage
      const render = () => Object.assign(element ?? {}, { typed: [location.href], parents: [{}], clients: [], strings: {} })
      for (const name of ['ready', 'needed', 'error']) element?.addEventListener(`stac-auth-${name}`, render)
      render()
      await new Promise((resolve) => setTimeout(resolve, 300))
      return seen
    })
    expect(events).toHaveLength(1)
  }
}, 30_000)

it('takes what frameworks set where a page has no value', async () => {
  const { page } = await openPage(browser(), site)
  const document = { ...itemOf({ login: LOGIN }, { a: ['./a', 'login'] }), links: [{ rel: 'self', href: `${DATA}item.json` }] }
  const nothing = { strings: undefined, clients: undefined, typed: undefined, parents: undefined }
  for (const text of [undefined, '']) {
    const properties = { strings: { title: 'Bonjour' }, locale: 'fr', clients: [], typed: [], url: 'https://before.example/' }
    expect(await show(page, { document, properties })).toBe('needed')
    await page.evaluate((values) => Object.assign(elementPage.element ?? {}, values), { ...nothing, locale: 'fr' })
    await page.getByRole('heading', { name: 'Access' }).waitFor()
    await page.evaluate((values) => Object.assign(elementPage.element ?? {}, values), { ...nothing, locale: text, url: text })
    await page.getByText('before.example').waitFor({ state: 'detached' })
    await page
      .getByRole('button', { name: 'Enter it' })
      .or(page.getByRole('button', { name: 'Continue' }))
      .click()
    await page.getByLabel('Client id').waitFor()
    expect(await page.evaluate(() => elementPage.element?.state)).toBe('needed')
  }
}, 30_000)

it('calls only documents public, and refuses an engine whose credentials cannot change', async () => {
  const { page } = await openPage(browser(), site)
  for (const document of [{ code: 'NotFound', description: 'no such item' }, [], 'the text of a document'] as readonly object[])
    expect(await show(page, { document })).toBe('failed')
  await page.getByText('document is not a STAC document: set the parsed JSON').waitFor({ state: 'attached' })
  expect(await show(page, { document: { links: [] } })).toBe('open')
  const refused = await page.evaluate(() => {
    try {
      Object.assign(elementPage.element ?? {}, { auth: {} })
      return undefined
    } catch (error) {
      return String(error)
    }
  })
  expect(refused).toBe('TypeError: auth must be created with createLiveAuth')
}, 30_000)

it('the example of the documentation asks for a key, and reads a file with it', async () => {
  const { page, complaints } = await openPage(browser(), site)
  const seen: (string | undefined)[] = []
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'x-api-key' }
  await page.route('https://*.catalog.example/**', async (route) => {
    const request = route.request()
    const isFile = new URL(request.url()).pathname === '/a'
    if (isFile && request.method() === 'GET') seen.push(request.headers()['x-api-key'])
    const item = itemOf({ key: KEY }, { a: [`${DATA}a`, 'key'] })
    await route.fulfill({ status: 200, headers: cors, body: isFile ? 'file' : JSON.stringify(item) })
  })
  await page.goto(`${site.origin}/example`)
  await page.waitForFunction(() => Reflect.has(globalThis, 'example'))
  // A document that is not loaded yet is not called public.
  await page.getByText('Checking what is needed…').waitFor()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await page.evaluate(() => [document.querySelector('stac-auth')?.state, Reflect.has(globalThis, 'shown')])).toEqual([
    'checking',
    false,
  ])
  await page.evaluate(() => Reflect.get(globalThis, 'example').open('https://stac.catalog.example/item.json'))
  await page.getByRole('button', { name: 'Enter it' }).click()
  await page.getByRole('textbox', { name: 'Key' }).fill('sesame')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForFunction(() => Reflect.has(globalThis, 'shown'))
  const text = await page.evaluate(
    (url) =>
      Reflect.get(globalThis, 'shown')
        .auth.fetch(url)
        .then((response: Response) => response.text()),
    `${DATA}a`,
  )
  expect(text).toBe('file')
  expect(seen).toEqual(['sesame'])
  expect(complaints).toEqual([])
}, 30_000)

it('shows why a request failed, at the provider of its credential', async () => {
  const { page } = await openPage(browser(), site)
  await show(page, {
    document: itemOf({ bearer: { type: 'http', scheme: 'bearer' } }, { a: [provider.resource, 'bearer'] }),
    credentials: [{ id: 'portal', type: 'http', scheme: 'bearer', token: 'expired', sendTo: [`${provider.issuer}/`] }],
    properties: { typed: [provider.issuer] },
  })
  await page.evaluate(() => elementPage.open('a'))
  expect(await page.getByRole('listitem').getByRole('alert').textContent()).toContain('The server rejected the credential.')
  const badge = page.getByRole('listitem').locator('[part~="state"]')
  expect(await badge.textContent()).toBe('Refused')
  // Another token under the same id: what is known about the old one says nothing about it.
  await page.evaluate((sendTo) => {
    const { credentials } = Reflect.get(document.querySelector('stac-auth') ?? {}, 'auth')
    return credentials.add({ id: 'portal', type: 'http', scheme: 'bearer', token: 'fresh', sendTo: [sendTo] })
  }, `${provider.issuer}/`)
  await expect.poll(() => badge.textContent()).toBe('Ready')
  expect(await page.getByRole('alert').count()).toBe(0)
}, 30_000)
