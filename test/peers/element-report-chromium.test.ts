/** What `<stac-auth>` says about failures, in a real browser. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type AnsweringServer, startAnswering } from '../servers/answering-server.ts'
import { useChromium } from './chromium.ts'
import { itemOf, openPage, show, startElementSite } from './element-page.ts'
import { agree, startProviderFor } from './login-site.ts'

const browser = useChromium()
let site: AnsweringServer

beforeAll(async () => {
  site = await startElementSite()
}, 60_000)
afterAll(() => site.close())

const FILE = 'https://data.catalog.example/a'
const LOGIN = { type: 'openIdConnect', openIdConnectUrl: 'https://login.catalog.example/.well-known/openid-configuration' }
const portal = {
  id: 'portal',
  type: 'openIdConnect',
  issuer: 'https://login.catalog.example/',
  clientId: 'page',
  sendTo: ['https://data.catalog.example/'],
}
const KEY = { type: 'apiKey', in: 'header', name: 'x-api-key' }

it('calls a credential refused after a server rejected it, until it is removed', async () => {
  const { page } = await openPage(browser(), site)
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'x-api-key' }
  const files = await startAnswering(({ method }) => ({ status: method === 'OPTIONS' ? 204 : 401, headers: cors }))
  onTestFinished(() => files.close())
  const key = (value: string) => ({ ...KEY, id: 'mine', value, sendTo: [`${files.origin}/`] })
  const document = itemOf({ key: KEY }, { a: [`${files.origin}/a`, 'key'] })
  await show(page, { document, credentials: [key('wrong')], properties: { typed: [files.origin] } })
  const badge = page.locator('[part~="state"]')
  expect(await badge.textContent()).toBe('Ready')
  await page.evaluate(() => elementPage.open('a'))
  expect(await badge.textContent()).toBe('Refused')
  await page.evaluate(() => elementPage.auth?.credentials.remove('mine'))
  await page.getByText('Needed', { exact: true }).waitFor()
  await page.evaluate((right) => elementPage.auth?.credentials.add(right as never), key('right'))
  await page.getByText('Ready', { exact: true }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
}, 30_000)

it('offers the login again when its token has expired, and when a server no longer accepts it', async () => {
  const provider = await startProviderFor(site)
  onTestFinished(() => provider.close())
  const { page } = await openPage(browser(), site)
  await page.clock.install()
  const scheme = { type: 'openIdConnect', openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration` }
  await show(page, {
    document: itemOf({ login: scheme }, { a: [provider.resource, 'login'] }),
    credentials: [{ id: 'portal', type: 'openIdConnect', issuer: provider.issuer, clientId: 'page', sendTo: [`${provider.issuer}/`] }],
    properties: { typed: [provider.issuer] },
  })
  const open = page.getByRole('button', { name: 'Log in in a window' })
  const [popup] = await Promise.all([page.context().waitForEvent('page'), open.click()])
  const report = () =>
    page.evaluate(() => {
      const error = Object.assign(new Error('login'), {
        code: 'LOGIN_REQUIRED',
        credential: 'portal',
        [Symbol.for('stac-auth.error')]: true,
      })
      elementPage.element?.report(error)
    })
  await report()
  expect(await open.count(), 'a login that is in progress goes on').toBe(0)
  await agree(popup)
  await page.getByText(/^Logged in with portal until /).waitFor()
  expect(await open.count()).toBe(0)
  await report()
  await open.waitFor()
  expect(await page.locator('[part~="state"]').textContent()).toBe('Login required')
  await page.clock.fastForward('48:00:00')
  await page.waitForFunction(() => elementPage.element?.state === 'needed')
  expect(await open.count()).toBe(1)
  expect(await page.evaluate(() => elementPage.events.at(-1))).toBe('stac-auth-needed needed')
}, 60_000)

it('shows an error that was reported before the document was loaded, at the provider of its credential', async () => {
  const { page } = await openPage(browser(), site)
  await show(page, { document: itemOf({}, {}), credentials: [portal] })
  await page.evaluate(
    (document) => {
      const { auth } = elementPage
      const element = globalThis.document.createElement('stac-auth')
      globalThis.document.querySelector('#place')?.replaceChildren(element)
      Object.assign(element, { auth })
      const error = Object.assign(new Error('refused'), {
        code: 'LOGIN_DENIED',
        credential: 'portal',
        [Symbol.for('stac-auth.error')]: true,
      })
      element.report(error)
      return new Promise((resolve) => setTimeout(resolve, 100)).then(() => Object.assign(element, { document }) && undefined)
    },
    itemOf({ login: LOGIN }, { a: [FILE, 'login'] }),
  )
  await page.getByText('Login required', { exact: true }).waitFor()
  expect(await page.getByRole('listitem').getByRole('alert').textContent()).toContain('The login was not completed')
  expect(await page.getByRole('alert').count()).toBe(1)
}, 30_000)

it('warns that a login by redirect loses a key as soon as one was typed', async () => {
  const { page } = await openPage(browser(), site)
  await show(page, { document: itemOf({ login: LOGIN, key: KEY }, { a: [FILE, 'login'], b: [FILE, 'key'] }), credentials: [portal] })
  const warning = page.getByText('keys and passwords typed here are forgotten')
  expect(await warning.count()).toBe(0)
  await page.getByRole('button', { name: 'Enter it' }).click()
  await page.getByRole('textbox', { name: 'Key' }).fill('sesame')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('Ready', { exact: true }).waitFor()
  await warning.waitFor()
}, 30_000)

it('writes its texts in their own direction on a page that is written from right to left', async () => {
  const { page } = await openPage(browser(), site)
  await page.evaluate(() => Object.assign(globalThis.document.documentElement, { dir: 'rtl' }))
  await show(page, { document: itemOf({ key: KEY }, { a: [FILE, 'key'] }) })
  const direction = () => page.locator('[part="panel"]').evaluate((panel) => getComputedStyle(panel).direction)
  expect(await direction()).toBe('ltr')
  await page.evaluate(() => Object.assign(elementPage.element ?? {}, { locale: 'ar', strings: { title: 'الوصول' } }))
  await expect.poll(direction).toBe('rtl')
}, 30_000)
