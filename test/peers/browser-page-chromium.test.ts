/** A person at the example page: logs in, reads protected files, meets a hostile catalog. */
import { readFile } from 'node:fs/promises'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLACES } from '../../examples/demo/site/holdings.ts'
import { picture, SIZE } from '../../examples/demo/site/landscape.ts'
import {
  access,
  agree,
  type CatalogPage,
  file,
  giveCredential,
  logInWithWindow,
  openDocument,
  startCatalogPage,
  visit,
} from './catalog-page.ts'
import { useChromium } from './chromium.ts'
import { drawnColours } from './drawn-colours.ts'

const browser = useChromium()
const LONG = 90_000

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

const asked = (path: string) => site.archive.exchanges.filter(({ request }) => request.method === 'GET' && request.path === path)

describe('a login', () => {
  it(
    'a login in a window opens files, draws one in its own colours, outlives a reload and logs out',
    async () => {
      const visitor = await visit(site, browser(), 'scenes/lake.json')
      const { page } = visitor
      await expect
        .poll(() => file(page, 'visual').textContent())
        .toContain(`This file needs a login at ${new URL(site.provider.issuer).host}. You are not logged in.`)
      await giveCredential(page, 'visual', {})
      await logInWithWindow(visitor)
      await file(page, 'visual').getByRole('button', { name: 'Draw on the map' }).click()
      await file(page, 'visual').getByText(`${SIZE} by ${SIZE} pixels, 3 bands`).waitFor()
      expect(await drawnColours(page, picture(3), PLACES.lake)).toEqual({ compared: 81, different: 0 })
      expect((await drawnColours(page, picture(11), PLACES.lake)).different).toBeGreaterThan(60)
      expect(asked('/members/lake.tif').every(({ answer }) => answer.status < 300)).toBe(true)

      await page.reload()
      await file(page, 'visual').getByText('You are logged in.').waitFor()
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        file(page, 'report').getByRole('button', { name: 'Download' }).click(),
      ])
      expect([saved.suggestedFilename(), await readFile(await saved.path(), 'utf8')]).toEqual([
        'report.txt',
        expect.stringContaining('No clouds.'),
      ])

      await access(page).getByRole('button', { name: 'Log out' }).click()
      await file(page, 'visual').getByRole('button', { name: 'Log in' }).waitFor()
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )

  it(
    'what a file said of a login that ended is gone after the next login',
    async () => {
      const visitor = await visit(site, browser(), 'scenes/lake.json')
      const { page } = visitor
      await giveCredential(page, 'report', {})
      await logInWithWindow(visitor)
      const download = file(page, 'report').getByRole('button', { name: 'Download' })
      await download.waitFor()
      // The provider has revoked the login.
      const headers = { 'access-control-allow-origin': new URL(site.url).origin }
      await visitor.context.route(/\/members\//, (route) =>
        route.request().method() === 'GET' ? route.fulfill({ status: 401, headers }) : route.continue(),
      )
      await visitor.context.route(/\/token$/, (route) => route.fulfill({ status: 400, headers, json: { error: 'invalid_grant' } }))
      await download.click()
      await file(page, 'report').locator('.refusal').getByText('needs a login').waitFor()
      await visitor.context.unrouteAll()
      const [popup] = await Promise.all([
        visitor.context.waitForEvent('page'),
        access(page).getByRole('button', { name: 'Log in in a window' }).click(),
      ])
      // The provider still knows the person, and asks for consent alone.
      await popup.click('button[type=submit]').catch(() => undefined)
      await file(page, 'report').getByText('You are logged in.').waitFor()
      await expect.poll(() => file(page, 'report').locator('.refusal').count()).toBe(0)
    },
    LONG,
  )

  it(
    'a login on the page itself comes back to the document',
    async () => {
      const visitor = await visit(site, browser(), 'scenes/lake.json')
      const { page } = visitor
      await giveCredential(page, 'visual', {})
      // What was added on the page logs in with a window; after a reload it is there from the start.
      await page.reload()
      await access(page).getByRole('button', { name: 'Log in on this page' }).click()
      await agree(page)
      await file(page, 'report').getByText('You are logged in.').waitFor()
      expect(new URL(page.url()).search).toBe('')
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )
})

describe('keys and passwords', () => {
  it(
    'open an array and a table, side by side; a wrong one is refused and can be given again',
    async () => {
      const visitor = await visit(site, browser(), 'models/climate.json')
      const { page } = visitor
      await giveCredential(page, 'temperature', { Key: 'wrong' })
      await file(page, 'temperature').getByRole('button', { name: 'Read the array' }).click()
      await file(page, 'temperature').getByText('AUTH_REJECTED').waitFor({ state: 'attached' })
      await access(page).getByText('The server rejected the credential.').waitFor()
      await file(page, 'temperature').getByRole('button', { name: 'Change the credential' }).click()
      await access(page).getByRole('button', { name: 'Continue without it' }).click()
      await giveCredential(page, 'temperature', { Key: site.secrets.key })
      await file(page, 'temperature').getByRole('button', { name: 'Read the array' }).click()
      const bytes = await archived('/keys/climate.zarr/c/0/0/0', { 'x-archive-key': site.secrets.key })
      const numbers = new Float32Array(bytes)
      const words = [Math.min(...numbers), Math.max(...numbers)].map((number) => `${Math.round(number * 10) / 10} degC`)
      await file(page, 'temperature')
        .getByText(`Air temperature, from ${words.join(' to ')}`)
        .waitFor()
      expect(await file(page, 'temperature').textContent()).toContain('Shape month 12 × lat 96 × lon 96; float32')

      await openDocument(site, page, 'models/fields.json')
      const { username, password } = site.secrets
      await giveCredential(page, 'table', { 'User name': username, Password: password })
      await file(page, 'table').getByRole('button', { name: 'Read the table' }).click()
      const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
      const [, , row = {}] = await parquetReadObjects({ file: await archived('/tables/fields.parquet', { authorization: basic }) })
      const cells = file(page, 'table').locator('tbody tr').nth(2).locator('td')
      await expect.poll(() => cells.allTextContents()).toEqual(Object.values(row).map(String))
      expect(await page.textContent('#credentials')).toBe('Credentials (2)')
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )

  it(
    'keys and passwords are not kept where a reload finds them',
    async () => {
      const { page } = await visit(site, browser(), 'scenes/coast.json')
      await giveCredential(page, 'visual', { Key: site.secrets.key })
      await page.waitForSelector('.picture img')
      expect(await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).not.toContain(site.secrets.key)
    },
    LONG,
  )
})

describe('an API', () => {
  it(
    'an API is walked page by page down to an item',
    async () => {
      const visitor = await visit(site, browser(), 'api/search?limit=2')
      const { page } = visitor
      // The collection above one of its items is not above the page.
      expect(await page.locator('.path li').allTextContents()).toEqual(['Meridian API', 'Items'])
      for (const name of ['Next page', 'Climate']) await page.getByRole('link', { name }).click()
      await file(page, 'temperature')
        .getByText(`This file needs a key for ${new URL(site.archive.origin).host}. You do not have one yet.`)
        .waitFor()
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )
})

describe('a protected document', () => {
  it(
    'says what it needs, and opens as soon as that is given; a wrong key is asked for again',
    async () => {
      const visitor = await visit(site, browser())
      const { page } = visitor
      const catalog = {
        type: 'Catalog',
        stac_version: '1.1.0',
        id: 'doors',
        description: 'A catalog with a door',
        'auth:schemes': { door: { type: 'apiKey', in: 'header', name: 'X-Archive-Key' } },
        links: [{ rel: 'child', href: '/api/members/search?limit=3', title: 'Behind the door', 'auth:refs': ['door'] }],
      }
      await page
        .context()
        .route(`${site.catalog.origin}/doors`, (route) => route.fulfill({ json: catalog, headers: { 'access-control-allow-origin': '*' } }))
      const gets = () => site.catalog.exchanges.filter(({ request }) => request.path === '/api/members/search' && request.method === 'GET')
      const typeKey = async (key: string) => {
        await access(page).getByRole('button', { name: 'Enter it' }).click()
        await access(page).getByLabel('Key', { exact: true }).fill(key)
        await page.keyboard.press('Enter')
        await access(page).getByRole('button', { name: 'Allow', exact: true }).click()
      }
      await openDocument(site, page, 'doors')
      await page.getByRole('link', { name: 'Behind the door' }).click()
      await page.getByRole('heading', { level: 1, name: 'This could not be opened' }).waitFor()
      // It might be public, whatever the catalog says.
      expect(gets().map(({ request, answer }) => [request.headers['x-archive-key'], answer?.status])).toEqual([[undefined, 401]])
      await typeKey('wrong')
      await access(page).getByText('The server rejected the credential.').waitFor()
      await page.waitForTimeout(500)
      expect(gets().map(({ request }) => request.headers['x-archive-key'])).toEqual([undefined, 'wrong'])
      await access(page).getByRole('button', { name: 'Continue without it' }).click()
      await typeKey(site.secrets.key)
      await page.getByRole('heading', { level: 1, name: 'Items' }).waitFor()
      expect(await page.locator('.children li').allTextContents()).toEqual(['Lake', 'Coast', 'Climate', 'Next page'])
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )
})

describe('the service worker', () => {
  it(
    'the service worker opens a picture of the site, and the page never sees the token',
    async () => {
      const visitor = await visit(site, browser(), '')
      const { page } = visitor
      const sent: string[] = []
      page.on('request', async (request) => sent.push(JSON.stringify([request.url(), await request.allHeaders()])))
      await openDocument(site, page, 'scenes/delta.json')
      await page.waitForSelector('.picture img')
      expect(await page.evaluate(() => document.querySelector<HTMLImageElement>('.picture img')?.naturalWidth)).toBe(Math.floor(SIZE / 2))
      const [last] = asked('/pictures/delta.png').slice(-1)
      expect([last?.request.headers.authorization, last?.answer.status]).toEqual([`Bearer ${site.secrets.siteToken}`, 200])
      const seen = await page.evaluate(
        'JSON.stringify([document.documentElement.outerHTML, { ...sessionStorage }, { ...localStorage }, document.cookie])',
      )
      expect(`${seen}${sent.filter((text) => !text.includes('/session/token')).join()}`).not.toContain(site.secrets.siteToken)
      expect(visitor.complaints).toEqual([])
    },
    LONG,
  )

  it('the service worker is given no token without the session of the site', async () => {
    const ask = (headers: Record<string, string>) => fetch(`${site.url}session/token`, { method: 'POST', headers })
    expect((await ask({ 'sec-fetch-site': 'same-origin', cookie: 'site=wrong' })).status).toBe(403)
    expect((await ask({ cookie: 'site=wrong' })).status).toBe(403)
    expect((await fetch(`${site.archive.origin}/pictures/delta.png`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
  })
})

async function archived(path: string, headers: Readonly<Record<string, string>>): Promise<ArrayBuffer> {
  const response = await fetch(`${site.archive.origin}${path}`, { headers })
  expect(response.status).toBe(200)
  return response.arrayBuffer()
}
