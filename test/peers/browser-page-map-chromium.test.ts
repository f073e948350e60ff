/** The map of the example page: land and names from its own files, and what lies where. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CatalogPage, openDocument, startCatalogPage, visit } from './catalog-page.ts'
import { useChromium } from './chromium.ts'

const browser = useChromium()
const LONG = 60_000

let site: CatalogPage
beforeAll(async () => {
  site = await startCatalogPage()
})
afterAll(() => site.close())

/** Colours of the style sheet that are somewhere on the map, and the number of different colours. */
const coloursOf = (page: Page, names: readonly string[]) =>
  page.evaluate((wanted) => {
    const map = document.querySelector('.map')
    const seen = new Set<string>()
    for (const canvas of map?.querySelectorAll('canvas') ?? []) {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] as number[] }
      for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) seen.add(data.slice(at, at + 3).join())
    }
    const style = map && getComputedStyle(map)
    const rgb = (name: string) =>
      (style?.getPropertyValue(name).trim().slice(1).match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join()
    return wanted.map((name) => seen.has(rgb(name)))
  }, names)

it(
  'shows land and names in both colour schemes without a foreign request, and names their source',
  async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { page, complaints } = await visit(site, browser(), '', scheme)
      const strangers: string[] = []
      page.on('request', (request) => {
        const { origin } = new URL(request.url())
        if (origin !== new URL(site.url).origin && origin !== site.catalog.origin && !request.url().startsWith('blob:'))
          strangers.push(request.url())
      })
      await openDocument(site, page, 'scenes/lake.json')
      await page.locator('.map canvas').first().waitFor()
      await expect.poll(() => coloursOf(page, ['--map-land', '--map-name', '--accent'])).toEqual([true, true, true])
      expect(await coloursOf(page, ['--bad'])).toEqual([false])
      expect(await page.locator('.credit').textContent()).toBe('Coasts: Natural Earth')
      expect(strangers).toEqual([])
      expect(complaints).toEqual([])
    }
  },
  LONG,
)
