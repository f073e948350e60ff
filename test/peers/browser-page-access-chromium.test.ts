/** The example page without a mouse, without sight, on a phone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { barriers, type CatalogPage, file, openDocument, startCatalogPage, visit } from './catalog-page.ts'
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
    },
    LONG,
  )
})
