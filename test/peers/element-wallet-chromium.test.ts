/** What `<stac-auth>` keeps and asks for again in a real browser: secrets kept on the device, refused ones, and what a page offers. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import type { AuthorizationServer } from '../servers/authorization-server.ts'
import { crossOrigin } from '../servers/cross-origin.ts'
import { useChromium } from './chromium.ts'
import { itemOf, openPage, show, startElementSite, violations } from './element-page.ts'
import { agree, startProviderFor } from './login-site.ts'

const browser = useChromium()
let site: AnsweringServer
let provider: AuthorizationServer
let data: AnsweringServer

/** `/a` is for whoever has the right key; `/open` says whether a key came. */
beforeAll(async () => {
  site = await startElementSite()
  provider = await startProviderFor(site)
  data = await startAnswering(
    crossOrigin(
      ({ path, headers }) => {
        if (path === '/open') return { status: 200, body: headers['x-api-key'] === undefined ? 'public' : 'with a key' }
        return headers['x-api-key'] === 'right-key' ? { status: 200, body: 'file' } : { status: 401 }
      },
      { origin: site.origin, headers: 'x-api-key' },
    ),
  )
}, 60_000)
afterAll(() => Promise.all([site.close(), provider.close(), data.close()]))

const keyed = () => ({
  document: itemOf(
    { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
    { a: [`${data.origin}/a`, 'key'], open: [`${data.origin}/open`, 'key'] },
  ),
  properties: { typed: [data.origin] },
  keeps: true,
})
const offering = () => ({
  offers: [{ id: 'portal', type: 'apiKey', in: 'header', name: 'x-api-key', sendTo: [`${data.origin}/`] }],
  properties: { typed: [data.origin] },
  keeps: true,
})

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const read = (page: Page, of: string) => page.evaluate((wanted) => elementPage.read(wanted), of)
const kept = (page: Page) => page.evaluate(() => elementPage.kept())
const ids = (page: Page) => page.evaluate(() => elementPage.auth?.credentials.list().map(({ id }) => id))
const badge = (page: Page) => page.locator('[part~="state"]').textContent()
const keepBox = (page: Page) => page.getByRole('checkbox', { name: 'Keep on this device' })

async function type(page: Page, key: string, keep = false): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(key)
  if (keep) await keepBox(page).check()
  await press(page, 'Continue')
}

async function enter(page: Page, key: string, keep = false): Promise<void> {
  await press(page, 'Enter it')
  await type(page, key, keep)
  await press(page, 'Allow')
  await page.getByRole('button', { name: 'Remove' }).waitFor()
}

describe('a typed key', () => {
  it('is gone after a reload, and nothing of it was stored, unless the box is ticked', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, keyed())
    await enter(page, 'right-key')
    expect(await read(page, 'a')).toBe('file')
    expect(await kept(page)).not.toContain('right-key')
    await page.reload()
    expect(await show(page, keyed())).toBe('needed')
    expect(await ids(page)).toEqual([])
  }, 30_000)

  it('is in IndexedDB with the box ticked, works after a reload, and is gone once it is removed', async () => {
    const { page, complaints } = await openPage(browser(), site)
    await show(page, keyed())
    await press(page, 'Enter it')
    expect(await keepBox(page).isChecked()).toBe(false)
    await press(page, 'Cancel')
    await enter(page, 'right-key', true)
    expect(await kept(page)).toContain('right-key')
    await page.reload()
    expect(await show(page, keyed())).toBe('ready')
    expect(await read(page, 'a')).toBe('file')
    await press(page, 'Remove')
    await page.getByRole('button', { name: 'Enter it' }).waitFor()
    expect(await kept(page)).not.toContain('right-key')
    await page.reload()
    expect(await show(page, keyed())).toBe('needed')
    expect(complaints).toEqual([])
  }, 30_000)

  it('is still to be kept after “Back”, and not after “Cancel”', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, keyed())
    await press(page, 'Enter it')
    await type(page, 'right-key', true)
    await press(page, 'Back')
    expect(await keepBox(page).isChecked()).toBe(true)
    await type(page, 'right-key')
    await press(page, 'Allow')
    await page.getByRole('button', { name: 'Remove' }).waitFor()
    expect(await kept(page)).toContain('right-key')
    await press(page, 'Remove')
    await press(page, 'Enter it')
    await keepBox(page).check()
    await press(page, 'Cancel')
    await press(page, 'Enter it')
    expect(await keepBox(page).isChecked()).toBe(false)
  }, 30_000)

  it('cannot be kept where the page keeps nothing', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, { ...keyed(), keeps: false })
    await press(page, 'Enter it')
    await page.getByLabel('Key', { exact: true }).waitFor()
    expect(await keepBox(page).count()).toBe(0)
  }, 30_000)
})

describe('a key that a server refuses', () => {
  it('is shown with the reason, and the right one that is typed again goes to the same hosts', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, keyed())
    await enter(page, 'wrong-key', true)
    expect(await read(page, 'a')).toBe('AUTH_REJECTED')
    await page.getByText('The server rejected the credential.').waitFor()
    expect(await badge(page)).toBe('Refused')
    const [known] = (await ids(page)) ?? []
    await press(page, 'Enter it again')
    await type(page, 'right-key')
    await page.getByText('Ready', { exact: true }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await read(page, 'a')).toBe('file')
    expect(await ids(page)).toEqual([known])
    // Neither the old nor the new one: the box was not ticked again.
    expect(await kept(page)).not.toMatch(/wrong-key|right-key/)
  }, 30_000)

  it('is removed by “Continue without it”, after which requests have none', async () => {
    const { page } = await openPage(browser(), site)
    await show(page, keyed())
    await enter(page, 'wrong-key')
    expect(await read(page, 'open')).toBe('with a key')
    expect(await read(page, 'a')).toBe('AUTH_REJECTED')
    await press(page, 'Continue without it')
    await page.getByText('Needed', { exact: true }).waitFor()
    expect(await ids(page)).toEqual([])
    expect(await read(page, 'open')).toBe('public')
    expect(await read(page, 'a')).toBe('NO_CREDENTIAL')
  }, 30_000)
})

describe('a credential that the page offers', () => {
  it('is asked for without a document once a URL of it is refused, and not before', async () => {
    const { page } = await openPage(browser(), site)
    expect(await show(page, offering())).toBe('checking')
    expect(await read(page, `${data.origin}/open`)).toBe('public')
    expect(await page.locator('[part="provider"]').count()).toBe(0)
    expect(await read(page, `${data.origin}/a`)).not.toBe('file')
    await press(page, 'Enter it')
    expect(await page.getByLabel('Key', { exact: true }).getAttribute('type')).toBe('password')
    await type(page, 'right-key')
    expect(await page.locator('[part="consent"]').textContent()).toContain(data.origin)
    await press(page, 'Allow')
    await page.getByText('Nothing is missing.').waitFor()
    expect(await page.evaluate(() => elementPage.events)).toEqual([
      'stac-auth-asking true',
      'stac-auth-needed needed',
      'stac-auth-asking false',
      'stac-auth-ready ready',
    ])
    expect(await ids(page)).toEqual(['portal'])
    expect(await read(page, `${data.origin}/a`)).toBe('file')
    expect(await page.locator('[part="provider"]').count()).toBe(0)
  }, 30_000)
})

it('a request that lacked something is asked for until it is met or declined', async () => {
  const { page } = await openPage(browser(), site)
  await show(page, offering())
  const cards = page.locator('[part="provider"]')
  const asking = () => page.evaluate(() => elementPage.element?.asking)
  await read(page, `${data.origin}/a`)
  await cards.waitFor()
  // Declined: the card stays, for a user who opens the panel of the page again.
  await page.evaluate(() => elementPage.element?.decline())
  expect([await asking(), await cards.count()]).toEqual([false, 1])
  await read(page, `${data.origin}/a`)
  expect(await asking()).toBe(false)
  await page.evaluate(() => elementPage.element?.ask())
  expect(await asking()).toBe(true)
  // The code of the page has a key under another name.
  await page.evaluate((origin) => elementPage.add('own', 'right-key', `${origin}/`), data.origin)
  expect(await asking()).toBe(true)
  expect(await read(page, `${data.origin}/a`)).toBe('file')
  await cards.waitFor({ state: 'detached' })
  expect(await asking()).toBe(false)
  // Who continues without a key is not asked for it by itself.
  await page.evaluate((origin) => elementPage.add('portal', 'wrong-key', `${origin}/`), data.origin)
  await page.evaluate(() => elementPage.auth?.credentials.remove('own'))
  expect(await read(page, `${data.origin}/a`)).toBe('AUTH_REJECTED')
  expect(await asking()).toBe(true)
  await press(page, 'Continue without it')
  await read(page, `${data.origin}/a`)
  await page.getByRole('button', { name: 'Enter it', exact: true }).waitFor()
  expect(await asking()).toBe(false)
  const events = await page.evaluate(() => elementPage.events)
  expect(events.filter((event) => event.startsWith('stac-auth-asking')).map((event) => event.split(' ')[1])).toEqual([
    'true',
    'false',
    'true',
    'false',
    'true',
    'false',
  ])
}, 30_000)

it('a login that was made in the element is there again after a reload', async () => {
  const { page, complaints } = await openPage(browser(), site)
  const scheme = { type: 'openIdConnect', openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` }
  const settings = {
    document: itemOf({ login: scheme }, { a: [provider.resource, 'login'] }),
    properties: { typed: [provider.issuer], clients: [{ issuer: provider.issuer, clientId: 'page', scopes: ['read'] }] },
    keeps: true,
  }
  await show(page, settings)
  await press(page, 'Continue')
  await press(page, 'Allow')
  const [popup] = await Promise.all([page.context().waitForEvent('page'), press(page, 'Log in in a window')])
  await agree(popup)
  await page.getByRole('button', { name: 'Log out' }).waitFor()
  await page.reload()
  expect(await show(page, settings)).toBe('ready')
  expect(await page.evaluate(() => elementPage.headers('a'))).toMatchObject({ authorization: expect.stringMatching(/^Bearer ./) })
  await press(page, 'Log out')
  await page.getByText('You are logged out.').waitFor({ state: 'attached' })
  await page.reload()
  expect(await show(page, settings)).toBe('needed')
  expect(complaints).toEqual([])
}, 60_000)

it('axe finds nothing in the form with its box, in a refused card, in its form, and in a card of what is offered', async () => {
  const { page, complaints } = await openPage(browser(), site)
  await show(page, keyed())
  await press(page, 'Enter it')
  await keepBox(page).check()
  expect(await violations(page)).toEqual([])
  await press(page, 'Cancel')
  await enter(page, 'wrong-key')
  await read(page, 'a')
  await page.getByRole('button', { name: 'Enter it again' }).waitFor()
  expect(await violations(page)).toEqual([])
  await press(page, 'Enter it again')
  await keepBox(page).waitFor()
  expect(await violations(page)).toEqual([])
  await show(page, offering())
  await read(page, `${data.origin}/a`)
  await page.getByRole('button', { name: 'Enter it', exact: true }).waitFor()
  expect(await violations(page)).toEqual([])
  expect(complaints).toEqual([])
}, 60_000)
