/** The example page without a mouse, without sight, on a phone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { barriers, type CatalogPage, file, giveCredential, openDocument, startCatalogPage, visit } from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const LONG = 120_000

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

describe.each(['light', 'dark'] as const)('in %s colours', (colours) => {
  it(
    'axe finds no serious barrier',
    async () => {
      const { page } = await visit(site, browser(), '', colours)
      const found: Record<string, readonly string[]> = { start: await barriers(page) }
      await openDocument(site, page, 'catalog.json')
      found.catalog = await barriers(page)
      await openDocument(site, page, 'scenes/lake.json')
      await page.waitForSelector('.map canvas')
      found.item = await barriers(page)
      await file(page, 'visual').getByRole('button', { name: 'Give a credential' }).click()
      found.dialog = await barriers(page)
      await page.keyboard.press('Escape')
      await page.click('#credentials')
      found.credentials = await barriers(page)
      await page.keyboard.press('Escape')
      await openDocument(site, page, 'suspicious/disguise.json')
      await page.waitForSelector('.findings .severity')
      found.hostile = await barriers(page)
      expect(found).toEqual({ start: [], catalog: [], item: [], dialog: [], credentials: [], hostile: [] })
    },
    LONG,
  )

  it(
    'axe would find one',
    async () => {
      const { page } = await visit(site, browser(), '', colours)
      await page.evaluate(() => document.querySelector('main')?.append(document.createElement('input')))
      expect(await barriers(page)).toEqual([expect.stringContaining('label')])
    },
    LONG,
  )
})

describe('with the keyboard alone', () => {
  it(
    'a catalog is opened, walked and asked about',
    async () => {
      const { page } = await visit(site, browser())
      const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Skip to the document')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Meridian archive')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.children')
      // The heading of what was opened is read first.
      await expect.poll(focused).toBe('Meridian archive')
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Scenes')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Scenes' }).waitFor()
      await page.getByRole('link', { name: 'Lake' }).focus()
      await page.keyboard.press('Enter')
      const give = file(page, 'visual').getByRole('button', { name: 'Give a credential' })
      await give.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      expect(await page.evaluate(() => document.activeElement?.closest('dialog') !== null)).toBe(true)
      await page.keyboard.press('Escape')
      await expect.poll(focused).toBe('Give a credential')
      expect(await page.getByRole('status').textContent()).toBe('Lake is open')
    },
    LONG,
  )
})

describe('whoever has no mouse', () => {
  it(
    'keeps the place: nothing that was pressed takes the focus away',
    async () => {
      const { page } = await visit(site, browser(), 'models/fields.json')
      const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
      const press = async (name: string) => {
        await page.getByRole('button', { name }).focus()
        await page.keyboard.press('Enter')
      }
      await press('Give a credential')
      for (const key of [site.secrets.username, 'wrong']) {
        await page.keyboard.type(key)
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Space')
      await page.keyboard.press('Enter')
      await expect.poll(focused).toBe('Read the table')
      await page.keyboard.press('Enter')
      await file(page, 'table').getByText('AUTH_REJECTED').waitFor()
      expect(await focused()).toBe('Read the table')
      await press('Remove “register”')
      await expect.poll(focused).toBe('Give a credential')
      expect(await file(page, 'table').locator('.refusal').count()).toBe(0)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
    },
    LONG,
  )

  it(
    'skips to the document without losing its URL',
    async () => {
      const { page } = await visit(site, browser(), 'catalog.json')
      const before = page.url()
      await page.locator('.skip').focus()
      await page.keyboard.press('Enter')
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
      expect(page.url()).toBe(before)
    },
    LONG,
  )
})

describe('what is announced', () => {
  it(
    'what is announced can be seen each time, and is said where a dialog is open',
    async () => {
      const { page } = await visit(site, browser(), 'scenes/coast.json')
      const visible = (place: string) =>
        page.evaluate((place) => getComputedStyle(document.querySelector(place) ?? document.body).opacity, place)
      await expect.poll(() => visible('#status'), { timeout: 15_000 }).toBe('0')
      await giveCredential(page, 'visual', { Key: site.secrets.key })
      await expect.poll(() => page.textContent('#status')).toBe('Credential “archive” is ready')
      expect(await visible('#status')).toBe('1')
      await page.click('#credentials')
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await expect.poll(() => page.textContent('dialog .status')).toBe('Credential “archive” is gone')
      expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Close')
    },
    LONG,
  )

  it(
    'a URL that is none of the web is refused in words, and a missing document can be requested again',
    async () => {
      const { page } = await visit(site, browser())
      await page.fill('#address', 'ftp://catalog.example/')
      await page.keyboard.press('Enter')
      await page.getByText('URL_SCHEME_FORBIDDEN').waitFor()
      await page.fill('#address', `${site.catalog.origin}/nothing.json`)
      await page.keyboard.press('Enter')
      await page.getByText('HTTP_404').waitFor()
      const asked = site.catalog.exchanges.length
      await page.getByRole('button', { name: 'Try again' }).click()
      await expect.poll(() => site.catalog.exchanges.length).toBe(asked + 1)
    },
    LONG,
  )
})

describe.each([360, 390, 768, 1280, 1600])('%i pixels wide', (width) => {
  it(
    'nothing is cut off at the side',
    async () => {
      const { page } = await visit(site, browser())
      await page.setViewportSize({ width, height: 844 })
      for (const path of ['catalog.json', 'scenes/lake.json', 'suspicious/disguise.json']) {
        await openDocument(site, page, path)
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      }
      await openDocument(site, page, 'scenes/coast.json')
      await giveCredential(page, 'visual', { Key: site.secrets.key })
      const [brand, credentials] = [await page.locator('.brand').boundingBox(), await page.locator('#credentials').boundingBox()]
      // On one line, also when there is a number to show.
      expect(Math.abs((brand?.y ?? 0) - (credentials?.y ?? 99))).toBeLessThan(20)
    },
    LONG,
  )
})
