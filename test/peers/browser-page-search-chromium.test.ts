/** Searching an API with the example page: the request that is sent, pages, and credentials. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { access, type CatalogPage, startCatalogPage, visit } from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const LONG = 60_000

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

/** Requests of the search, in their order. */
const asked = (path: string) => site.catalog.exchanges.filter(({ request }) => request.method === 'GET' && request.path === path)

const parametersOf = (path: string) => Object.fromEntries(asked(path).at(-1)?.request.query ?? [])

it(
  'goes through the pages of a search, and finds it again after a look at an item',
  async () => {
    const { page, complaints } = await visit(site, browser(), 'api')
    const titles = () => page.locator('.results li').allTextContents()
    const search = async () => page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByLabel('Items per page').fill('5')
    await search()
    await page.getByRole('heading', { name: '5 of 43 items' }).waitFor()
    expect(parametersOf('/api/search')).toEqual({ limit: '5' })
    expect(await titles()).toEqual(['Lake', 'Coast', 'Climate', 'Scene 1', 'Scene 2'])
    await page.getByRole('button', { name: 'Next page' }).click()
    await expect.poll(titles).toEqual(['Scene 3', 'Scene 4', 'Scene 5', 'Scene 6', 'Scene 7'])
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('5 of 43 items')
    await page.getByRole('button', { name: 'Previous page' }).click()
    await expect.poll(titles).toEqual(['Lake', 'Coast', 'Climate', 'Scene 1', 'Scene 2'])

    await page.getByLabel('From').fill('2026-01-04')
    await page.getByLabel('To', { exact: true }).fill('2026-01-05')
    await search()
    await expect.poll(titles).toEqual(['Scene 4', 'Scene 5'])
    expect(parametersOf('/api/search')).toEqual({ limit: '5', datetime: '2026-01-04T00:00:00Z/2026-01-05T23:59:59Z' })
    await page.getByRole('link', { name: 'Scene 5' }).click()
    await page.getByRole('heading', { level: 1, name: 'Scene 5' }).waitFor()
    await page.goBack()
    await expect.poll(titles).toEqual(['Scene 4', 'Scene 5'])
    expect(await page.getByLabel('From').inputValue()).toBe('2026-01-04')
    expect(complaints).toEqual([])
  },
  LONG,
)

it(
  'leads from a footprint on the map to its item in the list',
  async () => {
    const { page } = await visit(site, browser(), 'api')
    await page.getByLabel('From').fill('2026-01-04')
    await page.getByLabel('To', { exact: true }).fill('2026-01-04')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByRole('heading', { name: '1 item' }).waitFor()
    await page.locator('.map canvas').first().waitFor()
    // The only footprint is in the middle of the map.
    await expect
      .poll(
        async () => {
          await page.locator('.map').click()
          return page.evaluate(() => document.activeElement?.textContent)
        },
        { interval: 700, timeout: 10_000 },
      )
      .toBe('Scene 4')
  },
  LONG,
)

it(
  'asks for the part of the world that the map shows',
  async () => {
    const { page } = await visit(site, browser(), 'api')
    await page.locator('.map canvas').first().waitFor()
    await page.getByLabel('Only where the map is now').check()
    const search = async () => page.getByRole('button', { name: 'Search', exact: true }).click()
    await search()
    await page.getByRole('heading', { name: '20 of 43 items' }).waitFor()
    // The map shows all of it.
    expect(parametersOf('/api/search')).toEqual({ limit: '20' })

    const before = asked('/api/search').length
    for (let step = 0; step < 3; step++) {
      await page.locator('.map .ol-zoom-in').click()
      await page.waitForTimeout(400)
    }
    await search()
    await expect.poll(() => asked('/api/search').length).toBe(before + 1)
    const [west = 0, south = 0, east = 0, north = 0] = (parametersOf('/api/search').bbox ?? '').split(',').map(Number)
    expect([west < east, south < north, east - west < 180, west > -180]).toEqual([true, true, true, true])
    const { features } = JSON.parse(String(asked('/api/search').at(-1)?.answer.body)) as { features: object[] }
    await expect.poll(() => page.locator('.results li').count()).toBe(features.length)
    expect(features.length).toBeLessThan(20)
  },
  LONG,
)

it(
  'sends the credential of the search with each page of it, and to nobody else',
  async () => {
    const { page, complaints } = await visit(site, browser(), 'api/members')
    const { host } = new URL(site.catalog.origin)
    await page.getByText(`The search needs a key for ${host}. You do not have one yet.`).waitFor()
    await page.getByRole('button', { name: 'Give a credential' }).click()
    await page.keyboard.press('Enter')
    await page.keyboard.type(site.secrets.key)
    await page.keyboard.press('Enter')
    await access(page).getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByText(`The search needs a key for ${host}. You have one.`).waitFor()
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByRole('heading', { name: '20 of 43 items' }).waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('button', { name: 'Previous page' }).waitFor()
    expect(asked('/api/members/search').map(({ request, answer }) => [request.headers['x-archive-key'], answer.status])).toEqual([
      [site.secrets.key, 200],
      [site.secrets.key, 200],
    ])
    const others = [...site.evil.exchanges, ...site.page.exchanges, ...site.archive.exchanges, ...asked('/api/members')]
    expect(others.filter(({ request }) => JSON.stringify(request).includes(site.secrets.key))).toEqual([])
    expect(complaints).toEqual([])
  },
  LONG,
)

it(
  'says in words that a search without its credential is refused',
  async () => {
    const { page } = await visit(site, browser(), 'api/members')
    const before = asked('/api/members/search').length
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.locator('.results .refusal').waitFor()
    expect(await page.locator('.results .refusal code').first().textContent()).toBe('NO_CREDENTIAL')
    expect(await page.locator('.results .refusal .hint').textContent()).toBe('Enter it under Access.')
    // It may be public, and is requested once without a key.
    expect(
      asked('/api/members/search')
        .slice(before)
        .map(({ request }) => request.headers['x-api-key']),
    ).toEqual([undefined])
  },
  LONG,
)
